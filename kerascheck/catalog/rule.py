"""The contract of a rule.

A rule lives in ``rules/<family>/<slug>/rule.py`` as the only subclass of :class:`Rule`, :class:`RequirementsRule` or
:class:`CommentsRule` in that file: the class says what its ``check`` is given. Its docstring is its documentation page,
its class attributes are its metadata, and ``check`` yields diagnoses. Rules keep no state between calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from kerascheck.catalog.applies import Applies
from kerascheck.finding import Fix, Severity, Tally

if TYPE_CHECKING:
    from kerascheck.meaning.data.order import ReorderRequest
    from kerascheck.meaning.module import Module
    from kerascheck.project.requirements import RequirementsFile
    from kerascheck.project.suppression import Comments
    from kerascheck.source import Source

_CODE = re.compile(r"KC[A-Z]?\d{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUMMARY = re.compile(r"\S(?:.{,48}[^\s.])?")


class Document(Protocol):
    """What places stand in: a :class:`~kerascheck.meaning.module.Module`, a
    :class:`~kerascheck.project.requirements.RequirementsFile` or :class:`~kerascheck.project.suppression.Comments`."""

    @property
    def source(self) -> Source:
        """The text that it was made of."""

    # Each has nodes of its own type, and is only asked for those of its places.
    def range_of(self, node: Any) -> tuple[int, int]:
        """Offsets, in characters of the text, of what a finding about ``node`` marks."""

    def statement_range(self, node: Any) -> tuple[int, int]:
        """Offsets of the whole statement that ``node`` is a part of."""


class Located(Protocol):
    """Where a finding may stand: a call, a stage, a function, a place, a requirement, a comment."""

    @property
    def module(self) -> Document:
        """What it stands in."""

    @property
    def node(self) -> Any:
        """What :meth:`Document.range_of` is asked for."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding before its place is turned into lines and columns.

    Example:
        >>> Diagnosis(call("f()"), Severity.INFO, "This costs little; leave it out.").severity < Severity.WARNING
        True
    """

    at: Located
    severity: Severity
    message: str
    because: str | None = None
    fix: Fix | None = None
    related: Sequence[tuple[Located, str]] = field(default=())
    pedantic: bool = False
    """Known to cost nothing where the code runs: reported only to those who ask for it."""
    tally: Tally | None = None
    """See :attr:`~kerascheck.finding.Finding.tally`."""
    reorder: ReorderRequest | None = None
    """A requested order of a chain of dataset operations; conflicting requests become one finding."""


@dataclass(frozen=True, slots=True)
class Silence:
    """What a rule looked at and had a reason to leave alone: told to those who ask why it says nothing there.

    Example:
        >>> Silence(call("ds.map(f, num_parallel_calls=4)"), "its number of parallel calls is given").reason
        'its number of parallel calls is given'
    """

    at: Located
    reason: str
    """For users: a clause without a full stop, such as "its number of parallel calls is given"."""


class AnyRule:
    """What rules of every kind have."""

    code: ClassVar[str]
    """``KC`` and three digits, the first of which names the family; rules that others ship have a letter of theirs after ``KC``."""
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
    triggers: ClassVar[tuple[str, ...]]
    """Substrings of which at least one stands in every file where the rule can fire."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Substrings of which one stands too in each such file, or in one that imports it, directly or not; none are needed where empty.
    For triggers that many files hold to which the rule has nothing to say."""
    proves: ClassVar[tuple[str, ...]] = ()
    """The names of the obligations (:mod:`kerascheck.fixes.proofs`) that its fixes have to prove to be safe; its page lists them."""
    evidence_note: ClassVar[str] = ""
    """Why the measured example gains nothing, in a sentence of at most 110 characters, where a page would leave the reader wondering."""
    loss_tolerance: ClassVar[float | None] = 1e-6
    """Largest relative difference of the final losses of slow.py and fast.py; None where the fix is meant to change results."""

    def __init_subclass__(cls) -> None:
        if AnyRule in cls.__bases__:
            return  # a kind of rules
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

    def silence(self, at: Located, reason: str) -> Silence:
        """The reason why nothing is said about the semantic object ``at``, which one might expect: see :class:`Silence`."""
        return Silence(at, reason)

    def finding(
        self,
        at: Located,
        message: str,
        *,
        because: str | None = None,
        severity: Severity | None = None,
        fix: Fix | None = None,
        related: Sequence[tuple[Located, str]] = (),
        pedantic: bool = False,
        tally: Tally | None = None,
        doubt: str | None = None,
        reorder: ReorderRequest | None = None,
    ) -> Diagnosis:
        """A diagnosis at the semantic object ``at``; the severity is the rule's own unless stated, and info where it is ``pedantic`` or there is a ``doubt``.

        Args:
            tally: how a line about the whole run counts it, in place of a finding; ``pedantic`` is implied.
            doubt: what is not known, or what makes it small, as a sentence with which ``because`` ends. This is how a rule of a higher
                severity yields an info, so that each says why it is no more than that.
        """
        pedantic = pedantic or tally is not None
        severity = Severity.INFO if pedantic or doubt else self.severity if severity is None else severity
        because = " ".join(filter(None, (because, doubt))) or None
        return Diagnosis(at, severity, message, because, fix, tuple(related), pedantic, tally, reorder)


class Rule(AnyRule):
    """A rule about Python code.

    Example:
        >>> class PrintInStep(Rule):
        ...     "Each step prints."
        ...     code, name, summary = "KC499", "print-in-step", "print runs in each step"
        ...     severity = Severity.WARNING
        ...     triggers = ("print(",)
        ...
        ...     def check(self, module):
        ...         for call in module.run.calls:
        ...             if call.name == "builtins.print" and call.path.innermost_loop(within="program"):
        ...                 yield self.finding(call, "This prints in each step; print once per epoch.")
        >>> [str(each.severity) for each in PrintInStep().check(module("for step in range(9): print(step)"))]
        ['warning']
    """

    applies: ClassVar[Applies] = Applies()
    """Of which programs it speaks: others are not given to :meth:`check`."""

    def check(self, module: Module) -> Iterator[Diagnosis | Silence]:
        """Yield the diagnoses of ``module`` (and of modules that it calls into), and what it had a reason to leave alone there."""
        raise NotImplementedError


class RequirementsRule(AnyRule):
    """A rule about files that say what is to be installed.

    Example:
        >>> class OldTensorFlow(RequirementsRule):
        ...     "An old TensorFlow is asked for."
        ...     code, name, summary = "KC799", "old-tensorflow", "TensorFlow is old"
        ...     severity = Severity.INFO
        ...     triggers = ("tensorflow",)
        ...
        ...     def check(self, file):
        ...         for requirement in file.requirements:
        ...             if requirement.name == "tensorflow" and requirement.specifier.startswith("==1."):
        ...                 yield self.finding(requirement, "This TensorFlow is old; require 2.16 or later.")
        >>> [each.message for each in OldTensorFlow().check(file("tensorflow==1.15"))]
        ['This TensorFlow is old; require 2.16 or later.']
    """

    def check(self, file: RequirementsFile) -> Iterator[Diagnosis | Silence]:
        """Yield the diagnoses of ``file``; its requirements are their places."""
        raise NotImplementedError


class CommentsRule(AnyRule):
    """A rule about the comments that silence findings: asked when all others have run.

    Example:
        >>> class SilencesAll(CommentsRule):
        ...     "A comment silences every rule."
        ...     code, name, summary = "KC999", "silences-all", "comment silences every rule"
        ...     severity = Severity.INFO
        ...     triggers = ("kerascheck",)
        ...
        ...     def check(self, comments):
        ...         for directive in comments.directives:
        ...             if not directive.entries:
        ...                 yield self.finding(comments.at(directive), "This silences all; name the rules.")
        >>> [each.message for each in SilencesAll().check(comments("f()  # kerascheck: ignore"))]
        ['This silences all; name the rules.']
    """

    def check(self, comments: Comments) -> Iterator[Diagnosis | Silence]:
        """Yield the diagnoses of ``comments``; :meth:`~kerascheck.project.suppression.Comments.at` gives their places."""
        raise NotImplementedError


KINDS: tuple[type[AnyRule], ...] = (Rule, RequirementsRule, CommentsRule)
"""What a rule may be a subclass of."""
