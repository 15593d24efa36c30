"""Takes the snapshot of this machine. Missing hardware or tools raise no error; their fields are unknown or empty."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from kerascheck.runtime.doctor.nvidia import nvidia
from kerascheck.runtime.doctor.snapshot import Cpu, Demand, Framework, Gpu, Keras, Memory, Python, Snapshot, System
from kerascheck.source import deadline

TIME_LIMIT = 120.0
"""Maximum seconds for examining an interpreter. Importing TensorFlow from a network drive takes a minute."""

_CHILD = Path(__file__).with_name("child.py")
_NUMBERS, _SWITCH, _WORD = r"-?\d+(?:,-?\d+)*|", r"[01]|[Tt]rue|[Ff]alse|", r"[a-z_]*"
VARIABLES = {
    "CUDA_VISIBLE_DEVICES": _NUMBERS + "NoDevFiles|none",
    "NVIDIA_VISIBLE_DEVICES": _NUMBERS + "all|void|none",
    "CUDA_LAUNCH_BLOCKING": _SWITCH,
    "NVIDIA_TF32_OVERRIDE": _SWITCH,
    "TF_DETERMINISTIC_OPS": _SWITCH,
    "TF_ENABLE_ONEDNN_OPTS": _SWITCH,
    "TF_FORCE_GPU_ALLOW_GROWTH": _SWITCH,
    "TF_USE_LEGACY_KERAS": _SWITCH,
    "TF_NUM_INTRAOP_THREADS": r"\d*",
    "TF_NUM_INTEROP_THREADS": r"\d*",
    "OMP_NUM_THREADS": r"\d*",
    "KERAS_BACKEND": _WORD,
    "JAX_PLATFORMS": r"[a-z_,]*",
}
"""Environment variables that affect frameworks, with patterns of harmless values. Other values are masked."""
SET = "(set)"
"""Placeholder for a masked value."""

_CUDA_LIBRARY = re.compile(r"lib(?:cu\w+|nv\w+|nccl)\.so(?:\.\d+)*")
_SEARCHED = re.compile(r"find library=(\S+) \[\d+\]; searching")
_INITIALISED = re.compile(r"calling init: (\S+)")
_TOLD = re.compile(
    r"Could not find cuda drivers|Cannot dlopen some GPU libraries|Could not load dynamic library|"
    r"Ignoring visible gpu device|failed call to cuInit|does not match DSO version|"
    r"was not built with CUDA kernel binaries|Loaded runtime CuDNN library|Unable to register"
)
_LOG_PREFIX = re.compile(r"^.*?\[?[\w./]+\.(?:cc|h|cpp):\d+\]?\s*")
_SEGMENT = r"[/\\][^\s/\\:'\"(),;\]]+"
# Exclude text that is not a path: "and/or".
_PATH = re.compile(rf"(?:\b[A-Za-z]:|(?<![\w.~])|[\w.~-]+(?={_SEGMENT}[/\\]))(?:{_SEGMENT})+[/\\]?")


def take_snapshot(
    python: str | None = sys.executable,
    *,
    script: tuple[Demand, ...] | None = None,
    nvml: ModuleType | None = None,
    time_limit: float = TIME_LIMIT,
) -> Snapshot:
    """Take a snapshot of this machine.

    Args:
        python: the interpreter that trains; it imports its frameworks in a child process. None: examine only the GPUs,
            the processor and the memory, which takes about a tenth of a second.
        script: the demands of a script: see :func:`kerascheck.runtime.doctor.script.demands`.
        nvml: a module like ``pynvml``; None: the installed one, or else ``nvidia-smi``.
        time_limit: maximum seconds for the interpreter, and for each query to the driver.
    """
    driver, gpus = nvidia(nvml, time_limit=time_limit)
    variables = _variables(os.environ)
    snapshot = Snapshot(system(), cpu(), memory(), driver, gpus, variables, library_path(os.environ), script=script)
    if python is None:
        return snapshot
    # The script chooses its backend before it imports Keras.
    chosen = {"KERAS_BACKEND": str(demand.value) for demand in script or () if demand.what == "backend"}
    looked, devices = look_at(python, time_limit, chosen)
    if not gpus and devices:
        # No driver library that answers, as in some containers, but TensorFlow has one.
        snapshot = replace(
            snapshot,
            gpus=tuple(Gpu(each.name or "GPU", each.capability) for each in devices),
        )
    return replace(snapshot, python=_with_missing_libraries(looked, python, snapshot, time_limit, chosen))


# The machine.


def system(root: Path = Path("/")) -> System:
    """The operating system."""
    release = platform.release().lower()
    return System(
        sys.platform,
        platform.machine(),
        wsl=sys.platform == "linux" and "microsoft" in release,
        container=_is_container(root),
        hosted="colab"
        if "COLAB_RELEASE_TAG" in os.environ
        else "kaggle"
        if "KAGGLE_KERNEL_RUN_TYPE" in os.environ
        else None,
        # Devices of AMD's compute driver and of Google's driver.
        accelerator="AMD GPU"
        if (root / "dev/kfd").exists()
        else "TPU"
        if (root / "dev/accel0").exists() or "TPU_NAME" in os.environ
        else None,
    )


def _is_container(root: Path) -> bool:
    if (
        any((root / mark).exists() for mark in (".dockerenv", "run/.containerenv"))
        or "KUBERNETES_SERVICE_HOST" in os.environ
    ):
        return True
    return re.search(r"docker|kubepods|containerd|lxc|libpod", _text(root / "proc/1/cgroup")) is not None


def cpu(root: Path = Path("/")) -> Cpu:
    """The processor, with the quota of the control group."""
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    flags = re.search(r"^flags\s*:(.*)$", _text(root / "proc/cpuinfo"), re.M)
    return Cpu(cores, usable, _quota(root), "amx_bf16" in flags[1].split() if flags else None)


def _quota(root: Path) -> float | None:
    quotas = []
    for folder in _groups(root, ""):
        limit, _, period = _text(folder / "cpu.max").partition(" ")
        if limit.isdigit() and period.strip().isdigit():
            quotas.append(int(limit) / int(period))
    for folder in _groups(root, "cpu"):
        limit, period = _text(folder / "cpu.cfs_quota_us").strip(), _text(folder / "cpu.cfs_period_us").strip()
        if limit.isdigit() and period.isdigit() and int(period):
            quotas.append(int(limit) / int(period))
    return min(quotas, default=None)


def memory(root: Path = Path("/")) -> Memory:
    """The main memory."""
    sizes = {
        name: int(size) * 1024 for name, size in re.findall(r"^(\w+):\s+(\d+) kB", _text(root / "proc/meminfo"), re.M)
    }
    total = sizes.get("MemTotal") or _total_elsewhere()
    limits = [_text(folder / "memory.max").strip() for folder in _groups(root, "")]
    limits += [_text(folder / "memory.limit_in_bytes").strip() for folder in _groups(root, "memory")]
    limit = min((int(limit) for limit in limits if limit.isdigit()), default=None)
    shared = None
    with suppress(OSError, AttributeError):
        found = os.statvfs(root / "dev/shm")
        shared = found.f_frsize * found.f_blocks
    return Memory(
        total,
        sizes.get("MemAvailable"),
        limit if limit is not None and total is not None and limit < total else None,
        sizes.get("SwapTotal", 0) - sizes.get("SwapFree", 0),
        shared,
    )


def _total_elsewhere() -> int | None:
    with suppress(OSError, ValueError, AttributeError):  # macOS; Windows has no sysconf
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the process's control group and its parents.

    Version 2 for the controller "", else a controller of version 1.
    """
    mount = root / "sys/fs/cgroup" / controller
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, names, path = [*line.split(":", 2), "", ""][:3]
        if controller in names.split(","):
            inner = Path(path.lstrip("/"))
            # In a container the path may be that of the host, while the folder itself is mounted.
            yield from (mount / part for part in (inner, *inner.parents))


