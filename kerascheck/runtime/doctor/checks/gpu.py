"""Checks on the GPU: whether the backend uses it, and what makes it slow."""

from __future__ import annotations

import re

from kerascheck.knowledge.cards import BFLOAT16_SINCE, LAST_FOR_CAPABILITY, VIRTUAL, half_types
from kerascheck.runtime.doctor.checks.common import (
    GIB,
    Verdict,
    advice,
    backend,
    cards,
    dotted,
    framework,
    is_driver_too_old,
    is_hidden,
    needed_driver,
    ok,
    packages,
    problem,
    size,
    tensorflow,
    title,
    version,
)
from kerascheck.runtime.doctor.checks.frameworks import required
from kerascheck.runtime.doctor.snapshot import Snapshot

_EXTRA = "and-cuda"
_INSTALL = {
    "tensorflow": "pip install 'tensorflow[and-cuda]'",
    "jax": "pip install 'jax[cuda12]'",
    "torch": "the command that PyTorch's page on installing shows for CUDA",
}
_FROM_PTX_FAILS = (10, 0)
"""Lowest compute capability at which missing binary code is an error.

TensorFlow up to 2.21 then raises CUDA_ERROR_INVALID_PTX or INVALID_HANDLE (tensorflow/tensorflow#99592, #97387,
#90291). On older cards the driver compiles PTX at the first start.
"""
_DRIVER_LIBRARY = "libcuda.so.1"
_REMEDIES = {
    "CUDA_ERROR_SYSTEM_NOT_READY": "Start the fabric manager, which GPUs on an NVSwitch need: "
    "sudo systemctl start nvidia-fabricmanager",
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED": "Take cuda-compat out of LD_LIBRARY_PATH: "
    "this card works with the driver's own library only.",
    "CUDA_ERROR_UNKNOWN": "Load the module nvidia_uvm again (sudo modprobe -r nvidia_uvm; sudo modprobe nvidia_uvm), "
    "or restart: this follows a suspend.",
}
"""By the driver's return code (cuda.h, ``CUresult``; NVIDIA: "Fabric Manager User Guide", "CUDA Compatibility")."""


def driver_running(machine: Snapshot) -> Verdict | None:
    """A card or a driver that does not respond."""
    driver, seen = machine.driver, framework(machine)
    if driver is None or driver.failure is None:
        return None
    if driver.failure == "silent":
        return problem(
            "The NVIDIA driver did not answer in time.",
            "See whether nvidia-smi hangs too. If it does, restart the machine.",
        )
    if seen is not None and seen.gpus:
        return None
    if driver.failure == "crashed":
        return problem(
            "The NVIDIA driver's library (NVML) crashed.", "See whether nvidia-smi works. Install the driver again."
        )
    if driver.failure == "mismatch":
        return problem(
            "The NVIDIA driver was updated: its library and the running kernel module differ.", "Restart the machine."
        )
    if driver.failure == "lost":
        return problem(
            "A GPU does not answer any more: the driver has lost it.",
            "Restart the machine; look at its power and its temperature.",
        )
    if not driver.cards_on_bus:
        return None
    if machine.system.container:
        return advice(
            "The host has an NVIDIA card that this container does not get.",
            "Start it with --gpus all, on a host with the NVIDIA Container Toolkit.",
        )
    return problem(
        "There is an NVIDIA card, but its driver does not run.",
        "Install NVIDIA's driver (Ubuntu: sudo ubuntu-drivers install) and restart.",
    )


def gpu_build(machine: Snapshot) -> Verdict | None:
    """A backend built for CPUs on a machine with a GPU."""
    found, name = framework(machine), backend(machine)
    if (
        not machine.gpus
        or found is None
        or found.gpus != 0
        or machine.system.platform == "win32"
        and name == "tensorflow"
    ):
        return None
    for_gpus = (
        found.cuda is not False
        if name != "jax"
        else any(package.startswith("jax-cuda") for package in packages(machine))
    )
    if for_gpus:
        return None
    package = next(
        (package for package in ("tensorflow-cpu", "tensorflow-intel") if package in packages(machine)), None
    )
    built = f" (package {package})" if package and name == "tensorflow" else ""
    first = f"pip uninstall {package}, then " if package and name == "tensorflow" else ""
    return problem(
        f"{title(machine)} {found.version} is built for CPUs{built} and cannot use the {cards(machine)}.",
        f"Run {first}{_INSTALL.get(name, '')}",
    )


