"""Findings of rules, with their severity, location and fix.

Offsets are counted in characters of the analysed text (``Source.text``); lines and
columns are 1-based and, in notebooks, relative to the cell.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

UNREADABLE = "KC999"
"""The code of a file that cannot be read, parsed or analysed."""
INTERNAL = "KC998"
"""The code of an internal error of kerascheck."""
SortKey = tuple[str, int, int, int, str]
"""Path, cell (-1 in scripts), line, column and code."""


class Severity(enum.IntEnum):
    """How certain it is that a finding costs time in this code.

    Example:
        >>> Severity.ERROR > Severity.WARNING > Severity.INFO
        True
    """

    INFO = 1
    """Depends on hardware or sizes, or is known to cost nothing (:attr:`Finding.pedantic`)."""
    WARNING = 2
    """Costs time in this code, judging by static analysis."""
    ERROR = 3
    """Raises an exception, or silently fails to do what the code says."""

    def __str__(self) -> str:
        return self.name.lower()


class Applicability(enum.Enum):
    """Whether a fix keeps the behaviour of the program.

    Example:
        >>> rounds = proofs.SAME_NUMBERS.unless("XLA rounds in another order")
        >>> fixes.drop_argument(call("f(x, jit_compile=True)"), "jit_compile", rounds).applicability.value
        'unsafe'
    """

    SAFE = "safe"
    """Behaviour stays the same: applied by ``--fix``."""
    UNSAFE = "unsafe"
    """Results may change (order of random draws, memory, types): applied by ``--fix --unsafe-fixes``."""
    ON_REQUEST = "on request"
    """Not about speed: ``--fix`` applies it only if the rule is selected by its full code or name."""


@dataclass(frozen=True, order=True, slots=True)
class Edit:
    """Replace ``text[start:end]`` by ``content``; an insertion has ``start == end``.

    Example:
        >>> edit = Edit(0, 5, "tensorflow")
        >>> edit.content + "==2.16"[edit.start :]
        'tensorflow==2.16'
    """

    start: int
    end: int
    content: str


def with_edits(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with edits that do not overlap; insertions at the same position keep their order.

    Example:
        >>> with_edits("tf.nn", [Edit(5, 5, ".relu"), Edit(0, 2, "tensorflow")])
        'tensorflow.nn.relu'
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += (text[position : edit.start], edit.content)
        position = edit.end
    return "".join((*parts, text[position:]))


@dataclass(frozen=True, order=True, slots=True)
class Unproven:
    """An obligation that a fix does not meet, which makes the fix unsafe.

    Example:
        >>> Unproven("same-numbers", "XLA rounds in another order").reason
        'XLA rounds in another order'
    """

    obligation: str
    """The name of a :class:`~kerascheck.fixes.proofs.Obligation`."""
    reason: str
    """Why the obligation is not met: a clause without a full stop."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together: all are applied, or none.

    Example:
        >>> Fix(Applicability.SAFE, "Require tensorflow", (Edit(0, 14, "tensorflow"),)).message
        'Require tensorflow'
    """

    applicability: Applicability
    message: str
    """The change, in the imperative: "Add num_parallel_calls=tf.data.AUTOTUNE"."""
    edits: tuple[Edit, ...]
    withheld: str = ""
    """Why the fix is not applied, to follow "not applied:"; empty if it is."""
    obligations: tuple[str, ...] = ()
    """Names of the obligations that a safe fix must meet; a fix without obligations is not safe."""
    unproven: tuple[Unproven, ...] = ()
    """Obligations that the fix does not meet; empty for a proven fix."""
    distrusted: bool = False
    """Whether only the configuration makes it unsafe (``extend-unsafe-fixes``)."""

    @property
    def objections(self) -> str:
        """Why the fix is not safe, as one clause; empty if every obligation is proven and the configuration agrees."""
        listed = ["extend-unsafe-fixes names its rule"] if self.distrusted else [each.reason for each in self.unproven]
        return "; ".join(dict.fromkeys(listed))

    @property
    def is_proven(self) -> bool:
        """Whether its rule proves that behaviour stays the same, whatever the configuration allows."""
        return not self.unproven and (self.applicability is not Applicability.UNSAFE or self.distrusted)


@dataclass(frozen=True, order=True, slots=True)
class Location:
    """A range of one file; the end is exclusive."""

    path: str
    cell: int | None
    """0-based index of the notebook cell among cells of all types; None in scripts."""
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def cell_number(self) -> int | None:
        """1-based number of the notebook cell; None in scripts."""
        return None if self.cell is None else self.cell + 1


@dataclass(frozen=True, slots=True)
class Related:
    """A second location that explains a finding, such as the statement that makes a map stateful."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Tally:
    """The words for counting findings that only a pedantic report lists one by one.

    Example:
        >>> Tally("map without parallel calls", repaired_since="2.6").noun
        'map without parallel calls'
    """

    noun: str
    """Name of the problem; its first word takes the plural."""
    repaired_since: str = ""
    """First TensorFlow version whose runtime avoids the problem; empty if none does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at one location of a file."""

    code: str
    name: str
    severity: Severity
    location: Location
    message: str
    """One sentence about the problem and one about its remedy."""
    because: str | None = None
    """The cause in this code, and its cost here."""
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    statement_lines: tuple[int, int] = (0, 0)
    """First and last line (cell-relative) of the enclosing statement, where a suppression comment may be."""
    pedantic: bool = False
    """Known to cost nothing, for example because the runtime avoids it: reported only with ``--pedantic``."""
    tally: Tally | None = None
    """How reports without ``--pedantic`` count a pedantic finding; None if they do not mention it."""
    covers: tuple[SortKey, ...] = ()
    """:attr:`sort_key` of the findings that this one merges, including its own; empty if it merges none."""

    @property
    def sort_key(self) -> SortKey:
        """Sorts findings and file errors by path, cell, line, column and code."""
        return _sort_key(self.location, self.code)


