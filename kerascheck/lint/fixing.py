"""Apply fixes to a text, and lint the changed text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kerascheck.finding import FileError, Finding
from kerascheck.lint.analyze_file import Analysis, with_large_stack
from kerascheck.lint.merge import merge
from kerascheck.project.discovery import File
from kerascheck.project.requirements import kind_of
from kerascheck.result import LintResult
from kerascheck.source import Source
from kerascheck.source.rewriting import edited, programs

if TYPE_CHECKING:
    from kerascheck.fixes.apply import Fixed


def fix(
    source: Source,
    file: File,
    outcome: LintResult,
    *,
    unsafe: bool,
    unsaved: Sequence[Source] = (),
    keep_reported: Callable[[Source, Sequence[Finding]], list[Finding]] | None = None,
) -> Fixed[Source]:
    """Apply the fixes of a file's findings to its text; unsafe ones if ``unsafe``.

    Args:
        outcome: the result with the findings. Other files whose check found something in this one are checked again
            after every change.
        unsaved: sources that replace files on disk.
        keep_reported: selects the findings of a changed text to fix; None: all.
    """
    from kerascheck.fixes.apply import apply_fixes

    def find(changed: Source) -> list[Finding | FileError]:
        found = _of_changed(changed, file, outcome, unsaved)
        return [*found.findings, *found.errors]

    is_python = kind_of(source.path) is None
    return with_large_stack(
        lambda: apply_fixes(
            source, find, unsafe, is_python=is_python, edited=edited, programs=programs, keep_reported=keep_reported
        )
    )


def of_changed(changed: Source, file: File, outcome: LintResult) -> list[Finding]:
    """The findings of a changed text of a file, including those from other files.

    Args:
        outcome: the result with the findings of the original text.
    """
    return with_large_stack(lambda: _of_changed(changed, file, outcome)).findings


def _of_changed(changed: Source, file: File, outcome: LintResult, unsaved: Sequence[Source] = ()) -> LintResult:
    others = [File(path, file.settings) for path in sorted(outcome.checked_from.get(file.path, ()))]
    analysis = Analysis([changed, *unsaved])
    return merge([file], [analysis.check(each) for each in (file, *others)])