def hidden_gpus(machine: Snapshot) -> Verdict | None:
    variables = machine.variables or {}
    if is_hidden(machine):
        return problem(
            f"CUDA_VISIBLE_DEVICES={variables['CUDA_VISIBLE_DEVICES']!r} hides every GPU of this machine.",
            "Unset it, or set it to the number of a GPU: 0 is the first.",
        )
    if machine.gpus and backend(machine) == "jax" and variables.get("JAX_PLATFORMS") == "cpu":
        return problem("JAX_PLATFORMS=cpu keeps JAX off the GPU.", "Unset it.")
    return None


def driver(machine: Snapshot) -> Verdict | None:
    """A driver that is too old for the CUDA version of the backend."""
    if machine.driver is None or machine.driver.version is None:
        return None
    found, needed = framework(machine), needed_driver(machine)
    if found is not None and needed is not None and is_driver_too_old(machine):
        return problem(
            f"The NVIDIA driver {machine.driver.version} is too old for CUDA {found.cuda_version}, which this "
            f"{title(machine)} is built for.",
            f"Update the NVIDIA driver{' of Windows' * machine.system.wsl} to {needed} or later.",
        )
    supports = f", up to CUDA {dotted(machine.driver.cuda)}" if machine.driver.cuda else ""
    return ok(f"NVIDIA driver {machine.driver.version}{supports}")


def compute_capability(machine: Snapshot) -> Verdict | None:
    """A card for which the TensorFlow build has no code."""
    found = tensorflow(machine)
    built = sorted(filter(None, map(_architecture, found.architectures))) if found is not None else []
    known = [(gpu, gpu.capability) for gpu in machine.gpus if gpu.capability is not None]
    if not built or found is None:
        return None
    for gpu, capability in known:
        number = dotted(capability)
        if capability < built[0]:
            return problem(
                f"TensorFlow {found.version} has no code for the {gpu.name}: compute capability {number}, and it "
                f"needs {dotted(built[0])}.",
                _todo_for_old(capability),
            )
        if capability[0] <= built[-1][0]:
            continue
        if capability >= _FROM_PTX_FAILS:
            return problem(
                f"TensorFlow {found.version} was built before the {gpu.name} (compute capability {number}); its "
                "operations fail there.",
                "Use NVIDIA's TensorFlow container, or a newer TensorFlow, or Keras on JAX or PyTorch.",
            )
        return advice(
            f"TensorFlow {found.version} has no binary code for the {gpu.name} (compute capability {number}).",
            "Install a newer TensorFlow: this one compiles for up to 30 minutes at its first start.",
        )
    return None


def _todo_for_old(capability: tuple[int, int]) -> str:
    last = next((last for since, last in LAST_FOR_CAPABILITY.items() if capability >= since), None)
    return (
        f"Install TensorFlow {last}, the last that supports the card, or train on another."
        if last
        else "Train on another card, or on the CPU."
    )


