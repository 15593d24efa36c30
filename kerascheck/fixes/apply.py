"""Apply fixes: compose edits, apply until nothing changes.

A fix is all or nothing. Everything outside its edits is kept byte for byte: texts are
cut and joined, never generated. A fix that leaves its finding, or causes an error, is dropped.
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kerascheck.finding import Applicability, Edit, FileError, Finding, Fix, Severity, with_edits

_ROUNDS = 40
"""A fix may uncover another finding; a chain longer than this never ends, which is a fault of the rules."""

LEAVES_FINDING = "leaves its finding"
_CAUSES_ERROR = "causes an error that was not there"
_UNDOES = "undoes another fix"
_NEVER_ENDS = "never comes to an end"
_BREAKS = "breaks the program"


_Source = TypeVar("_Source", bound="Editable")


class Editable(Protocol):
    """A source whose text can be replaced, such as ``kerascheck.source.Source``."""

    @property
    def text(self) -> str: ...

    def with_text(self: _Source, text: str) -> _Source:
        """The same source with another text."""

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and column of the text."""

    def lines_above(self, cell: int | None) -> int:
        """The number of lines above a cell."""


@dataclass(frozen=True)
class Fixed(Generic[_Source]):
    """What :func:`apply_fixes` did to one source."""

    source: _Source
    """The source after all fixes; equal to the original where nothing was applied."""
    applied: list[Finding]
    """Findings whose fix is in ``text``; their places are those of the round that applied them."""
    remaining: list[Finding]
    """Every finding that ``text`` still has."""
    skipped: Mapping[Finding, str]
    """Those of ``remaining`` whose applicable fix was dropped, with the reason: "leaves its finding"."""

    @property
    def text(self) -> str:
        """The text of ``source``."""
        return self.source.text


class _Taken:
    """The edits taken so far; those of one fix may touch, those of two fixes may not."""

    def __init__(self, length: int):
        self._length = length
        self._ranges: list[tuple[int, int]] = []
        self._insertions: set[Edit] = set()
        self._whole: set[tuple[Edit, ...]] = set()
        self.edits: list[Edit] = []

    def take(self, fix: Fix) -> bool:
        """Add all edits of ``fix``, or none where one of them conflicts."""
        edits = tuple(dict.fromkeys(fix.edits))
        if edits in self._whole:
            return True
        new = [edit for edit in edits if edit not in self._insertions]
        ordered = sorted(edits, key=_place)
        if any(before.end > after.start for before, after in zip(ordered, ordered[1:])):
            return False
        if any(not 0 <= edit.start <= edit.end <= self._length for edit in edits):
            return False
        if any(self._conflicts(edit) for edit in new):
            return False
        for edit in new:
            insort(self._ranges, _place(edit))
        self.edits += new
        self._insertions.update(edit for edit in new if edit.start == edit.end)
        self._whole.add(edits)
        return True

    def _conflicts(self, edit: Edit) -> bool:
        # The ranges do not overlap, so only the last one that starts at or before the end can reach the edit.
        index = bisect_right(self._ranges, (edit.end, self._length))
        return index > 0 and self._ranges[index - 1][1] >= edit.start


def _place(edit: Edit) -> tuple[int, int]:
    return (edit.start, edit.end)


def _fix_order(fix: Fix) -> tuple[tuple[int, int], tuple[int, int], tuple[Edit, ...], str]:
    places = [_place(edit) for edit in fix.edits]
    return (min(places), max(places), fix.edits, fix.message)


def compose(text: str, fixes: Iterable[Fix]) -> tuple[str, list[Fix]]:
    """Apply as many whole fixes as fit together, in one pass.

    Fixes are taken in the order of their first edit, whatever order they come in. A fix
    is left out when one of its edits overlaps or touches an edit of a fix taken before.
    Identical insertions at the same place, such as an import that two fixes need, are
    made once. Insertions that one fix makes at the same place keep their order.

    Returns:
        The new text and the fixes that are in it.
    """
    edits, applied = _fitting(text, fixes)
    return with_edits(text, edits), applied


