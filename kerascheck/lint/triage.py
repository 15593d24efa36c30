"""Triage: decide which files are worth parsing, from their bytes.

libcst takes 0.4 s to import, and parsing is most of a run. Only files that may have a finding reach it.
"""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from kerascheck.cache.memo import Memo
from kerascheck.cache.written import Damaged, write
from kerascheck.cache.written import read as read_back
from kerascheck.catalog import registry
from kerascheck.lint.trigger_search import (
    code_without_comments,
    has_any,
    has_words,
    method_triggers,
    triggers_are_names,
    triggers_in_code,
)
from kerascheck.project.discovery import File
from kerascheck.project.import_graph import ImportGraph, project_root
from kerascheck.project.requirements import is_about_tensorflow, kind_of
from kerascheck.project.suppression import speaks_to_us
from kerascheck.source import Source, Unreadable, decode, dependencies
from kerascheck.source.code import without_comments
from kerascheck.source.notebook import header_for
from kerascheck.source.python import is_refused
from kerascheck.source.reading import read_bytes

_SPREAD_FROM, _FORK_FROM = 200, 20
"""Minimum files for which spawning processes saves time, or forking them while this process imports the rules."""
_FILES_EACH = 150
"""Files per additional process."""
_LARGE_BYTES = 300_000
"""Largest text that this process parses with ``ast``."""


class Triage(enum.Enum):
    """A decision about a file."""

    SKIP = enum.auto()
    IF_USED = enum.auto()
    """Parse it if an importer has the words that the rules need, see :attr:`Rule.needs`."""
    PARSE = enum.auto()


Triaged = tuple[Triage, int]
"""The decision about a file, and its size in bytes."""
Candidate = tuple[File, int]
"""A file to parse, and its size in bytes."""


