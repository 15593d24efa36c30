"""Queries to the NVIDIA driver: through NVML (``nvidia-ml-py``, optional), else through ``nvidia-smi``.

Both run in separate processes with a deadline, because a faulty driver hangs or crashes them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

from kerascheck.knowledge.cards import SLOWDOWNS, capability_of
from kerascheck.runtime.doctor.snapshot import Driver, Gpu, Link
from kerascheck.runtime.plain import plain, restored
from kerascheck.source import deadline

_FAILURES = {9: "not running", 12: "not running", 15: "lost", 18: "mismatch"}
"""Codes of NVML (nvml.h, ``nvmlReturn_t``): DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, GPU_IS_LOST,
LIB_RM_VERSION_MISMATCH."""
_VENDOR, _DISPLAY = "0x10de", "0x03"
_PARTITIONED = 1
TIME_LIMIT = 20.0
"""Seconds for NVML, and for ``nvidia-smi``. The first start of a driver with several cards takes more than ten."""
_ANSWER = "@answer "


def nvidia(
    nvml: ModuleType | None = None, root: Path = Path("/"), time_limit: float = TIME_LIMIT
) -> tuple[Driver | None, tuple[Gpu, ...]]:
    """The driver, and the GPUs in its order. The driver is None if there is neither a driver nor a card.

    Args:
        nvml: a module like ``pynvml``; None: the installed one, or else ``nvidia-smi``.
        root: folder that contains ``sys``.
        time_limit: maximum seconds for each of NVML and ``nvidia-smi``.
    """
    cards = _cards_on_bus(root)
    limit = min(time_limit, TIME_LIMIT)

    def smi(*arguments: str) -> str:
        return _smi(*arguments, time_limit=limit)

    try:
        if nvml is not None:
            driver, gpus = _through_nvml(nvml, cards)
        elif is_installed():
            driver, gpus = _apart(cards, limit)
        else:
            driver, gpus = Driver(failure="not running", cards_on_bus=cards), ()
        if driver.version is not None or driver.failure == "mismatch":
            return driver, gpus
        found = parse_smi(smi("-q", "-x"), cards, smi)
    except deadline.DidNotAnswer:
        return Driver(failure="silent", cards_on_bus=cards), ()
    if found is not None:
        return found
    return (driver, ()) if cards or driver.failure == "crashed" else (None, ())


def is_installed() -> bool:
    """Whether the bindings of NVML are installed. Importing them may load the driver's library."""
    try:
        return find_spec("pynvml") is not None
    except (ImportError, ValueError):
        return False


def _apart(cards: int, time_limit: float) -> tuple[Driver, tuple[Gpu, ...]]:
    """Call :func:`_through_nvml` with the installed NVML in another process; raises DidNotAnswer."""
    silent = Driver(failure="not running", cards_on_bus=cards), ()
    try:
        text, code = deadline.output_of(deadline.call(__name__, "answer_through_nvml", cards), time_limit)
    except OSError:
        return silent
    for line in text.splitlines():
        if line.startswith(_ANSWER):
            driver, gpus = json.loads(line.removeprefix(_ANSWER))
            return restored(Driver, driver), tuple(restored(Gpu, gpu) for gpu in gpus)
    return (Driver(failure="crashed", cards_on_bus=cards), ()) if code < 0 else silent


def answer_through_nvml(cards: int) -> None:
    """Print the answer of the installed NVML; :func:`_apart` runs this in another process."""
    import pynvml

    print(_ANSWER + json.dumps(plain(_through_nvml(pynvml, cards))), flush=True)


