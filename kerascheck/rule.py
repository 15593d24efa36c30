"""The contract of a rule.

A rule lives in ``rules/<family>/<slug>/rule.py`` as the only subclass of :class:`Rule`
in that file. Its docstring is its documentation page, its class attributes are its
metadata, and :meth:`Rule.check` reads the meaning of a module and yields diagnoses.
Rules keep no state between calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kerascheck.finding import Fix, Severity

_CODE = re.compile(r"KC\d{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUMMARY = re.compile(r"\S(?:.{,48}[^\s.])?")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding before its place is turned into lines and columns.

    ``at`` and the places of ``related`` are semantic objects: anything with the
    attributes ``module`` (the :class:`~kerascheck.meaning.module.Module` it stands in) and
    ``node`` (its syntax node).
    """

    at: Any
    severity: Severity
    message: str
    because: str | None = None
    fix: Fix | None = None
    related: Sequence[tuple[Any, str]] = field(default=())
    pedantic: bool = False
    """Known to cost nothing where the code runs: reported only to those who ask for it."""
    wish: Any = None
    """What it asks of the order of a chain of dataset operations, a :class:`kerascheck.meaning.data.order.Wish`, where it does: several
    that conflict become one finding."""


@dataclass(frozen=True, slots=True)
class Silence:
    """What a rule looked at and had a reason to leave alone: told to those who ask why it says nothing there."""

    at: Any
    """See :attr:`Diagnosis.at`."""
    reason: str
    """For users: a clause without a full stop, such as "its number of parallel calls is given"."""


class Rule:
    """Base class of every rule."""

    code: ClassVar[str]
    """``KC`` and three digits; the first digit names the family."""
    name: ClassVar[str]
    """The contract with users: lower case words joined by hyphens."""
    summary: ClassVar[str]
    """What is wrong, in some six words: a clause of at most 50 characters, without a full stop, for lists of rules and of findings."""
    severity: ClassVar[Severity]
    """The usual severity; a diagnosis may state another."""
    on_by_default: ClassVar[bool] = True
    fixed_by_default: ClassVar[bool] = True
    """Whether fixes are applied however the rule was selected; else only where it was by its very code or name."""
    speed: ClassVar[bool] = True
    """Whether its fix can change how long a training takes; else it is about errors, accuracy, memory or the truth of a measurement,
    and ``kerascheck verify`` does not measure it."""
    reads: ClassVar[str] = "python"
    """What :meth:`check` is given: "python" for modules, "requirements" for files that say what is to be installed,
    "comments" for what silences findings."""
    triggers: ClassVar[tuple[str, ...]]
    """Substrings of which at least one stands in every file where the rule can fire."""
    evidence_note: ClassVar[str] = ""
    """Why the measured example gains nothing, in a sentence of at most 110 characters, where a page would leave the reader wondering."""
    loss_tolerance: ClassVar[float | None] = 1e-6
    """Largest relative difference of the final losses of slow.py and fast.py; None where the fix is meant to change results."""

    def __init_subclass__(cls) -> None:
        for attribute, pattern in (("code", _CODE), ("name", _NAME), ("summary", _SUMMARY)):
            value = cls.__dict__.get(attribute)
            if not isinstance(value, str) or not pattern.fullmatch(value):
                raise TypeError(f"{cls.__name__}.{attribute} must match {pattern.pattern}, not {value!r}")
        if not isinstance(cls.__dict__.get("severity"), Severity):
            raise TypeError(f"{cls.__name__}.severity must be a Severity")
        if not cls.__dict__.get("triggers"):
            raise TypeError(f"{cls.__name__}.triggers must name at least one substring")
        if not (cls.__doc__ or "").strip():
            raise TypeError(f"{cls.__name__} has no docstring: it is the rule's documentation")

    def check(self, module: Any) -> Iterator[Diagnosis | Silence]:
        """Yield the diagnoses of ``module`` (and of modules that it calls into), and what it had a reason to leave alone there.

        Args:
            module: a :class:`~kerascheck.meaning.module.Module`; for a rule that reads requirements a
                :class:`~kerascheck.source.requirements.RequirementsFile`, whose requirements are the places of findings; for a
                rule that reads comments :class:`~kerascheck.source.suppression.Comments`.
        """
        raise NotImplementedError

    def silence(self, at: Any, reason: str) -> Silence:
        """The reason why nothing is said about the semantic object ``at``, which one might expect: see :class:`Silence`."""
        return Silence(at, reason)

    def finding(
        self,
        at: Any,
        message: str,
        *,
        because: str | None = None,
        severity: Severity | None = None,
        fix: Fix | None = None,
        related: Sequence[tuple[Any, str]] = (),
        pedantic: bool = False,
        doubt: str | None = None,
        wish: Any = None,
    ) -> Diagnosis:
        """A diagnosis at the semantic object ``at``; the severity is the rule's own unless stated, and info where it is ``pedantic`` or there is a ``doubt``.

        Args:
            doubt: what is not known, or what makes it small, as a sentence with which ``because`` ends. This is how a rule of a higher
                severity yields an info, so that each says why it is no more than that.
        """
        severity = Severity.INFO if pedantic or doubt else self.severity if severity is None else severity
        because = " ".join(filter(None, (because, doubt))) or None
        return Diagnosis(at, severity, message, because, fix, tuple(related), pedantic, wish)