def triage(
    files: Sequence[File],
    jobs: int = 1,
    memo: Memo | None = None,
    meanwhile: Callable[[File], None] = lambda file: None,
) -> list[tuple[File, Triage, int]]:
    """Decide for each file whether to parse it; returns the decisions with the sizes of the files.

    Args:
        jobs: processes to use at most.
        memo: the decisions of an earlier run.
        meanwhile: called with the first file to parse while other processes read the rest.
    """
    decisions = {
        file.path: decision for file in files if file.content is None and (decision := _recalled(file.path, memo))
    }
    paths = [file.path for file in files if file.content is None and file.path not in decisions]
    if jobs > 1 and _is_worth_spreading(len(paths)):
        from kerascheck.lint import workers

        by_path = {file.path: file for file in files}
        # Requirements files come last: ``meanwhile`` imports the rules, which these files do not need.
        paths.sort(key=lambda path: kind_of(path) is not None)
        found = workers.spread(
            functools.partial(_classify_in_worker, is_tracked=memo is not None),
            paths,
            min(jobs, 1 + len(paths) // _FILES_EACH),
            tells=lambda result: result[0][0] is Triage.PARSE,
            meanwhile=lambda path: meanwhile(by_path[path]),
        )
        for path, result in zip(paths, found):
            # A file that crashed the process is checked later, in a worker.
            decisions[path], deps = result or ((Triage.PARSE, 0), [])
            if memo is not None and result is not None:
                numbers = [memo.tracker.add(dep) for dep in deps if dep is not None]
                memo.keep(f"kind {path}", write(decisions[path]), numbers)
    else:
        decisions.update((path, _memoised(path, memo)) for path in paths)
    return [(file, *_decision_for(file, decisions)) for file in files]


def _is_worth_spreading(files: int) -> bool:
    """Whether other processes save time for this number of files."""
    if files <= min(_SPREAD_FROM, _FORK_FROM):
        return False
    from kerascheck.lint import workers

    return files > _SPREAD_FROM or workers.can_fork()


def _decision_for(file: File, decisions: Mapping[str, Triaged]) -> Triaged:
    return decisions[file.path] if file.content is None else _classify_content(file.path, file.content)


def _classify_in_worker(path: str, is_tracked: bool) -> tuple[Triaged, list[dependencies.Dependency | None]]:
    """Run :func:`_classify` in another process, with its dependencies if ``is_tracked``."""
    if not is_tracked:
        return _classify(path), []
    tracker = dependencies.DependencyTracker()
    with dependencies.tracking(tracker):
        return _classify(path), tracker.dependencies


def callers_to_parse(files: Iterable[File], memo: Memo | None = None) -> list[Candidate]:
    """Select the importers of checked files that are parsed too.

    A script that fits a model of one module to the data of another need not mention Keras.
    """
    classified = [(file, *_memoised(file.path, memo, calls=True)) for file in files]
    return [(file, size) for file, decision, size in classified if decision is Triage.PARSE]


def _recalled(path: str, memo: Memo | None) -> Triaged | None:
    known = None if memo is None else memo.recall(f"kind {path}")
    try:
        return None if known is None else read_back(Triaged, known)
    except Damaged:
        return None


def _memoised(path: str, memo: Memo | None, calls: bool = False) -> Triaged:
    """:func:`_classify`, from the memo if possible."""
    if memo is None:
        return _classify(path, calls)
    return memo.once(f"{'caller' if calls else 'kind'} {path}", Triaged, lambda: _classify(path, calls))


def _classify(path: str, calls: bool = False) -> tuple[Triage, int]:
    """Decide for the file at ``path``; ``calls``: it imports a checked file."""
    try:
        data = read_bytes(path)
    except OSError:
        # Checking it reads it again, and reports the error.
        return Triage.PARSE, 0
    return _classify_content(path, data, calls)


def _classify_content(path: str, data: bytes, calls: bool = False) -> tuple[Triage, int]:
    if kind_of(path) is not None:
        return (Triage.PARSE if is_about_tensorflow(data) else Triage.SKIP), len(data)
    if path.endswith(".ipynb"):
        return (Triage.PARSE if _notebook_matters(path, data, calls) else Triage.SKIP), len(data)
    return triage_code(data, calls), len(data)


def triage_code(code: bytes, calls: bool = False) -> Triage:
    """Decide whether to parse code: for findings, or for its syntax error."""
    if len(code) > _LARGE_BYTES:
        # Python's parser could exceed the time and memory for one file.
        parse = has_words(code, calls)
    elif _is_candidate(code, calls):
        if not calls:
            return _triage_by_triggers(code)
        parse = True
    else:
        parse = is_refused(code)
    return Triage.PARSE if parse else Triage.SKIP


def is_used(path: str, graphs: Mapping[str, ImportGraph], memo: Memo | None) -> bool:
    """Whether a direct or indirect importer of a file has the words that rules need besides a trigger."""
    graph = graphs[project_root(path)]
    return any(_memoised_use(importer, memo) for importer in graph.reaching([path]) - {os.path.abspath(path)})


def _memoised_use(path: str, memo: Memo | None) -> bool:
    return _uses(path) if memo is None else memo.once(f"uses {path}", bool, lambda: _uses(path))


def _uses(path: str) -> bool:
    """Whether a file has a word that a rule needs besides a trigger."""
    try:
        code = read_bytes(path)
    except OSError:
        return True
    return any(has_any(code, registry.needed(trigger)) for trigger in registry.triggers())


def _notebook_matters(path: str, data: bytes, calls: bool) -> bool:
    """Whether to parse a notebook."""
    try:
        return is_notebook_candidate(decode(path, data), calls)
    except Unreadable:
        return True


def is_notebook_candidate(notebook: Source, calls: bool = False) -> bool:
    """Whether to parse a notebook; ``calls``: it imports a checked file."""
    # Search each cell separately: an open quote in one must not hide the others.
    cells = [notebook.text[cell.start : cell.end] for cell in notebook.cells or ()]
    code = "\n".join(map(without_comments, cells)).encode("utf-8", "surrogatepass")
    if has_words(code, calls) or speaks_to_us(notebook.text):
        return True
    return len(code) <= _LARGE_BYTES and any(is_refused(header_for(cell) + cell) for cell in cells)


def _triage_by_triggers(code: bytes) -> Triage:
    """Decide by the triggers in the code."""
    if not triggers_are_names() or speaks_to_us(code):
        return Triage.PARSE
    written = code_without_comments(code)
    if any(trigger in written for trigger in method_triggers()):
        return Triage.PARSE
    try:
        held = triggers_in_code(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Parsing it reports the error.
        return Triage.PARSE
    if not held:
        return Triage.SKIP
    needs = [registry.needed(trigger) for trigger in held]
    return Triage.PARSE if not all(needs) or has_any(code, frozenset().union(*needs)) else Triage.IF_USED


def _is_candidate(data: bytes, calls: bool = False) -> bool:
    """Whether a rule can find something in code; ``calls``: it imports a file that has such words.

    The first search includes comments, since most files lack the words even there.
    """
    return has_words(data, calls) and has_words(code_without_comments(data), calls) or speaks_to_us(data)
