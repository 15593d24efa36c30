"""Apply fixes: compose edits, apply until nothing changes, write atomically.

A fix is all or nothing. Everything outside its edits is kept byte for byte: texts are
cut and joined, never generated.
"""

from __future__ import annotations

import ast
import contextlib
import os
import stat
import tempfile
import warnings
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kerascheck.finding import Applicability, Edit, Finding, Fix, with_edits

_ROUNDS = 10
"""A fix may uncover another finding; a chain longer than this is a fault of the rules."""


_Source = TypeVar("_Source", bound="Editable")


class Editable(Protocol):
    """A source whose text can be replaced, such as ``kerascheck.source.Source``."""

    @property
    def text(self) -> str: ...

    def with_text(self: _Source, text: str) -> _Source:
        """The same source with another text."""


@dataclass(frozen=True)
class Fixed(Generic[_Source]):
    """What :func:`apply_fixes` did to one source."""

    source: _Source
    """The source after all fixes; equal to the original where nothing was applied."""
    applied: list[Finding]
    """Findings whose fix is in ``text``; their places are those of the round that applied them."""
    remaining: list[Finding]
    """Every finding that ``text`` still has."""
    skipped: list[Finding]
    """Those of ``remaining`` whose applicable fix was refused: it breaks the syntax, undoes
    another fix, overlaps itself, or the rounds ran out."""

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
) -> tuple[_Source, list[Fix]]:
    """Compose ``fixes`` without those that break ``source``.

    Args:
        made: the source with edits; None where they break it.
    """
    while True:
        edits, applied = _fitting(source.text, fixes)
        changed = made(source, edits) if edits else source
        if changed is not None:
            return changed, applied
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


def apply_fixes(
    source: _Source,
    find: Callable[[_Source], Sequence[Finding]],
    unsafe: bool,
    *,
    is_python: bool = True,
    edited: Callable[[_Source, Sequence[Edit]], _Source | None] = _edited,
    programs: Callable[[_Source], Sequence[str]] = _text_of,
) -> Fixed[_Source]:
    """Fix a source until nothing changes, in at most 10 rounds.

    Args:
        source: what to fix; it is not changed.
        find: the findings of a source; their edits count characters of its ``text``.
        unsafe: also apply fixes that may change results.
        is_python: whether the result has to parse; texts of other kinds are taken as the fixes leave them.
        edited: the source with edits; None where they cannot be written.
        programs: what of a source has to parse by itself, in order.

    The result parses, and compiles under the running Python if the original does: a fix
    that would break this is dropped, and the others are applied. A round that leads back
    to an earlier text is not applied.
    """
    # A file may use syntax newer than the running Python: then the parser alone decides.
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    originals = [(text, _compiles(text)) for text in programs(source)] if is_python else []

    def made(source: _Source, edits: Sequence[Edit]) -> _Source | None:
        changed = edited(source, edits)
        if changed is None or not is_python or changed.text == source.text:
            return changed
        valid = all(
            text == original or (not compiles or _compiles(text)) and _parses(text)
            for text, (original, compiles) in zip(programs(changed), originals)
        )
        return changed if valid else None

    seen = {source.text}
    applied: list[Finding] = []
    for round_number in range(_ROUNDS + 1):
        findings = list(find(source))
        wanted = [
            finding
            for finding in findings
            if finding.fix is not None
            and finding.fix.edits
            and not finding.fix.withheld
            and finding.fix.applicability in allowed
        ]
        if round_number == _ROUNDS:
            break
        changed, fixes = _accepted(source, [finding.fix for finding in wanted if finding.fix], made)
        if changed.text in seen:
            break
        seen.add(changed.text)
        done = set(fixes)
        applied += (finding for finding in wanted if finding.fix in done)
        source = changed
    return Fixed(source, applied, findings, wanted)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the content of an existing file in one step, keeping its permissions and, where allowed, its owner.

    A symbolic link stays, and the file that it leads to is replaced. A reader sees the
    old content or the new, never a part. A file with several hard links parts from the others.

    Raises:
        OSError: the file is missing or read-only, or its directory cannot be written;
            nothing has changed then. ``filename`` is ``path``.
    """
    target = os.path.realpath(path)
    temporary = None
    try:
        status = os.stat(target)
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "The file is read-only")
        handle, temporary = tempfile.mkstemp(
            prefix=f".{os.path.basename(target)}.", suffix=".kerascheck", dir=os.path.dirname(target)
        )
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            # Only the superuser may give files away; chown clears mode bits, so the mode comes second.
            with contextlib.suppress(AttributeError, PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException as problem:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(problem, OSError):
            raise type(problem)(problem.errno, problem.strerror, os.fspath(path)) from problem
        raise
