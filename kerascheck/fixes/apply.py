"""Application of fixes: compose edits, and repeat until nothing changes.

A fix is atomic. All text outside its edits stays byte for byte: edits cut and join text and never regenerate it. A fix that
leaves its finding, or causes an error, is dropped.
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
"""Maximum rounds. A fix may uncover another finding, but only faulty rules produce a longer chain."""

LEAVES_FINDING = "leaves its finding"
_CAUSES_ERROR = "causes an error that was not there"
_UNDOES = "undoes another fix"
_NEVER_ENDS = "never comes to an end"
_BREAKS = "breaks the program"


_Source = TypeVar("_Source", bound="Editable")


class Editable(Protocol):
    """A source with replaceable text, such as ``kerascheck.source.Source``."""

    @property
    def text(self) -> str: ...

    def with_text(self: _Source, text: str) -> _Source:
        """Return the source with another text."""

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column of the text."""

    def lines_above(self, cell: int | None) -> int:
        """Return the number of lines above a cell."""


@dataclass(frozen=True)
class Fixed(Generic[_Source]):
    """The result of :func:`apply_fixes` for one source."""

    source: _Source
    """The source after all fixes; equal to the original if none was applied."""
    applied: list[Finding]
    """Findings whose fixes are in ``text``, located as in the round that applied them."""
    remaining: list[Finding]
    """All findings of ``text``."""
    skipped: Mapping[Finding, str]
    """Those of ``remaining`` whose applicable fix was dropped, with the reason: "leaves its finding"."""

    @property
    def text(self) -> str:
        """The text of ``source``."""
        return self.source.text


class _AcceptedEdits:
    """The edits accepted so far; edits of one fix may touch, those of two fixes may not."""

    def __init__(self, length: int):
        self._length = length
        self._ranges: list[tuple[int, int]] = []
        self._insertions: set[Edit] = set()
        self._whole: set[tuple[Edit, ...]] = set()
        self.edits: list[Edit] = []

    def accept(self, fix: Fix) -> bool:
        """Accept all edits of ``fix``, or none if one conflicts."""
        edits = tuple(dict.fromkeys(fix.edits))
        if edits in self._whole:
            return True
        new = [edit for edit in edits if edit not in self._insertions]
        ordered = sorted(edits, key=_span)
        if any(before.end > after.start for before, after in zip(ordered, ordered[1:])):
            return False
        if any(not 0 <= edit.start <= edit.end <= self._length for edit in edits):
            return False
        if any(self._conflicts(edit) for edit in new):
            return False
        for edit in new:
            insort(self._ranges, _span(edit))
        self.edits += new
        self._insertions.update(edit for edit in new if edit.start == edit.end)
        self._whole.add(edits)
        return True

    def _conflicts(self, edit: Edit) -> bool:
        # Ranges do not overlap, so only the last one that starts at or before the end can reach the edit.
        index = bisect_right(self._ranges, (edit.end, self._length))
        return index > 0 and self._ranges[index - 1][1] >= edit.start


def _span(edit: Edit) -> tuple[int, int]:
    return (edit.start, edit.end)


def _sort_key(fix: Fix) -> tuple[tuple[int, int], tuple[int, int], tuple[Edit, ...], str]:
    places = [_span(edit) for edit in fix.edits]
    return (min(places), max(places), fix.edits, fix.message)


def compose(text: str, fixes: Iterable[Fix]) -> tuple[str, list[Fix]]:
    """Apply as many whole fixes as fit together, in one pass.

    The order is that of the first edit of each fix. A fix is omitted if one of its edits overlaps or touches an edit of an accepted
    fix. Identical insertions at the same offset, such as an import that two fixes need, are made once. Insertions of one fix at the
    same offset keep their order.

    Returns:
        The new text and the fixes in it.
    """
    edits, applied = _compatible(text, fixes)
    return with_edits(text, edits), applied


def _compatible(text: str, fixes: Iterable[Fix]) -> tuple[list[Edit], list[Fix]]:
    """Return the edits of :func:`compose` in source order, and their fixes."""
    accepted = _AcceptedEdits(len(text))
    applied = [fix for fix in sorted((fix for fix in fixes if fix.edits), key=_sort_key) if accepted.accept(fix)]
    return sorted(accepted.edits, key=_span), applied


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Notebooks may use top-level await.
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