def library_path(environment: Mapping[str, str]) -> tuple[str, ...]:
    """CUDA libraries in the folders of ``LD_LIBRARY_PATH``, named by link targets, which have full versions."""
    found: dict[str, str] = {}
    for folder in filter(None, environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        with suppress(OSError):
            for name in sorted(os.listdir(folder)):
                if re.fullmatch(r"lib(?:cudnn|cublas|cudart)\.so\.\d+", name):
                    file = os.path.basename(os.path.realpath(os.path.join(folder, name)))
                    found.setdefault(name, file if file.startswith(name) else name)
    return tuple(found.values())


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: environment[name] if re.fullmatch(told, environment[name]) else SET
        for name, told in VARIABLES.items()
        if name in environment
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# The interpreter.


@dataclass(frozen=True, slots=True)
class DeviceDetails:
    """A GPU as ``tf.config.experimental.get_device_details`` describes it; None for what that does not say."""

    name: str | None
    capability: tuple[int, int] | None
    """Compute capability of CUDA."""


def look_at(
    python: str, time_limit: float, environment: Mapping[str, str] | None = None
) -> tuple[Python, tuple[DeviceDetails, ...]]:
    """What an interpreter's frameworks say, and the GPUs as TensorFlow describes them."""
    told, failure, log = _ask(python, "all", time_limit, environment)
    devices = (told.get("tensorflow") or {}).pop("devices", ())
    kinds = {"tensorflow": Framework, "keras": Keras, "jax": Framework, "torch": Framework}
    facts: dict[str, Any] = {name: told.get(name) for name in ("version", "packages", "ptxas", "libdevice")}
    for name, kind in kinds.items():
        if name in told:
            facts[name] = kind(
                **{
                    key: _plain(value)
                    for key, value in told[name].items()
                    if key in {field.name for field in fields(kind)}
                }
            )
    if "requires" in told:
        facts["requires"] = {name: tuple(asked) for name, asked in told["requires"].items()}
    looked = Python(failure=failure, during=told.get("during"), **facts)
    if looked.tensorflow is not None:
        lines = dict.fromkeys(_public(_LOG_PREFIX.sub("", line)) for line in log.splitlines() if _TOLD.search(line))
        looked = replace(looked, tensorflow=replace(looked.tensorflow, log=tuple(lines)[:5]))
    return looked, tuple(
        DeviceDetails(each.get("device_name"), _pair(each.get("compute_capability"))) for each in devices
    )


def _with_missing_libraries(
    looked: Python, python: str, snapshot: Snapshot, time_limit: float, environment: Mapping[str, str]
) -> Python:
    """``looked`` with the libraries that the backend fails to load, if it sees none of the existing GPUs."""
    name = looked.keras.backend if looked.keras is not None and looked.keras.backend else "tensorflow"
    framework = getattr(looked, name, None) if name in ("tensorflow", "jax", "torch") else None
    if (
        framework is None
        or framework.gpus != 0
        or framework.cuda is False
        or not snapshot.gpus
        or not sys.platform.startswith("linux")
    ):
        return looked
    with tempfile.TemporaryDirectory() as folder:
        loader = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": os.path.join(folder, "loader")}
        _ask(python, "gpus", time_limit, {**environment, **loader})
        logs = "\n".join(_text(path) for path in Path(folder).glob("loader.*"))
    return replace(looked, **{name: replace(framework, missing=missing_libraries(logs))})


def missing_libraries(log: str) -> tuple[str, ...]:
    """CUDA libraries that a program failed to load, from the log of the dynamic loader (``LD_DEBUG=libs``)."""
    loaded = {os.path.basename(path) for path in _INITIALISED.findall(log)}
    searched = dict.fromkeys(name for name in _SEARCHED.findall(log) if _CUDA_LIBRARY.fullmatch(name))
    return tuple(name for name in searched if name not in loaded)


def _ask(
    python: str, wanted: str, time_limit: float, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], str | None, str]:
    """Run ``child.py``; returns its facts, the reason for a failure or None, and the log."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "0", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONDONTWRITEBYTECODE": "1"}
    failure = None
    with tempfile.TemporaryDirectory() as folder:
        answer, errors = os.path.join(folder, "answer"), os.path.join(folder, "errors")
        command = [python, "-c", _CHILD.read_text(encoding="utf-8"), answer, wanted]
        with open(errors, "wb") as sink:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    env={**os.environ, **quiet, **(environment or {})},
                    start_new_session=True,
                )
            except OSError as problem:
                return {}, f"cannot be started: {problem.strerror or problem}", ""
            try:
                code = process.wait(time_limit)
            except BaseException as problem:  # also Ctrl-C
                deadline.kill(process)
                if not isinstance(problem, subprocess.TimeoutExpired):
                    raise
                code, failure = 0, "timeout"
        log = _text(Path(errors))
        told = _merged(_text(Path(answer)))
    if code < 0:
        failure = f"signal {signal.Signals(-code).name if -code in list(signal.Signals) else -code}"
    elif code or (not told and not failure):
        failure = _public((log.strip().splitlines() or [f"it ended with {code}"])[-1])
    return told, failure, log


def _merged(text: str) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for line in text.splitlines():
        with suppress(ValueError):  # cut off at the end of the process
            told.update(json.loads(line))
    return told


def _plain(value: Any) -> Any:
    """Convert a framework's answer to the form in a snapshot."""
    if isinstance(value, str):
        return _public(value)
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _public(text: str) -> str:
    """One line of program output with base names instead of paths, and without user and host names."""
    line = " ".join(text.split())
    line = _PATH.sub(lambda path: re.split(r"[/\\]", path[0].rstrip("/\\"))[-1], line)
    for name in filter(
        None, (platform.node(), os.environ.get("USER"), os.environ.get("USERNAME"), os.environ.get("LOGNAME"))
    ):
        if len(name) > 2:
            line = re.sub(rf"\b{re.escape(name)}\b", "...", line)
    return line[:300]


def _pair(value: Any) -> tuple[int, int] | None:
    return (int(value[0]), int(value[1])) if isinstance(value, list | tuple) and len(value) == 2 else None
