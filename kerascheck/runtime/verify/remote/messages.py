"""What the two sides of ``verify --on`` send each other: a :class:`Job` there, lines of messages back, an :class:`Answer` in parts.

The other side may also be :mod:`kerascheck.runtime.verify.remote.ssh_host` or ``start.py``, which import nothing of ours.
Times are in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kerascheck.runtime.plain import plain, restored
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.machine_class import MachineClass
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.variants import Variant

MARK = "@kerascheck "
"""Begins every line that is a message; the rest of the line is a JSON object."""


@dataclass(frozen=True, slots=True)
class Job:
    """``job.json``: what to measure, with paths relative to the project."""

    script: Script
    variants: tuple[Variant, ...]
    budget: Budget
    needs: tuple[str, ...]
    """Frameworks that the script imports: one of them must be installed there."""
    link_from: str = ""
    """Folder there with files of the project that are not uploaded; empty without one."""
    minutes: int = 0
    """Time limit to ask of a scheduler."""
    scaling: str | None = None
    """The command, for people, where one GPU is compared with all of them; None: compare the variants."""
    clean: bool = False
    """Whether the other side removes the upload when it ends."""
    lease: str | float | None = None
    """The run ends with this side: "stdin", a pipe that this side holds, or seconds in which it touches the file ``lease``."""
    nonce: str = ""
    """Makes the upload differ from all others; Ray keeps one copy of equal ones."""

    def to_json(self) -> bytes:
        """The content of ``job.json``."""
        return json.dumps(plain(self)).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a run that compares variants; one that measures scaling answers with ``Scaling``."""

    comparison: Comparison
    machine: MachineClass
    gpu: GpuSummary | None


@dataclass(frozen=True, slots=True)
class Started:
    """The other side was reached, and its interpreter runs."""


@dataclass(frozen=True, slots=True)
class Progressed:
    """What it does."""

    text: str
    left: float
    """Seconds that remain, about."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """It does not measure; ``reason`` is a line for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class ResultPart:
    """A part of the result: compressed JSON in base 64."""

    data: str


@dataclass(frozen=True, slots=True)
class ResultEnd:
    """All parts of the result were sent."""

    project: str
    """Folder of the project there, which paths of the result begin with."""
    length: int
    """Characters of all parts together."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The run ended without a result; ``how`` is a clause for people."""

    how: str


Message = Started | Progressed | Refusal | ResultPart | ResultEnd | Ended

_EVENTS: Mapping[str, type[Message]] = {
    "started": Started,
    "progress": Progressed,
    "refused": Refusal,
    "part": ResultPart,
    "result": ResultEnd,
    "ended": Ended,
}
"""Key ``event`` of a message."""


def encode(message: Message) -> str:
    """The line that sends ``message``, without its end."""
    event = next(event for event, kind in _EVENTS.items() if isinstance(message, kind))
    return MARK + json.dumps({"event": event, **plain(message)})


def parse(text: str) -> Message:
    """The message of a line, of which ``text`` is what follows the mark.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is no message.
    """
    content = json.loads(text)
    event = content.pop("event")
    message: Message = restored(_EVENTS[event], content, f"the message {event!r}")
    return message