def _compose_valid(
    source: _Source, fixes: Sequence[Fix], try_edits: Callable[[_Source, Sequence[Edit]], _Source | None]
) -> tuple[_Source, list[Edit], list[Fix]]:
    """Compose ``fixes`` except those that break ``source``.

    Args:
        source: the source.
        fixes: candidates.
        try_edits: returns the source with edits, or None if they break it.

    Returns:
        The new source, its edits, and their fixes.
    """
    while True:
        edits, applied = _compatible(source.text, fixes)
        changed = try_edits(source, edits) if edits else source
        if changed is not None:
            return changed, edits, applied
        # Without the broken fixes, others that conflicted with them may fit.
        broken = _breaking(source.text, applied, lambda edits: try_edits(source, edits) is not None)
        fixes = [fix for fix in fixes if fix not in broken]


def _breaking(text: str, fixes: list[Fix], valid: Callable[[Sequence[Edit]], bool]) -> set[Fix]:
    """Return the fixes to omit from ``fixes``, which break ``text`` together; uses bisection."""
    good: list[Fix] = []
    broken: set[Fix] = set()
    pending = [fixes]
    while pending:
        group = pending.pop()
        trial, _ = _compatible(text, [*good, *group])
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


class _OffsetMap:
    """A mapping of offsets before some edits to offsets after them.

    Args:
        edits: in source order, without overlaps.
    """

    def __init__(self, edits: Sequence[Edit]):
        self._edits = edits

    def exact(self, start: int, end: int) -> tuple[int, int]:
        """Map a range, without insertions at its borders."""
        return self._offset(start, inserted=True), self._offset(end, inserted=False, is_end=True)

    def wide(self, start: int, end: int) -> tuple[int, int]:
        """Map a range, with insertions at its borders."""
        return self._offset(start, inserted=False), self._offset(end, inserted=True, is_end=True)

    def _offset(self, offset: int, *, inserted: bool, is_end: bool = False) -> int:
        """Map an offset; ``inserted``: whether an insertion at ``offset`` itself precedes it."""
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
class _Snapshot(Generic[_Source]):
    """A text of one round with all its findings."""

    source: _Source
    findings: Sequence[Finding]
    errors: Sequence[FileError]

    def span_of(self, finding: Finding) -> tuple[int, int]:
        """Return the range of the text that a finding marks."""
        where, above = finding.location, self.source.lines_above(finding.location.cell)
        return (
            self.source.offset(where.line + above, where.column),
            self.source.offset(where.end_line + above, where.end_column),
        )

    def marked(self, finding: Finding) -> str:
        """Return the text that a finding marks, without white space."""
        start, end = self.span_of(finding)
        return "".join(self.source.text[start:end].split())


class _Comparison(Generic[_Source]):
    """A comparison of the findings before and after some edits.

    A finding stays if its rule reports the same for the same code: at the mapped range, or for the same tokens in the text that
    a fix wrote. A finding of the rule elsewhere, such as at the next call of a chain, is a new one.

    Args:
        before: the round before.
        after: the round after.
        edits: the edits in between.
        fixes: the fixes of ``edits``.
    """

    def __init__(
        self, before: _Snapshot[_Source], after: _Snapshot[_Source], edits: Sequence[Edit], fixes: Iterable[Fix]
    ):
        self._before, self._after = before, after
        self._offset_map = _OffsetMap(edits)
        self._fixes = frozenset(fixes)
        self._spans = {finding: before.span_of(finding) for finding in before.findings}
        self._new_spans = {finding: after.span_of(finding) for finding in after.findings}
        self._staying = self._matches()

    def _matches(self) -> dict[Finding, Finding]:
        """Match old findings to new ones: each new finding corresponds to the nearest old one."""
        alike: dict[tuple[str, str], list[Finding]] = {}
        unmoved = {}
        for new in self._after.findings:
            alike.setdefault((new.code, new.message), []).append(new)
            unmoved[new.code, new.message, self._new_spans[new]] = new
        staying: dict[Finding, Finding] = {}
        for old in self._before.findings:
            if same := unmoved.pop((old.code, old.message, self._offset_map.exact(*self._spans[old])), None):
                staying[old] = same
        taken = set(staying.values())
        pairs = []
        for number, old in enumerate(each for each in self._before.findings if each not in staying):
            candidates = [new for new in alike.get((old.code, old.message), ()) if new not in taken]
            ranges = self._ranges(old) if candidates else []
            exact = self._offset_map.exact(*self._spans[old])
            marked = self._before.marked(old)
            for new in candidates:
                start, end = self._new_spans[new]
                is_around = start <= exact[0] and exact[1] <= end
                is_alike = marked == self._after.marked(new) and any(_overlap(each, (start, end)) for each in ranges)
                if is_around or is_alike:
                    # Prefer to match findings without an applied fix.
                    pairs.append((old.fix in self._fixes, abs(start - exact[0]), number, old, new))
        for *_, old, new in sorted(pairs, key=lambda pair: pair[:3]):
            if old not in staying and new not in taken:
                staying[old] = new
                taken.add(new)
        return staying

    def _ranges(self, old: Finding) -> list[tuple[int, int]]:
        """Return the possible ranges of a finding in the new text."""
        place = self._spans[old]
        found = [self._offset_map.wide(*place)]
        for fix in self._fixes:
            edits = [(edit.start, edit.end) for edit in fix.edits]
            # A statement may have moved, with all its findings.
            if fix == old.fix or any(_overlap(each, place) for each in edits):
                found += (self._offset_map.wide(*each) for each in edits)
        return found

    def unresolved(self) -> set[Fix]:
        """Return the fixes that leave their finding."""
        return {old.fix for old in self._staying if old.fix is not None and old.fix in self._fixes}

    def causes_error(self) -> bool:
        """Whether there is a new error: a finding of that severity, or an error of the file."""
        if Counter(map(_without_location, self._after.errors)) - Counter(map(_without_location, self._before.errors)):
            return True
        return any(new.severity is Severity.ERROR and not self._was_error(new) for new in self._after.findings)

    def _was_error(self, new: Finding) -> bool:
        """Whether the rule reported an error at the same range before, or another finding covered it."""
        return any(
            old.severity is Severity.ERROR
            and (new.code == old.code or any(new.code == key[-1] for key in old.covers))
            and any(_overlap(each, self._new_spans[new]) for each in self._ranges(old))
            for old in self._before.findings
        )


