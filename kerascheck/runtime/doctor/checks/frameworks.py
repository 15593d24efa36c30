"""Checks on the packages of the interpreter that trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kerascheck.knowledge.runtime import LAST_FOR_PYTHON, NEWEST_TENSORFLOW
from kerascheck.runtime.doctor.checks.common import (
    TITLES,
    Verdict,
    advice,
    backend,
    dotted,
    framework,
    ok,
    packages,
    problem,
    tensorflow,
    title,
    version,
)
from kerascheck.runtime.doctor.snapshot import Python, Snapshot

if TYPE_CHECKING:
    from packaging.markers import Marker
    from packaging.requirements import Requirement

_NEWEST_PYTHON = (3, 13)
"""The newest Python for which TensorFlow 2.21 has wheels (its classifiers)."""
_LAST_ON_WINDOWS = (2, 10)
"""The last TensorFlow that supports GPUs on native Windows (TensorFlow: "Install TensorFlow with pip")."""
_CRASHES = {"signal SIGILL": "the processor lacks instructions that its wheels use (AVX)"}
_COMPARED = ("tensorflow", "keras", "numpy", "protobuf", "ml-dtypes")
"""Packages whose version limits matter. Other conflicts with TensorFlow fail with a clear message."""


def interpreter(machine: Snapshot) -> Verdict | None:
    """Whether the examination of the interpreter completed."""
    python = machine.python
    if python is None or python.failure is None:
        return None
    during = f"importing {TITLES.get(python.during, python.during)}" if python.during else "the look at Python"
    if python.failure == "timeout":
        return advice(
            f"{during[0].upper()}{during[1:]} took longer than the time limit.", "Try again, or raise --time-limit."
        )
    if python.failure.startswith("signal"):
        reason = _CRASHES.get(python.failure, f"it was ended by {python.failure}")
        return problem(
            f"Python {python.version} crashes while {during}: {reason}.",
            "Install a build of it for this processor, or use another machine.",
        )
    return problem(
        f"{during[0].upper()}{during[1:]} failed: {python.failure}", "Name the Python that trains with --python."
    )


def tensorflow_installed(machine: Snapshot) -> Verdict | None:
    python = machine.python
    if python is None or python.failure is not None:
        return None
    found = python.tensorflow
    if found is not None and found.error is not None:
        todo = (
            "Install the versions that fit together: see requirements."
            if _conflicts(machine)
            else "Install TensorFlow again in a new environment."
        )
        return problem(f"TensorFlow cannot be imported: {found.error}", todo)
    if found is not None:
        build = (
            f"built for CUDA {found.cuda_version}"
            if found.cuda and found.cuda_version
            else "built for CUDA"
            if found.cuda
            else "built for CPUs"
        )
        # ROCm, Metal and DirectML use a GPU without CUDA.
        build_note = f", {build}" if found.cuda or found.cuda is False and not found.gpus else ""
        return ok(f"TensorFlow {found.version}{build_note}, Python {python.version}")
    if backend(machine) != "tensorflow":
        return None
    other = next((name for name in ("jax", "torch") if name in packages(machine) and python.keras is not None), None)
    if other is not None:
        todo = f"Set KERAS_BACKEND={other} to train on {TITLES[other]}, or install TensorFlow."
        return advice("Keras runs on TensorFlow unless told otherwise, and TensorFlow is not installed.", todo)
    number = version(python.version)[:2]
    if number > _NEWEST_PYTHON:
        newest = f"TensorFlow {dotted(NEWEST_TENSORFLOW)} has wheels for Python up to {dotted(_NEWEST_PYTHON)}"
        return advice(
            f"TensorFlow is not installed for this Python {python.version}.",
            f"{newest}: make an environment of that, or name one with --python.",
        )
    package = "tensorflow[and-cuda]" if machine.gpus and machine.system.platform == "linux" else "tensorflow"
    last = LAST_FOR_PYTHON.get((number[0], number[1])) if len(number) == 2 else None
    only = f" (the last for this Python is {dotted(last)})" if last else ""
    return advice(
        f"TensorFlow is not installed for this Python {python.version}.",
        f"Run pip install '{package}'{only}, or name the Python that trains with --python.",
    )


def keras_installed(machine: Snapshot) -> Verdict | None:
    python = machine.python
    if python is None or python.failure is not None or python.keras is None:
        return None
    keras = python.keras
    if keras.error is not None:
        if not _has(python, backend(machine)):
            if backend(machine) == "tensorflow":
                return None
            chosen = f" ({keras.backend_from})" if keras.backend_from else ""
            return problem(
                f"Keras is to run on {title(machine)}{chosen}, which is not installed.",
                f"Install {title(machine)}, or choose another backend.",
            )
        if python.tensorflow is not None and python.tensorflow.error is not None:
            return None
        return problem(
            f"Keras cannot be imported: {keras.error}",
            "Install a Keras that fits: see requirements." if _conflicts(machine) else "Install it again.",
        )
    chosen = f", chosen by {keras.backend_from}" if keras.backend_from else ""
    found = framework(machine)
    number = f" {found.version}" if found is not None and backend(machine) != "tensorflow" else ""
    return ok(f"Keras {keras.version} on {title(machine)}{number}{chosen}")


def _has(python: Python, name: str) -> bool:
    return getattr(python, name, None) is not None


def two_keras(machine: Snapshot) -> Verdict | None:
    """``TF_USE_LEGACY_KERAS``, which makes ``tf.keras`` differ from ``keras``."""
    chosen = (machine.variables or {}).get("TF_USE_LEGACY_KERAS", "")
    found = packages(machine)
    if chosen.lower() not in ("1", "true") or tensorflow(machine) is None:
        return None
    if "tf-keras" not in found:
        return problem(
            "TF_USE_LEGACY_KERAS is set, but tf_keras is not installed: tf.keras cannot be imported.",
            "Run pip install tf_keras, or unset the variable.",
        )
    if version(found.get("keras"))[:1] < (3,):
        return None
    return advice(
        f"tf.keras is Keras {dotted(version(found['tf-keras'])[:2])} (TF_USE_LEGACY_KERAS), and `import keras` is "
        f"Keras {dotted(version(found['keras'])[:2])}.",
        "Use one of them in a program: layers of one do not fit into models of the other.",
    )


def requirements(machine: Snapshot) -> Verdict | None:
    """Installed versions that conflict with the requirements of TensorFlow, Keras or tf_keras."""
    conflicts = _conflicts(machine)
    if not conflicts or machine.python is None:
        return None
    seen = (
        "; ".join(f"{owner} needs {asked}, and {installed} is installed" for owner, asked, installed in conflicts[:3])
        + "."
    )
    todo = "Run pip install " + " ".join(f"'{asked}'" for _, asked, _ in conflicts[:3])
    broken = any(
        each is not None and each.error is not None for each in (machine.python.tensorflow, machine.python.keras)
    )
    return (problem if broken else advice)(seen, todo)


def _conflicts(machine: Snapshot) -> list[tuple[str, str, str]]:
    """Conflicts between installed packages: the package with its version, its requirement, the installed version."""
    found = packages(machine)
    return [
        (f"{owner} {found.get(owner, '')}".strip(), f"{name}{requirement.specifier}", found[name])
        for owner in ((machine.python.requires if machine.python else None) or {})
        for name, requirement in required(machine, owner)
        if name in found and name in _COMPARED and not requirement.specifier.contains(found[name], prereleases=True)
    ]


def required(machine: Snapshot, owner: str, extra: str = "") -> Iterator[tuple[str, Requirement]]:
    """Requirements of a package on the machine of the snapshot, by normalised name.

    Args:
        extra: yield only the requirements of this extra; if empty, only the unconditional ones.
    """
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    for text in ((machine.python.requires if machine.python else None) or {}).get(owner, ()):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if _applies(requirement.marker, machine, extra):
            yield canonicalize_name(requirement.name), requirement


def _applies(marker: Marker | None, machine: Snapshot, extra: str) -> bool:
    if marker is None:
        return not extra
    number = version(machine.python.version if machine.python else None)
    environment = {
        "python_version": dotted(number[:2]),
        "python_full_version": dotted(number),
        "sys_platform": machine.system.platform,
        "platform_system": {"linux": "Linux", "win32": "Windows", "darwin": "Darwin"}.get(machine.system.platform, ""),
        "platform_machine": machine.system.machine,
    }
    return marker.evaluate({**environment, "extra": extra}) and (
        not extra or not marker.evaluate({**environment, "extra": ""})
    )


def native_windows(machine: Snapshot) -> Verdict | None:
    found = tensorflow(machine)
    if (
        machine.system.platform != "win32"
        or found is None
        or not machine.gpus
        or found.gpus
        or version(found.version)[:2] <= _LAST_ON_WINDOWS
    ):
        return None
    return problem(
        f"TensorFlow {found.version} uses no GPU on Windows; 2.10 was the last that did.",
        "Train in WSL 2 with pip install 'tensorflow[and-cuda]', or on another backend of Keras.",
    )


def metal(machine: Snapshot) -> Verdict | None:
    found = tensorflow(machine)
    if (machine.system.platform, machine.system.machine) != ("darwin", "arm64") or found is None or found.gpus != 0:
        return None
    if "tensorflow-metal" in packages(machine):
        return advice(
            "tensorflow-metal is installed, but TensorFlow sees no GPU.",
            "Install a TensorFlow of the release that tensorflow-metal was made for.",
        )
    return advice(
        "TensorFlow does not use the GPU of this Mac.",
        "Try pip install tensorflow-metal, made for TensorFlow releases that its page names, and measure.",
    )
