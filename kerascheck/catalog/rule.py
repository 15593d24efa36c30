"""The contract of a rule.

A rule lives in ``rules/<family>/<slug>/rule.py`` as the only subclass of :class:`Rule`, :class:`RequirementsRule` or
:class:`CommentsRule` in that file; the base class determines the argument of ``check``. Its docstring is its
documentation page, its class attributes are its metadata, and ``check`` yields diagnoses. Rules keep no state between
calls.
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
    """The text that contains a location.

    It is a :class:`~kerascheck.meaning.module.Module`, a :class:`~kerascheck.project.requirements.RequirementsFile` or
    :class:`~kerascheck.project.suppression.Comments`.
    """

    @property
    def source(self) -> Source:
        """Its source text."""

    # The type of nodes depends on the document; a document gets only nodes of its own locations.
    def range_of(self, node: Any) -> tuple[int, int]:
        """The range that a finding about ``node`` marks, as character offsets in the text."""

    def statement_range(self, node: Any) -> tuple[int, int]:
        """The range of the whole statement that contains ``node``."""


class Located(Protocol):
    """A possible location of a finding, such as a call, a dataset operation, a function, a requirement or a comment."""

    @property
    def module(self) -> Document:
        """The document that contains it."""

    @property
    def node(self) -> Any:
        """The argument for :meth:`Document.range_of`."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding before its location is converted to lines and columns.

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
    """Whether the finding is known to cost nothing where the code runs; reported only on request."""
    tally: Tally | None = None
    """See :attr:`~kerascheck.finding.Finding.tally`."""
    reorder: ReorderRequest | None = None
    """A requested order of a chain of dataset operations; conflicting requests become one finding."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Code that a rule examined and did not report, with the reason; ``--explain-silence`` shows it.

    Example:
        >>> Silence(call("ds.map(f, num_parallel_calls=4)"), "its number of parallel calls is given").reason
        'its number of parallel calls is given'
    """

    at: Located
    reason: str
    """A clause for users without a full stop, such as "its number of parallel calls is given"."""


class AnyRule:
    """The common base of all kinds of rules."""

    code: ClassVar[str]
    """``KC`` and three digits, the first of which names the family; third-party rules have a letter after ``KC``."""
    name: ClassVar[str]
    """The stable name for users: lower-case words joined by hyphens."""
    summary: ClassVar[str]
    """The problem in about six words: a clause of at most 50 characters without a full stop, for lists."""
    severity: ClassVar[Severity]
    """The usual severity; a diagnosis may state another."""
    on_by_default: ClassVar[bool] = True
    fixed_by_default: ClassVar[bool] = True
    """Whether any selection of the rule applies its fixes; if False, only a selection by its full code or name does."""
    speed: ClassVar[bool] = True
    """Whether its fix can change the duration of a training.

    Other rules are about errors, accuracy, memory or the validity of a measurement; ``kerascheck verify`` does not
    measure them."""
    triggers: ClassVar[tuple[str, ...]]
    """Substrings; every file where the rule can fire contains at least one of them."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Further substrings: each such file, or a direct or indirect importer, contains one of them; empty: none needed.

    They help with triggers that also occur in many files without findings."""
    proves: ClassVar[tuple[str, ...]] = ()
    """The obligations (:mod:`kerascheck.fixes.proofs`) that its fixes must prove to be safe; its page lists them."""
    measured: ClassVar[str] = "steps"
    """What its example gains: time of "steps", seconds until the "first step", or peak "memory" of the process."""
    evidence_note: ClassVar[str] = ""
    """A sentence of at most 110 characters for the page: why the example is not measured, or gains surprisingly little."""
    loss_tolerance: ClassVar[float | None] = 1e-6
    """Largest relative difference of the final losses of slow.py and fast.py; None if the fix may change them."""

    def __init_subclass__(cls) -> None:
        if AnyRule in cls.__bases__:
            return  # a kind of rule, not a rule
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
        """The reason not to report the semantic object ``at`` where one might expect it; see :class:`Silence`."""
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
        """A diagnosis at the semantic object ``at``; it is an info if it is ``pedantic`` or has a ``doubt``.

        Args:
            severity: the severity of other diagnoses; None: the rule's own.
            tally: how one line about the whole run counts the finding; implies ``pedantic``.
            doubt: a sentence about an uncertainty or a small cost, appended to ``because``. It explains why a rule of a
                higher severity reports only an info.
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
    """The programs that the rule applies to; :meth:`check` gets no others."""

    def check(self, module: Module) -> Iterator[Diagnosis | Silence]:
        """Yield the diagnoses of ``module`` and of modules that it calls into, and its reasons for silence."""
        raise NotImplementedError


class RequirementsRule(AnyRule):
    """A rule about requirements files.

    Example:
        >>> class OldTensorFlow(RequirementsRule):
        ...     "The project requires an old TensorFlow."
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
        """Yield the diagnoses of ``file``; their locations are its requirements."""
        raise NotImplementedError


class CommentsRule(AnyRule):
    """A rule about comments that suppress findings; it runs after all other rules.

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
        """Yield the diagnoses of ``comments``, located by :meth:`~kerascheck.project.suppression.Comments.at`."""
        raise NotImplementedError


KINDS: tuple[type[AnyRule], ...] = (Rule, RequirementsRule, CommentsRule)
"""The possible base classes of rules."""