def _without_location(error: FileError) -> tuple[str, str, str]:
    return (error.code, error.location.path, error.message)


@dataclass(frozen=True)
class _DroppedFix:
    """A dropped fix, with the range of its finding in the current text."""

    finding: Finding
    start: int
    end: int
    reason: str


class _Rounds(Generic[_Source]):
    """The rounds that apply the fixes of a source.

    Args:
        find: returns all findings of a source; called once per text.
        wanted: selects the findings to fix.
        try_edits: returns the source with edits, or None if they break it.
    """

    def __init__(
        self,
        find: Callable[[_Source], Sequence[Finding | FileError]],
        wanted: Callable[[_Snapshot[_Source]], list[Finding]],
        try_edits: Callable[[_Source, Sequence[Edit]], _Source | None],
    ):
        self._find, self._wanted, self._try_edits = find, wanted, try_edits
        self._states: dict[str, _Snapshot[_Source]] = {}
        self._endless: set[str] = set()

    def state(self, source: _Source) -> _Snapshot[_Source]:
        """Return the findings of a source."""
        if source.text not in self._states:
            found = self._find(source)
            self._states[source.text] = _Snapshot(
                source,
                [each for each in found if isinstance(each, Finding)],
                [each for each in found if isinstance(each, FileError)],
            )
        return self._states[source.text]

    def run(self, source: _Source) -> tuple[_Snapshot[_Source], list[Finding], dict[Finding, str]]:
        """Return the final text, the fixed findings, and the findings with dropped fixes and reasons."""
        while True:
            rounds = self._run_to_fixpoint(source)
            if rounds is not None:
                return rounds

    def _run_to_fixpoint(self, source: _Source) -> tuple[_Snapshot[_Source], list[Finding], dict[Finding, str]] | None:
        """Return the same; None if the rounds do not terminate: later runs skip the fixes of the last round."""
        state = self.state(source)
        path: list[tuple[_Snapshot[_Source], list[Finding], list[_DroppedFix]]] = []
        dropped: list[_DroppedFix] = []
        is_stale = False
        for _ in range(_ROUNDS):
            reasons = _carried_over(state, dropped)
            reasons |= {each: _NEVER_ENDS for each in self._wanted(state) if each.code in self._endless}
            result = self._round(state, reasons)
            dropped = [_DroppedFix(each, *state.span_of(each), reason) for each, reason in reasons.items()]
            if result is None:
                if not is_stale:
                    return state, [each for _, taken, _ in path for each in taken], reasons
                # Dropped fixes may work by now, after or without other fixes; another run would try them again.
                dropped, is_stale = [], False
                continue
            changed, edits, taken = result
            path.append((state, taken, dropped))
            seen = next((number for number, (each, *_) in enumerate(path) if each.source.text == changed.text), None)
            if seen is not None:
                state, undone, dropped = path[seen]
                dropped = [*dropped, *(_DroppedFix(each, *state.span_of(each), _UNDOES) for each in undone)]
                is_stale = False
                del path[seen:]
                continue
            offset_map = _OffsetMap(edits)
            dropped = [
                _DroppedFix(each.finding, *offset_map.exact(each.start, each.end), each.reason) for each in dropped
            ]
            is_stale = bool(dropped)
            state = self.state(changed)
        self._endless |= {finding.code for _, taken, _ in path[-1:] for finding in taken}
        return None

    def _round(
        self, state: _Snapshot[_Source], reasons: dict[Finding, str]
    ) -> tuple[_Source, list[Edit], list[Finding]] | None:
        """Run one round: return the changed source, its edits, and the fixed findings; None if no fix applies.

        Args:
            state: the current text.
            reasons: findings with dropped fixes; the round adds more.
        """
        while wanted := [finding for finding in self._wanted(state) if finding not in reasons]:
            fixes = [finding.fix for finding in wanted if finding.fix]
            changed, edits, applied = _compose_valid(state.source, fixes, self._try_edits)
            if changed.text == state.source.text:
                reasons |= dict.fromkeys(wanted, _BREAKS)
                break
            comparison = _Comparison(state, self.state(changed), edits, applied)
            failed, why = comparison.unresolved(), LEAVES_FINDING
            if not failed and comparison.causes_error():
                failed, why = self._culprits(state, applied), _CAUSES_ERROR
            if not failed:
                return changed, edits, [finding for finding in wanted if finding.fix in set(applied)]
            reasons |= {finding: why for finding in wanted if finding.fix in failed}
        return None

    def _culprits(self, state: _Snapshot[_Source], fixes: list[Fix]) -> set[Fix]:
        """Return the fixes that cause an error."""

        def is_good(edits: Sequence[Edit]) -> bool:
            changed = self._try_edits(state.source, edits)
            return changed is not None and not _Comparison(state, self.state(changed), edits, fixes).causes_error()

        return _breaking(state.source.text, fixes, is_good) or set(fixes)