def _cards_on_bus(root: Path) -> int:
    def read(path: Path) -> str:
        try:
            return path.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return ""

    try:
        devices = list((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return 0
    return sum(read(device / "vendor") == _VENDOR and read(device / "class").startswith(_DISPLAY) for device in devices)


def _through_nvml(nvml: Any, cards: int) -> tuple[Driver, tuple[Gpu, ...]]:
    try:
        nvml.nvmlInit()
    except Exception as problem:  # no driver
        return Driver(failure=_FAILURES.get(getattr(problem, "value", 0), "not running"), cards_on_bus=cards), ()
    try:
        version = _asked(nvml.nvmlSystemGetDriverVersion)
        number = _asked(nvml.nvmlSystemGetCudaDriverVersion_v2)
        cuda = (number // 1000, number % 1000 // 10) if number else None
        count = _asked(nvml.nvmlDeviceGetCount) or 0
        gpus = [
            _gpu(nvml, handle)
            for index in range(count)
            if (handle := _asked(nvml.nvmlDeviceGetHandleByIndex, index)) is not None
        ]
        failure = "lost" if len(gpus) < count else None
        return Driver(_word(version), cuda, failure, max(cards, count)), tuple(gpus)
    finally:
        with suppress(Exception):
            nvml.nvmlShutdown()


def _asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call NVML; None if the card or the driver does not support the query."""
    try:
        return function(*arguments)
    except Exception:
        return None


def _word(text: str | bytes | None) -> str | None:
    return text.decode() if isinstance(text, bytes) else text


def _gpu(nvml: Any, handle: Any) -> Gpu:
    def ask(name: str, *arguments: Any) -> Any:
        function = getattr(nvml, f"nvmlDeviceGet{name}", None)
        return None if function is None else _asked(function, handle, *arguments)

    name = _word(ask("Name")) or "NVIDIA GPU"
    memory, rates, mig = ask("MemoryInfo"), ask("UtilizationRates"), ask("MigMode")
    reasons = ask("CurrentClocksEventReasons")
    reasons = (ask("CurrentClocksThrottleReasons") if reasons is None else reasons) or 0
    limit, default = ask("EnforcedPowerLimit"), ask("PowerManagementDefaultLimit")
    return Gpu(
        name,
        tuple(ask("CudaComputeCapability") or ()) or capability_of(name),
        getattr(memory, "total", None),
        getattr(memory, "used", None),
        sum(process.pid != os.getpid() for process in ask("ComputeRunningProcesses") or ()),
        None if rates is None else rates.gpu / 100,
        None if limit is None else limit / 1000,
        None if default is None else default / 1000,
        tuple(word for bit, word in SLOWDOWNS.items() if reasons & bit),
        _link(ask("CurrPcieLinkGeneration"), ask("CurrPcieLinkWidth")),
        _link(ask("MaxPcieLinkGeneration"), ask("MaxPcieLinkWidth")),
        _flag(ask("PersistenceMode")),
        _flag(ask("DisplayActive")),
        bool(mig) and mig[0] == _PARTITIONED,
    )


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _link(generation: int | None, width: int | None) -> Link | None:
    return Link(generation, width) if generation and width else None


# nvidia-smi


def _smi(*arguments: str, time_limit: float = TIME_LIMIT) -> str:
    """Run ``nvidia-smi`` and return its output; empty if it cannot be started. On WSL it may be outside PATH.

    Raises DidNotAnswer.
    """
    program = shutil.which("nvidia-smi") or shutil.which("/usr/lib/wsl/lib/nvidia-smi")
    if program is None:
        return ""
    try:
        return deadline.output_of([program, *arguments], time_limit)[0]
    except OSError:
        return ""


def parse_smi(
    text: str, cards: int = 0, ask: Callable[..., str] = lambda *_: ""
) -> tuple[Driver, tuple[Gpu, ...]] | None:
    """Parse the output of ``nvidia-smi -q -x`` into the driver and the GPUs; None if it contains neither.

    Args:
        ask: runs ``nvidia-smi`` with arguments, for the compute capability, which the document lacks.
    """
    if "Driver/library version mismatch" in text:
        return Driver(failure="mismatch", cards_on_bus=cards), ()
    try:
        log = ElementTree.fromstring(text[text.index("<nvidia_smi_log") :])
    except (ValueError, ElementTree.ParseError):
        return None
    gpus = [_gpu_of(gpu) for gpu in log.findall("gpu")]
    matches = [
        re.fullmatch(r"\s*(\d+)\.(\d+)\s*", line)
        for line in ask("--query-gpu=compute_cap", "--format=csv,noheader").splitlines()
    ]
    if len(matches) == len(gpus):
        gpus = [
            gpu if match is None else replace(gpu, capability=(int(match[1]), int(match[2])))
            for gpu, match in zip(gpus, matches, strict=True)
        ]
    cuda = re.fullmatch(r"(\d+)\.(\d+)", log.findtext("cuda_version", ""))
    driver = Driver(
        log.findtext("driver_version"), (int(cuda[1]), int(cuda[2])) if cuda else None, None, max(cards, len(gpus))
    )
    return driver, tuple(gpus)


def _gpu_of(gpu: ElementTree.Element) -> Gpu:
    def number(*paths: str) -> float | None:
        for path in paths:
            if match := re.match(r"\d+(?:\.\d+)?", gpu.findtext(path, "").strip()):
                return float(match[0])
        return None

    def size(path: str) -> int | None:
        amount = number(path)
        return None if amount is None else int(amount) << 20

    def whole(path: str) -> int | None:
        amount = number(path)
        return None if amount is None else int(amount)

    def on(path: str) -> bool | None:
        return {"Enabled": True, "Active": True, "Disabled": False, "Not Active": False}.get(
            gpu.findtext(path, "").strip()
        )

    name = gpu.findtext("product_name") or "NVIDIA GPU"
    share = number("utilization/gpu_util")
    link = "pci/pci_gpu_link_info/"
    return Gpu(
        name,
        capability_of(name),
        size("fb_memory_usage/total"),
        size("fb_memory_usage/used"),
        sum(process.findtext("type", "").strip() == "C" for process in gpu.iterfind("processes/process_info")),
        None if share is None else share / 100,
        number(
            "gpu_power_readings/current_power_limit",
            "power_readings/enforced_power_limit",
            "power_readings/power_limit",
        ),
        number("gpu_power_readings/default_power_limit", "power_readings/default_power_limit"),
        tuple(_slowdowns(gpu)),
        _link(whole(f"{link}pcie_gen/current_link_gen"), whole(f"{link}link_widths/current_link_width")),
        _link(whole(f"{link}pcie_gen/max_link_gen"), whole(f"{link}link_widths/max_link_width")),
        on("persistence_mode"),
        on("display_active"),
        on("mig_mode/current_mig") is True,
    )


_SMI_SLOWDOWNS = {
    "hw_slowdown": 0x8,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
}


def _slowdowns(gpu: ElementTree.Element) -> list[str]:
    # Drivers before 535 call them "throttle reasons".
    active = {
        reason.tag
        for reason in (*gpu.iterfind("clocks_event_reasons/*"), *gpu.iterfind("clocks_throttle_reasons/*"))
        if (reason.text or "").strip() == "Active"
    }
    return [
        SLOWDOWNS[bit]
        for word, bit in _SMI_SLOWDOWNS.items()
        if active & {f"clocks_event_reason_{word}", f"clocks_throttle_reason_{word}"}
    ]
