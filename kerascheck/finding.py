"""What a rule says about a piece of code: findings, their severity, place and fix.

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
"""The code of a fault of kerascheck itself."""
SortKey = tuple[str, int, int, int, str]
"""Path, cell (-1 in scripts), line, column and code."""


class Severity(enum.IntEnum):
    """How sure a finding is to cost something in the code it was found in.

    Example:
        >>> Severity.ERROR > Severity.WARNING > Severity.INFO
        True
    """

    INFO = 1
    """Depends on hardware or sizes, or is known to cost nothing (:attr:`Finding.pedantic`)."""
    WARNING = 2
    """Costs time in this code, as far as can be seen without running it."""
    ERROR = 3
    """Raises, or silently does not do what it says."""

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
    """Behaviour is kept: applied by ``--fix``."""
    UNSAFE = "unsafe"
    """Results may change (order of random draws, memory, types): applied by ``--fix --unsafe-fixes``."""
    ON_REQUEST = "on request"
    """About something else than speed: applied by ``--fix`` where the rule is selected by its very code or name."""


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
    """``text`` with edits that do not overlap; insertions at one place keep their order.

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
    """An obligation that a fix does not meet, so that it is unsafe.

    Example:
        >>> Unproven("same-numbers", "XLA rounds in another order").reason
        'XLA rounds in another order'
    """

    obligation: str
    """The name of a :class:`~kerascheck.fixes.proofs.Obligation`."""
    reason: str
    """What stands against it: a clause without a full stop."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together: all are applied, or none.

    Example:
        >>> Fix(Applicability.SAFE, "Require tensorflow", (Edit(0, 14, "tensorflow"),)).message
        'Require tensorflow'
    """

    applicability: Applicability
    message: str
    """What is done, in the imperative: "Add num_parallel_calls=tf.data.AUTOTUNE"."""
    edits: tuple[Edit, ...]
    withheld: str = ""
    """Why it is not made in the file, after "not applied:"; empty where it is."""
    obligations: tuple[str, ...] = ()
    """The names of what it has to prove to be safe; without any it is not safe."""
    unproven: tuple[Unproven, ...] = ()
    """The obligations that it does not meet; a safe fix has none."""

    @property
    def objections(self) -> str:
        """Why it is unsafe, as one clause; empty where every obligation is proven."""
        return "; ".join(dict.fromkeys(each.reason for each in self.unproven))


@dataclass(frozen=True, order=True, slots=True)
class Location:
    """A range of one file; the end is exclusive."""

    path: str
    cell: int | None
    """Index of the notebook cell, counted from 0 over cells of every type; None in scripts."""
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def cell_number(self) -> int | None:
        """The cell as people count, from 1; None in scripts."""
        return None if self.cell is None else self.cell + 1


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a finding, such as the statement that makes a map stateful."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How one line about the whole run counts findings that stand one by one only in a pedantic report.

    Example:
        >>> Tally("map without parallel calls", repaired_since="2.6").noun
        'map without parallel calls'
    """

    noun: str
    """What is counted; its first word takes the plural."""
    repaired_since: str = ""
    """The TensorFlow version from which the runtime repairs it by itself; empty if it does not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem at one place of one file."""

    code: str
    name: str
    severity: Severity
    location: Location
    message: str
    """One sentence of problem and one of remedy."""
    because: str | None = None
    """The cause in this very code, and what it costs here."""
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    statement_lines: tuple[int, int] = (0, 0)
    """First and last line (cell-relative) of the enclosing statement, where a suppression may stand."""
    pedantic: bool = False
    """Known to cost nothing where the code runs, because the runtime repairs it, say: reported with ``--pedantic`` only."""
    tally: Tally | None = None
    """How a report counts it that does not show it; None if it leaves no trace there. Only of pedantic findings."""
    covers: tuple[SortKey, ...] = ()
    """:attr:`sort_key` of the findings in whose place it stands, its own among them, where it joins several."""

    @property
    def sort_key(self) -> SortKey:
        """Orders findings and file errors by path, cell, line, column and code."""
        return _sort_key(self.location, self.code)


NO_EFFECT = 0.05
"""How far from 1 the interval of a ratio may reach and still show that there is nothing to win."""


def is_no_effect(low: float, high: float, limit: float = NO_EFFECT) -> bool:
    """Whether the interval of a ratio lies within ``limit`` of 1 (0.05 is 5 %): a wider one shows nothing."""
    return 1 / (1 + limit) <= low <= high <= 1 + limit


@dataclass(frozen=True, slots=True)
class Evidence:
    """What ``kerascheck verify`` has measured of a finding on a machine like this one."""

    status: str
    """"confirmed", "no effect", "slower" or "changes results"."""
    reason: str
    ratio: float
    """How many times faster the steps of the repaired script were."""
    low: float
    high: float
    """The 95 % interval of ``ratio``."""
    date: str
    """Of the measurement, YYYY-MM-DD."""
    versions: Mapping[str, str]
    """Of the frameworks that it ran with, by name."""
    outdated: str | None = None
    """Why it says nothing of the code as it is, or of this machine: "the code has changed since"; None where it counts."""

    @property
    def confirmed(self) -> bool:
        """Whether the repair is worth something here."""
        return self.status == "confirmed" and self.outdated is None

    def __str__(self) -> str:
        said = f"x{self.ratio:.2f} [{self.low:.2f}-{self.high:.2f}]"
        if self.status == "confirmed" and self.low <= 1.0:
            # It is the start that the repair shortens, not the steps.
            said = self.reason
        if self.outdated is not None:
            return f"{self.status} once ({said}, {self.date}), but {self.outdated}: measure again"
        return f"{self.status} here: {said}, {self.date}"


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be analysed: unreadable, unparsable, or a fault of a rule."""

    code: str
    """KC999 for a file that cannot be read or parsed, KC998 for a fault of kerascheck itself."""
    location: Location
    message: str

    @property
    def sort_key(self) -> SortKey:
        """See :attr:`Finding.sort_key`."""
        return _sort_key(self.location, self.code)


def _sort_key(place: Location, code: str) -> SortKey:
    return (place.path, -1 if place.cell is None else place.cell, place.line, place.column, code)