def _carried_over(state: _Snapshot[_Source], dropped: Sequence[_DroppedFix]) -> dict[Finding, str]:
    """Return the findings whose fixes were dropped in an earlier text, with the reasons."""
    reasons = {(each.finding.code, each.finding.message, each.start, each.end): each.reason for each in dropped}
    found = (
        (finding, (finding.code, finding.message, *state.span_of(finding))) for finding in state.findings if reasons
    )
    return {finding: reasons[key] for finding, key in found if key in reasons}


def _validated(
    source: _Source,
    edited: Callable[[_Source, Sequence[Edit]], _Source | None],
    programs: Callable[[_Source], Sequence[str]],
) -> Callable[[_Source, Sequence[Edit]], _Source | None]:
    """Return ``edited``, restricted to results that are as valid as the programs of ``source``."""
    # A file may use syntax newer than the running Python: then libcst's parser alone decides. libcst rejects some mixtures of tabs
    # and spaces: then Python decides.
    originals = [(text, _compiles(text)) for text in programs(source)]

    def try_edits(source: _Source, edits: Sequence[Edit]) -> _Source | None:
        changed = edited(source, edits)
        if changed is None or changed.text == source.text:
            return changed
        valid = all(
            text == original
            or (_compiles(text) or not compiles)
            and (_parses(text) or compiles and not _parses(original))
            for text, (original, compiles) in zip(programs(changed), originals)
        )
        return changed if valid else None

    return try_edits


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

    The result parses, and compiles under the running Python if the original does. A fix is dropped if it breaks this, leaves its
    finding, causes a new error, or undoes another fix; all others are applied. Fixing the result again changes nothing.

    Args:
        source: the source; it stays unchanged.
        find: returns findings and analysis errors of a source; edits count characters of its ``text``.
        unsafe: also apply fixes that may change results.
        is_python: whether the result has to parse; texts of other kinds are not checked.
        edited: returns the source with edits, or None if they cannot be written.
        programs: returns the parts of a source that have to parse by themselves, in order.
        keep_reported: selects the findings that count; others are not fixed. None selects all.
    """
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    try_edits = _validated(source, edited, programs) if is_python else edited

    def counting(state: _Snapshot[_Source]) -> list[Finding]:
        return list(state.findings if keep_reported is None else keep_reported(state.source, state.findings))

    def wanted(state: _Snapshot[_Source]) -> list[Finding]:
        return [
            finding
            for finding in counting(state)
            if finding.fix is not None
            and finding.fix.edits
            and not finding.fix.withheld
            and finding.fix.applicability in allowed
        ]

    last, applied, skipped = _Rounds(find, wanted, try_edits).run(source)
    return Fixed(last.source, applied, counting(last), skipped)