def _architecture(word: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", word)
    return (int(match[1]), int(match[2])) if match else None


def library_path(machine: Snapshot) -> Verdict | None:
    """Incompatible CUDA libraries in LD_LIBRARY_PATH.

    They take precedence over those from pip, which TensorFlow's wheels find by RUNPATH (``readelf -d``).
    """
    found = tensorflow(machine)
    if found is None or not machine.gpus or not found.cuda:
        return None
    needed = {
        "libcublas": version(found.cuda_version)[:1],
        "libcudnn": _cudnn(machine)[:2] or version(found.cudnn_version),
    }
    for name, least in needed.items():
        there = [version(each.partition(".so.")[2]) for each in machine.library_path if each.startswith(f"{name}.so.")]
        if (
            not least
            or not there
            or any(each[:1] == least[:1] and each[: len(least)] >= least[: len(each)] for each in there)
        ):
            continue
        same = [each for each in there if each[:1] == least[:1]]
        if not same and found.gpus:
            # The loader skips it, because its file name has another version number.
            continue
        install = "" if _absent_packages(machine) == [] else f"{_todo_install(machine, True).rstrip('.')}; then unset"
        return problem(
            f"LD_LIBRARY_PATH leads to {name} {dotted((same or there)[0])}, and TensorFlow {found.version} needs "
            f"{dotted(least)}.",
            f"{install or 'Unset'} LD_LIBRARY_PATH for the training, or take the folder of the old CUDA out of it.",
        )
    return None


def _cudnn(machine: Snapshot) -> tuple[int, ...]:
    return next((oldest for name, oldest in _cuda_packages(machine).items() if name.startswith("nvidia-cudnn-cu")), ())


def _cuda_packages(machine: Snapshot) -> dict[str, tuple[int, ...]]:
    """CUDA packages that TensorFlow's extra requires, with the oldest usable versions.

    A wheel needs the versions that it was compiled with, or newer ones of the same major version ("CuDNN library needs
    to have matching major version and equal or higher minor version", cuda_dnn.cc). Exact pins of some wheels are
    ignored.
    """
    bounds = {}
    for name, requirement in required(machine, "tensorflow", _EXTRA):
        oldest = [version(each.version) for each in requirement.specifier if each.operator in ("==", ">=", "~=")]
        bounds[name] = max(oldest, default=())
    return bounds


def _absent_packages(machine: Snapshot) -> list[str] | None:
    """The required CUDA packages that are not installed; None if the wheel requires none."""
    asked = _cuda_packages(machine)
    return [name for name in asked if name not in packages(machine)] if asked else None


def cuda_packages(machine: Snapshot) -> Verdict | None:
    """CUDA packages from pip that are older than TensorFlow's build needs, or have another major version."""
    found = tensorflow(machine)
    if found is None or not machine.gpus or not found.cuda:
        return None
    wrong = {}
    for name, oldest in _cuda_packages(machine).items():
        installed = version(packages(machine).get(name))
        if installed and oldest and (installed[0] != oldest[0] or installed[:2] < oldest[:2]):
            wrong[name] = (
                f"{name} {dotted(oldest)} or a newer {oldest[0]}.x, and {packages(machine)[name]} is installed"
            )
    if not wrong:
        return None
    # Convolutions fail with an older cuDNN: "Loaded runtime CuDNN library: ... but source was compiled with: ...".
    matters = not found.gpus or any("cudnn" in name for name in wrong)
    seen = f"TensorFlow {found.version} needs " + "; ".join(list(wrong.values())[:2]) + "."
    return (problem if matters else advice)(
        seen, "Run pip install 'tensorflow[and-cuda]'; give PyTorch an environment of its own."
    )


def cuda_libraries(machine: Snapshot) -> Verdict | None:
    """CUDA libraries that TensorFlow fails to load."""
    found = tensorflow(machine)
    if (
        found is None
        or found.gpus != 0
        or not found.cuda
        or not machine.gpus
        or machine.system.platform != "linux"
        or _is_explained(machine)
    ):
        return None
    if _DRIVER_LIBRARY in found.missing:
        todo = (
            "Start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility."
            if machine.system.container
            else "Install NVIDIA's driver again."
        )
        return problem(f"The loader does not find {_DRIVER_LIBRARY}, the library of the driver.", todo)
    absent = _absent_packages(machine)
    if found.missing:
        listed = ", ".join(found.missing[:4]) + (
            f" and {len(found.missing) - 4} more" if len(found.missing) > 4 else ""
        )
        return problem(f"TensorFlow cannot load {listed}, so it skips the GPU.", _todo_install(machine, absent != []))
    if absent and not machine.library_path:
        return problem(
            "TensorFlow was installed without its CUDA libraries, so it skips the GPU.", _todo_install(machine, True)
        )
    return None


def _todo_install(machine: Snapshot, absent: bool) -> str:
    found = tensorflow(machine)
    number = version(found.version) if found is not None else ()
    if absent and number >= (2, 14):
        return f"Run pip install 'tensorflow[and-cuda]=={dotted(number)}'"
    if absent and found is not None:
        return (
            f"Install CUDA {found.cuda_version} and cuDNN {found.cudnn_version}, which this TensorFlow was built for."
        )
    return (
        "Add the folders of nvidia/*/lib in site-packages to LD_LIBRARY_PATH, "
        "or make the links of TensorFlow's page on pip."
    )


def _is_explained(machine: Snapshot) -> bool:
    """Whether another check already explains why the backend sees no GPU."""
    checks = (driver_running, gpu_build, hidden_gpus, driver, compute_capability, library_path, cuda_packages)
    from kerascheck.runtime.doctor.checks.common import Status

    return any(
        found is not None and found.status is Status.PROBLEM
        for check in checks
        if (found := check(machine)) is not None
    )


def gpu_seen(machine: Snapshot) -> Verdict | None:
    """Whether the backend sees the GPUs. Reports a problem only if no other check explains it."""
    found = framework(machine)
    if machine.gpus and (found is None or found.gpus is None):
        return ok(cards(machine))
    if found is not None and found.gpus:
        memory = f", {size(machine.gpus[0].memory)}" if machine.gpus and machine.gpus[0].memory else ""
        of = f" of {len(machine.gpus)}" if found.gpus < len(machine.gpus) else ""
        plural = "s" * (max(found.gpus, len(machine.gpus)) > 1)
        return ok(
            f"{title(machine)} sees {found.gpus}{of} GPU{plural}{': ' * bool(machine.gpus)}{cards(machine)}{memory}"
        )
    if not machine.gpus or found is None:
        if driver_running(machine) is not None:
            return None
        other = machine.system.accelerator
        return ok(
            f"no NVIDIA GPU, but an {other}".replace("an T", "a T")
            if other
            else "no NVIDIA GPU: training runs on the CPU"
        )
    if machine.system.platform == "win32" or _is_explained(machine) or cuda_libraries(machine) is not None:
        return None
    said = f' It says: "{found.log[-1]}"' if found.log else ""
    todo = next(
        (todo for words, todo in _REMEDIES.items() if words in said),
        "Run the import with TF_CPP_MAX_VLOG_LEVEL=3 and read what it tries.",
    )
    return problem(f"{title(machine)} sees no GPU, but the driver sees the {cards(machine)}.{said}", todo)


def compilers(machine: Snapshot) -> Verdict | None:
    """CUDA tools that XLA needs to compile: ptxas and libdevice."""
    found = tensorflow(machine)
    if found is None or not found.gpus or not found.cuda or machine.python is None:
        return None
    lacking = [
        name
        for name, there in (("ptxas", machine.python.ptxas), ("libdevice", machine.python.libdevice))
        if there is False
    ]
    if not lacking:
        return None
    return advice(
        f"XLA does not find {' and '.join(lacking)} of CUDA: jit_compile may fail or be slow.",
        "Run pip install nvidia-cuda-nvcc-cu12",
    )


def half_precision(machine: Snapshot) -> Verdict | None:
    """The fastest dtype policy for the card."""
    if not machine.gpus:
        return None
    known = [(gpu, half_types(gpu.name, gpu.capability)) for gpu in machine.gpus]
    if any(types is None for _, types in known):
        return None
    poorest, types = min(known, key=lambda each: len(each[1] or ()))
    if not types:
        return ok(f"float32 is right for the {poorest.name}: it has no Tensor Cores")
    names = " or ".join(f"mixed_{name}" for name in types)
    return ok(f"{names} gains on the {poorest.name}" + ("" if "bfloat16" in types else ", which has no fast bfloat16"))


def tf32(machine: Snapshot) -> Verdict | None:
    found = tensorflow(machine)
    if not any((gpu.capability or (0, 0)) >= BFLOAT16_SINCE for gpu in machine.gpus):
        return None
    if (machine.variables or {}).get("NVIDIA_TF32_OVERRIDE") == "0":
        return advice(
            "NVIDIA_TF32_OVERRIDE=0 keeps float32 matrices off the Tensor Cores.",
            "Unset it, unless the training needs every bit of float32.",
        )
    if found is not None and found.tf32 is False:
        return advice(
            "TensorFloat-32 is switched off: float32 matrices do not use the Tensor Cores.",
            "Leave it on, unless the training needs every bit of float32.",
        )
    return None


def gpu_memory(machine: Snapshot) -> Verdict | None:
    """GPU memory that other processes hold."""
    for index, gpu in enumerate(machine.gpus):
        if gpu.mig or gpu.memory is None or gpu.used is None:
            continue
        usual = 0.25 * gpu.memory if gpu.display else max(GIB, 0.1 * gpu.memory)
        if gpu.used <= usual:
            continue
        holders = f"{gpu.processes} other process{'es' * (gpu.processes > 1)}" if gpu.processes else "Other programs"
        seen = f"{holders} hold{'s' * (gpu.processes == 1)} {size(gpu.used)} of the {size(gpu.memory)} of GPU {index}."
        if gpu.used > 0.75 * gpu.memory:
            return problem(seen, "Look with nvidia-smi, and end them or choose another GPU with CUDA_VISIBLE_DEVICES.")
        return advice(seen, "Look with nvidia-smi; for a measurement the GPU should be free.")
    return None


def gpu_shared(machine: Snapshot) -> Verdict | None:
    """Other processes that compute on the GPU but use little of its memory."""
    busy = next((gpu for gpu in machine.gpus if gpu.processes and (gpu.utilisation or 0) > 0.1), None)
    # On Windows every program with a window counts as a process.
    if busy is None or gpu_memory(machine) is not None or machine.system.platform == "win32" or machine.system.wsl:
        return None
    return advice(
        f"Another process computes on the {busy.name}: it is busy {busy.utilisation:.0%} of the time.",
        "Wait for it, or choose another GPU.",
    )


def power_limit(machine: Snapshot) -> Verdict | None:
    for gpu in machine.gpus:
        if gpu.power_limit and gpu.power_default and gpu.power_limit < 0.95 * gpu.power_default:
            return advice(
                f"The {gpu.name} may take {gpu.power_limit:.0f} W of its usual {gpu.power_default:.0f} W.",
                f"An administrator can raise it: nvidia-smi -pl {gpu.power_default:.0f}",
            )
    return None


def slowdown(machine: Snapshot) -> Verdict | None:
    """Reduced clocks of the card."""
    for gpu in machine.gpus:
        severe = [reason for reason in gpu.slowdowns if reason != "temperature"]
        if severe:
            return problem(
                f"The {gpu.name} has reduced its clocks: {', '.join(gpu.slowdowns)}.",
                "Look at its cooling and its power supply; measure nothing until then.",
            )
        if gpu.slowdowns:
            return advice(
                f"The {gpu.name} has reduced its clocks because of its temperature.",
                "Improve its cooling; measure nothing until then.",
            )
    return None


def pcie(machine: Snapshot) -> Verdict | None:
    """A slow PCIe link. Checked only on busy cards, because idle cards slow it down themselves."""
    for gpu in machine.gpus:
        link, widest = gpu.link, gpu.widest_link
        if link is None or widest is None or (gpu.utilisation or 0) < 0.2:
            continue
        if link.width < widest.width or link.generation < widest.generation:
            return advice(
                f"The {gpu.name} is connected by {link.width} lane{'s' * (link.width > 1)} of PCIe {link.generation}; "
                f"it could have {widest.width} of PCIe {widest.generation}.",
                "Look at its slot, a riser cable and the settings of the BIOS.",
            )
    return None


def persistence(machine: Snapshot) -> Verdict | None:
    """A driver that is unloaded whenever no process uses the GPU."""
    own = (
        machine.system.platform == "linux"
        and not machine.system.wsl
        and not machine.system.container
        and machine.system.hosted is None
    )
    idle = next(
        (gpu for gpu in machine.gpus if gpu.persistent is False and gpu.display is False and not gpu.processes), None
    )
    if not own or idle is None:
        return None
    return advice("Persistence mode is off: the driver starts again with every program.", "Run sudo nvidia-smi -pm 1")


def mig(machine: Snapshot) -> Verdict | None:
    sliced = next((gpu for gpu in machine.gpus if gpu.mig or VIRTUAL.search(gpu.name)), None)
    if sliced is None:
        return None
    how = "is partitioned (MIG)" if sliced.mig else "is a virtual GPU"
    return advice(
        f"The {sliced.name} {how}: a program gets a part of its cores and memory.",
        "Compare times only with those on a part of the same size.",
    )


def switches(machine: Snapshot) -> Verdict | None:
    """Environment variables that are set for debugging."""
    variables = machine.variables or {}
    if machine.gpus and variables.get("CUDA_LAUNCH_BLOCKING", "") in ("1", "true", "True"):
        return advice("CUDA_LAUNCH_BLOCKING makes Python wait for every kernel.", "Unset it when debugging is done.")
    return None
