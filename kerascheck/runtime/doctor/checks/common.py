"""Shared parts of the checks: results, and helpers that read a snapshot."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TypedDict

from kerascheck.knowledge.cards import oldest_driver
from kerascheck.runtime.doctor.snapshot import Demand, Framework, Snapshot

GIB = 1 << 30


class Status(enum.Enum):
    """Outcomes of a check, the most urgent first."""

    PROBLEM = "problem"
    """Training fails, or leaves available hardware unused."""
    ADVICE = "advice"
    """Training works, but could be faster."""
    OK = "ok"


class ResultJson(TypedDict):
    """A :class:`Result` in the JSON report of ``doctor``."""

    name: str
    status: str
    seen: str
    todo: str
    line: int | None
    """Of the script that asks for it."""
    cell: int | None
    """Of a notebook that asks for it."""


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one check.

    Attributes:
        name: of the check, lower-case words joined by hyphens; stable, since users rely on it.
        seen: one sentence that describes the machine.
        todo: the advice; empty if the status is OK.
        asked: the demand of the script that this result is about, if any.
    """

    name: str
    status: Status
    seen: str
    todo: str = ""
    asked: Demand | None = None

    def as_dict(self) -> ResultJson:
        """Return the JSON object of this result."""
        return {
            "name": self.name,
            "status": self.status.value,
            "seen": self.seen,
            "todo": self.todo,
            "line": None if self.asked is None else self.asked.line,
            "cell": None if self.asked is None else self.asked.cell,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """A result without the name of the check."""

    status: Status
    seen: str
    todo: str = ""
    asked: Demand | None = None


def ok(seen: str) -> Verdict:
    return Verdict(Status.OK, seen)


def advice(seen: str, todo: str, asked: Demand | None = None) -> Verdict:
    return Verdict(Status.ADVICE, seen, todo, asked)


def problem(seen: str, todo: str, asked: Demand | None = None) -> Verdict:
    return Verdict(Status.PROBLEM, seen, todo, asked)


def backend(machine: Snapshot) -> str:
    """Name of the backend that Keras chooses."""
    keras = machine.python.keras if machine.python is not None else None
    return (keras.backend if keras is not None else None) or "tensorflow"


TITLES = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}


def framework(machine: Snapshot) -> Framework | None:
    """The backend's framework in the interpreter; None if it was not examined or cannot be imported."""
    name = backend(machine)
    found = getattr(machine.python, name, None) if machine.python is not None and name in TITLES else None
    return None if found is None or found.error is not None else found


def tensorflow(machine: Snapshot) -> Framework | None:
    """The framework if it is TensorFlow, else None."""
    return framework(machine) if backend(machine) == "tensorflow" else None


def title(machine: Snapshot) -> str:
    """Display name of the backend."""
    return TITLES.get(backend(machine), backend(machine))


def version(text: str | None) -> tuple[int, ...]:
    """Parse a version, ("2.16.1rc0") -> (2, 16, 1); empty if the text does not begin with a number."""
    match = re.match(r"\d+(?:\.\d+)*", text or "")
    return tuple(map(int, match[0].split("."))) if match else ()


def dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def packages(machine: Snapshot) -> dict[str, str]:
    return (machine.python.packages if machine.python is not None else None) or {}


def is_hidden(machine: Snapshot) -> bool:
    """Whether CUDA_VISIBLE_DEVICES shows no GPU."""
    shown = (machine.variables or {}).get("CUDA_VISIBLE_DEVICES")
    return shown is not None and shows_none(machine, shown)


def shows_none(machine: Snapshot, shown: str) -> bool:
    """Whether the value ``shown`` of CUDA_VISIBLE_DEVICES hides every GPU.

    The list ends at the first number without a GPU.
    """
    if not machine.gpus:
        return False
    first = shown.split(",")[0].strip()
    return (
        first in ("", "NoDevFiles", "none")
        or bool(re.fullmatch(r"-?\d+", first))
        and not 0 <= int(first) < len(machine.gpus)
    )


def needed_driver(machine: Snapshot) -> str | None:
    """The oldest driver that supports the CUDA version of the backend's build; None if unknown."""
    built = framework(machine)
    cuda = version(built.cuda_version) if built is not None else ()
    if len(cuda) < 2:
        return None
    return oldest_driver((cuda[0], cuda[1]), windows=machine.system.platform == "win32" or machine.system.wsl)


def is_driver_too_old(machine: Snapshot) -> bool:
    """Whether the driver is too old for the CUDA version of the backend's build.

    NVIDIA's forward compatibility package (``cuda-compat``) lets an older driver run it. The driver then reports a
    newer CUDA version.
    """
    needed, driver, built = needed_driver(machine), machine.driver, framework(machine)
    if needed is None or driver is None or built is None or not version(driver.version):
        return False
    runs = driver.cuda is not None and driver.cuda[:1] >= version(built.cuda_version)[:1]
    return version(driver.version) < version(needed) and not runs


def size(number: float) -> str:
    """Format a number of bytes in GiB."""
    amount = number / GIB
    return (
        f"{amount:.0f} GiB"
        if amount >= 10
        else f"{amount:.1f} GiB"
        if amount >= 0.1
        else f"{number / (1 << 20):.0f} MiB"
    )


def cards(machine: Snapshot) -> str:
    """Names of the GPUs, with a count for several of one model."""
    names: dict[str, int] = {}
    for gpu in machine.gpus:
        names[gpu.name] = names.get(gpu.name, 0) + 1
    return " and ".join(f"{count} x {name}" if count > 1 else name for name, count in names.items())