NO_EFFECT = 0.05
"""Maximum relative distance from 1 of an interval that still counts as no effect (0.05 is 5 %)."""


def is_no_effect(low: float, high: float, limit: float = NO_EFFECT) -> bool:
    """Whether the interval of a ratio lies within ``limit`` of 1 (0.05 is 5 %); a wider interval is inconclusive."""
    return 1 / (1 + limit) <= low <= high <= 1 + limit


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of ``kerascheck verify`` for a finding, measured on a machine like this one."""

    status: str
    """"confirmed", "no effect", "slower" or "changes results"."""
    reason: str
    ratio: float
    """Speed-up of the training steps by the fix."""
    low: float
    high: float
    """Upper end of the 95 % confidence interval of ``ratio``; ``low`` is its lower end."""
    date: str
    """Date of the measurement, YYYY-MM-DD."""
    versions: Mapping[str, str]
    """Versions of the frameworks during the measurement, by name."""
    outdated: str | None = None
    """Why the result no longer applies, such as "the code has changed since"; None if it applies."""

    @property
    def confirmed(self) -> bool:
        """Whether the measured gain is confirmed and still applies."""
        return self.status == "confirmed" and self.outdated is None

    def __str__(self) -> str:
        said = f"x{self.ratio:.2f} [{self.low:.2f}-{self.high:.2f}]"
        if self.status == "confirmed" and self.low <= 1.0:
            # The fix shortens the start, not the steps.
            said = self.reason
        if self.outdated is not None:
            return f"{self.status} once ({said}, {self.date}), but {self.outdated}: measure again"
        return f"{self.status} here: {said}, {self.date}"


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be analysed: unreadable, unparsable, or hit by an error in a rule."""

    code: str
    """KC999 for a file that cannot be read or parsed, KC998 for an internal error of kerascheck."""
    location: Location
    message: str

    @property
    def sort_key(self) -> SortKey:
        """See :attr:`Finding.sort_key`."""
        return _sort_key(self.location, self.code)


def _sort_key(place: Location, code: str) -> SortKey:
    return (place.path, -1 if place.cell is None else place.cell, place.line, place.column, code)