def _fitting(text: str, fixes: Iterable[Fix]) -> tuple[list[Edit], list[Fix]]:
    """The edits that :func:`compose` makes, in the order of the text, and the fixes that they are from."""
    taken = _Taken(len(text))
    applied = [fix for fix in sorted((fix for fix in fixes if fix.edits), key=_fix_order) if taken.take(fix)]
    return sorted(taken.edits, key=_place), applied


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Notebooks may await at the top level.
            compile(text, "<fixed>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _parses(text: str) -> bool:
    # Imported here because it takes 0.4 s, and most runs fix nothing.
    import libcst

    try:
        libcst.parse_module(text)
    except libcst.ParserSyntaxError:
        return False
    return True


def _accepted(
    source: _Source, fixes: Sequence[Fix], made: Callable[[_Source, Sequence[Edit]], _Source | None]
) -> tuple[_Source, list[Edit], list[Fix]]:
    """Compose ``fixes`` without those that break ``source``.

    Args:
        made: the source with edits; None where they break it.

    Returns:
        The new source, the edits that it has, and the fixes that they are from.
    """
    while True:
        edits, applied = _fitting(source.text, fixes)
        changed = made(source, edits) if edits else source
        if changed is not None:
            return changed, edits, applied
        # Without the broken fixes, others that conflicted with them may fit.
        broken = _broken(source.text, applied, lambda edits: made(source, edits) is not None)
        fixes = [fix for fix in fixes if fix not in broken]


def _broken(text: str, fixes: list[Fix], valid: Callable[[Sequence[Edit]], bool]) -> set[Fix]:
    """Which of ``fixes``, which fit together but break ``text``, to leave out; found by halving."""
    good: list[Fix] = []
    broken: set[Fix] = set()
    pending = [fixes]
    while pending:
        group = pending.pop()
        trial, _ = _fitting(text, [*good, *group])
        if valid(trial):
            good += group
        elif len(group) > 1:
            middle = len(group) // 2
            pending += (group[middle:], group[:middle])
        else:
            broken.update(group)
    return broken


def _edited(source: _Source, edits: Sequence[Edit]) -> _Source | None:
    return source.with_text(with_edits(source.text, edits))


def _text_of(source: Editable) -> Sequence[str]:
    return (source.text,)


class _Moved:
    """The offsets of a text before its edits, in the text after them.

    Args:
        edits: in the order of the text; they do not overlap.
    """

    def __init__(self, edits: Sequence[Edit]):
        self._edits = edits

    def exact(self, start: int, end: int) -> tuple[int, int]:
        """The new place of a range, without what is inserted on its borders."""
        return self._offset(start, inserted=True), self._offset(end, inserted=False, is_end=True)

    def wide(self, start: int, end: int) -> tuple[int, int]:
        """The new place of a range, with what is inserted on its borders."""
        return self._offset(start, inserted=False), self._offset(end, inserted=True, is_end=True)

    def _offset(self, offset: int, *, inserted: bool, is_end: bool = False) -> int:
        """``inserted``: whether what is inserted at ``offset`` itself comes before it."""
        shift = 0
        for edit in self._edits:
            if edit.start < offset < edit.end:
                return edit.start + shift + len(edit.content) * is_end
            if edit.end > offset or edit.start == offset and not inserted:
                break
            shift += len(edit.content) - (edit.end - edit.start)
        return offset + shift


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < max(other[1], other[0] + 1) and other[0] < max(one[1], one[0] + 1)


@dataclass(frozen=True)
class _State(Generic[_Source]):
    """A text on the way, and all that is found in it."""

    source: _Source
    findings: Sequence[Finding]
    errors: Sequence[FileError]

    def place(self, finding: Finding) -> tuple[int, int]:
        """The range of the text that a finding marks."""
        where, above = finding.location, self.source.lines_above(finding.location.cell)
        return (
            self.source.offset(where.line + above, where.column),
            self.source.offset(where.end_line + above, where.end_column),
        )

    def marked(self, finding: Finding) -> str:
        """The text that a finding marks, without white space."""
        start, end = self.place(finding)
        return "".join(self.source.text[start:end].split())


class _Comparison(Generic[_Source]):
    """Compares what is found before and after some edits.

    A finding is still there where its rule says the same of the same code: what stands at its place now, or the same words in
    what a fix wrote. Another finding of the rule elsewhere, such as at the next call of a chain, is another one.

    Args:
        fixes: those that made ``edits``.
    """

    def __init__(self, before: _State[_Source], after: _State[_Source], edits: Sequence[Edit], fixes: Iterable[Fix]):
        self._before, self._after = before, after
        self._moved = _Moved(edits)
        self._fixes = frozenset(fixes)
        self._places = {finding: before.place(finding) for finding in before.findings}
        self._new_places = {finding: after.place(finding) for finding in after.findings}
        self._staying = self._matches()

    def _matches(self) -> dict[Finding, Finding]:
        """What is still there, by how it was found before: each new finding stands for one old one, the nearest."""
        alike: dict[tuple[str, str], list[Finding]] = {}
        unmoved = {}
        for new in self._after.findings:
            alike.setdefault((new.code, new.message), []).append(new)
            unmoved[new.code, new.message, self._new_places[new]] = new
        staying: dict[Finding, Finding] = {}
        for old in self._before.findings:
            if same := unmoved.pop((old.code, old.message, self._moved.exact(*self._places[old])), None):
                staying[old] = same
        taken = set(staying.values())
        pairs = []
        for number, old in enumerate(each for each in self._before.findings if each not in staying):
            candidates = [new for new in alike.get((old.code, old.message), ()) if new not in taken]
            ranges = self._ranges(old) if candidates else []
            exact = self._moved.exact(*self._places[old])
            marked = self._before.marked(old)
            for new in candidates:
                start, end = self._new_places[new]
                is_around = start <= exact[0] and exact[1] <= end
                is_alike = marked == self._after.marked(new) and any(_overlap(each, (start, end)) for each in ranges)
                if is_around or is_alike:
                    # A finding that nobody fixed stays rather than one that a fix was applied for.
                    pairs.append((old.fix in self._fixes, abs(start - exact[0]), number, old, new))
        for *_, old, new in sorted(pairs, key=lambda pair: pair[:3]):
            if old not in staying and new not in taken:
                staying[old] = new
                taken.add(new)
        return staying

    def _ranges(self, old: Finding) -> list[tuple[int, int]]:
        """Where a finding can be now, if it is still there."""
        place = self._places[old]
        found = [self._moved.wide(*place)]
        for fix in self._fixes:
            edits = [(edit.start, edit.end) for edit in fix.edits]
            # A statement may have moved, with all that is found in it.
            if fix == old.fix or any(_overlap(each, place) for each in edits):
                found += (self._moved.wide(*each) for each in edits)
        return found

    def left(self) -> set[Fix]:
        """The fixes that leave their finding."""
        return {old.fix for old in self._staying if old.fix is not None and old.fix in self._fixes}

    def causes_error(self) -> bool:
        """Whether there is an error that was not there before: a finding of that severity, or one about the file."""
        if Counter(map(_without_place, self._after.errors)) - Counter(map(_without_place, self._before.errors)):
            return True
        return any(new.severity is Severity.ERROR and not self._was_error(new) for new in self._after.findings)

    def _was_error(self, new: Finding) -> bool:
        """Whether the rule found an error at that place, too, or another finding stood for it."""
        return any(
            old.severity is Severity.ERROR
            and (new.code == old.code or any(new.code == key[-1] for key in old.covers))
            and any(_overlap(each, self._new_places[new]) for each in self._ranges(old))
            for old in self._before.findings
        )


def _without_place(error: FileError) -> tuple[str, str, str]:
    return (error.code, error.location.path, error.message)


@dataclass(frozen=True)
class _Dropped:
    """A fix that is not offered again, for a finding at a place of the present text."""

    finding: Finding
    start: int
    end: int
    reason: str


class _Rounds(Generic[_Source]):
    """The rounds in which the fixes of a source are applied.

    Args:
        find: all that is found in a source; asked once for each text.
        wanted: the findings whose fixes are to be applied.
        made: the source with edits; None where they break it.
    """

    def __init__(
        self,
        find: Callable[[_Source], Sequence[Finding | FileError]],
        wanted: Callable[[_State[_Source]], list[Finding]],
        made: Callable[[_Source, Sequence[Edit]], _Source | None],
    ):
        self._find, self._wanted, self._made = find, wanted, made
        self._states: dict[str, _State[_Source]] = {}
        self._endless: set[str] = set()

    def state(self, source: _Source) -> _State[_Source]:
        """What is found in a source."""
        if source.text not in self._states:
            found = self._find(source)
            self._states[source.text] = _State(
                source,
                [each for each in found if isinstance(each, Finding)],
                [each for each in found if isinstance(each, FileError)],
            )
        return self._states[source.text]

    def run(self, source: _Source) -> tuple[_State[_Source], list[Finding], dict[Finding, str]]:
        """The last text, the findings whose fixes are in it, and those whose fixes were dropped, with the reasons."""
        while True:
            rounds = self._settled(source)
            if rounds is not None:
                return rounds

    def _settled(self, source: _Source) -> tuple[_State[_Source], list[Finding], dict[Finding, str]] | None:
        """The same; None where the rounds have no end: what the last one fixed is left alone from then on."""
        state = self.state(source)
        path: list[tuple[_State[_Source], list[Finding], list[_Dropped]]] = []
        dropped: list[_Dropped] = []
        is_stale = False
        for _ in range(_ROUNDS):
            reasons = _recognised(state, dropped)
            reasons |= {each: _NEVER_ENDS for each in self._wanted(state) if each.code in self._endless}
            step = self._step(state, reasons)
            dropped = [_Dropped(each, *state.place(each), reason) for each, reason in reasons.items()]
            if step is None:
                if not is_stale:
                    return state, [each for _, taken, _ in path for each in taken], reasons
                # Another run would try these again: what was dropped beside other fixes, or before them, may work by now.
                dropped, is_stale = [], False
                continue
            changed, edits, taken = step
            path.append((state, taken, dropped))
            seen = next((number for number, (each, *_) in enumerate(path) if each.source.text == changed.text), None)
            if seen is not None:
                state, undone, dropped = path[seen]
                dropped = [*dropped, *(_Dropped(each, *state.place(each), _UNDOES) for each in undone)]
                is_stale = False
                del path[seen:]
                continue
            moved = _Moved(edits)
            dropped = [_Dropped(each.finding, *moved.exact(each.start, each.end), each.reason) for each in dropped]
            is_stale = bool(dropped)
            state = self.state(changed)
        self._endless |= {finding.code for _, taken, _ in path[-1:] for finding in taken}
        return None

    def _step(
        self, state: _State[_Source], reasons: dict[Finding, str]
    ) -> tuple[_Source, list[Edit], list[Finding]] | None:
        """One round: the changed source, its edits, and the findings that are gone; None where nothing can be applied.

        Args:
            reasons: the findings whose fix was dropped, which get more.
        """
        while wanted := [finding for finding in self._wanted(state) if finding not in reasons]:
            fixes = [finding.fix for finding in wanted if finding.fix]
            changed, edits, applied = _accepted(state.source, fixes, self._made)
            if changed.text == state.source.text:
                reasons |= dict.fromkeys(wanted, _BREAKS)
                break
            comparison = _Comparison(state, self.state(changed), edits, applied)
            failed, why = comparison.left(), LEAVES_FINDING
            if not failed and comparison.causes_error():
                failed, why = self._blamed(state, applied), _CAUSES_ERROR
            if not failed:
                return changed, edits, [finding for finding in wanted if finding.fix in set(applied)]
            reasons |= {finding: why for finding in wanted if finding.fix in failed}
        return None

    def _blamed(self, state: _State[_Source], fixes: list[Fix]) -> set[Fix]:
        """Those of ``fixes`` that cause an error."""

        def is_good(edits: Sequence[Edit]) -> bool:
            changed = self._made(state.source, edits)
            return changed is not None and not _Comparison(state, self.state(changed), edits, fixes).causes_error()

        return _broken(state.source.text, fixes, is_good) or set(fixes)


def _recognised(state: _State[_Source], dropped: Sequence[_Dropped]) -> dict[Finding, str]:
    """The findings of a text whose fixes were dropped in an earlier one, with the reasons."""
    reasons = {(each.finding.code, each.finding.message, each.start, each.end): each.reason for each in dropped}
    found = ((finding, (finding.code, finding.message, *state.place(finding))) for finding in state.findings if reasons)
    return {finding: reasons[key] for finding, key in found if key in reasons}


def apply_fixes(
    source: _Source,
    find: Callable[[_Source], Sequence[Finding | FileError]],
    unsafe: bool,
    *,
    is_python: bool = True,
    edited: Callable[[_Source, Sequence[Edit]], _Source | None] = _edited,
    programs: Callable[[_Source], Sequence[str]] = _text_of,
    keep_reported: Callable[[_Source, Sequence[Finding]], Sequence[Finding]] | None = None,
) -> Fixed[_Source]:
    """Fix a source until nothing changes.

    Args:
        source: what to fix; it is not changed.
        find: the findings of a source, and what could not be analysed; edits count characters of its ``text``.
        unsafe: also apply fixes that may change results.
        is_python: whether the result has to parse; texts of other kinds are taken as the fixes leave them.
        edited: the source with edits; None where they cannot be written.
        programs: what of a source has to parse by itself, in order.
        keep_reported: selects the findings of a source to fix; None: all.

    The result parses, and compiles under the running Python if the original does. A fix is dropped, and the others are
    applied, where it breaks this, leaves its finding, causes an error that was not there, or undoes another fix. Fixing
    the result again changes nothing.
    """
    # A file may use syntax newer than the running Python: then libcst's parser alone decides. That refuses some mixtures of tabs and
    # spaces: then Python decides.
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    originals = [(text, _compiles(text)) for text in programs(source)] if is_python else []

    def made(source: _Source, edits: Sequence[Edit]) -> _Source | None:
        changed = edited(source, edits)
        if changed is None or not is_python or changed.text == source.text:
            return changed
        valid = all(
            text == original
            or (_compiles(text) or not compiles)
            and (_parses(text) or compiles and not _parses(original))
            for text, (original, compiles) in zip(programs(changed), originals)
        )
        return changed if valid else None

    def counting(state: _State[_Source]) -> list[Finding]:
        return list(state.findings if keep_reported is None else keep_reported(state.source, state.findings))

    def wanted(state: _State[_Source]) -> list[Finding]:
        return [
            finding
            for finding in counting(state)
            if finding.fix is not None
            and finding.fix.edits
            and not finding.fix.withheld
            and finding.fix.applicability in allowed
        ]

    last, applied, skipped = _Rounds(find, wanted, made).run(source)
    return Fixed(last.source, applied, counting(last), skipped)
