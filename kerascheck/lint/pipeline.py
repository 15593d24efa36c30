"""Lint the files of a run: triage, import graph, recall from the cache, check, merge."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence

from kerascheck.cache.memo import Memo
from kerascheck.catalog import registry
from kerascheck.lint import stored_results
from kerascheck.lint.analyze_file import Analysis, FileResult, with_large_stack, without_collector
from kerascheck.lint.importers import concerning, import_graphs, importers, is_in_graph
from kerascheck.lint.merge import merge, once_per_folder
from kerascheck.lint.triage import Candidate, Triage, callers_to_parse, is_used, triage
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import File
from kerascheck.project.import_graph import ImportGraph
from kerascheck.result import LintResult

_FEW = 10
"""Up to this number of candidates, parse them all, even those that matter only if an importer uses them."""
_FORK_FROM, _START_FROM = 3, 10
"""Files to check per additional process: a forked one, and one that must import everything."""
_LIGHT_BYTES = 50_000
"""Largest file that is checked without limits if processes cannot be forked."""
_CHUNK_BYTES = 400_000
"""Largest chunk of files for a process, to bound the memory of its trees."""
_CHUNKS_EACH = 16
"""Fewest chunks per process, to balance the load at the end of a run."""

Gather = Callable[[FileResult], None]


@without_collector()
def lint(
    files: Sequence[File],
    configuration: Configuration,
    *,
    jobs: int | None = None,
    noqa: bool = True,
    part: Sequence[File] | None = None,
    memo: Memo | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LintResult:
    """Lint the files of one run.

    Args:
        files: all files of the run.
        configuration: provides the settings of further files that import these.
        jobs: the most processes; None: one per usable processor.
        noqa: whether ``noqa`` comments suppress findings.
        part: the files to report on, with the same findings as in a run on all files; None: all.
        memo: results of an earlier run; this run adds its own.
        progress: called with the number of checked files and the total.

    Raises:
        ConfigError: the settings of a file select an unknown rule.
    """
    for settings in {file.settings for file in files}:
        registry.validate(settings)
    jobs = jobs or processors()
    candidates = _candidates(files, configuration, jobs, part, memo)
    results, candidates = stored_results.recall(candidates, noqa, memo)
    total = len(results) + len(candidates)
    keys = {file.path: stored_results.key_of(file, noqa) for file, _ in candidates} if memo is not None else {}

    def gather(result: FileResult) -> None:
        results.append(result)
        if memo is not None and result.follows_from is not None:
            memo.keep(keys[result.path], stored_results.to_json(result), result.follows_from)
        if progress is not None:
            progress(min(len(results), total), total)

    if candidates:
        _check(candidates, jobs, noqa, gather)
    return _merged(files, part, results)


def _candidates(
    files: Sequence[File], configuration: Configuration, jobs: int, part: Sequence[File] | None, memo: Memo | None
) -> list[Candidate]:
    """The files to check: those worth parsing, and the importers that may give findings in them."""
    known: dict[str, ImportGraph] = {}

    def prepare(file: File) -> None:
        # Other processes read the rest of the files meanwhile.
        load([file.settings])
        if is_in_graph(file):
            known.update(import_graphs([file], configuration, memo))

    triaged = [each for each in triage(files, jobs, memo, prepare) if each[1] is not Triage.SKIP]
    graphs = import_graphs((file for file, *_ in triaged if is_in_graph(file)), configuration, memo, known)
    # The words that make a file a candidate may be in an import outside this run.
    few = len(triaged) <= _FEW
    candidates = [
        (file, size)
        for file, decision, size in triaged
        if few or decision is Triage.PARSE or not is_in_graph(file) or is_used(file.path, graphs, memo)
    ]
    on_disk = [file for file, _ in candidates if is_in_graph(file)]
    candidates += callers_to_parse(importers(on_disk, graphs), memo)
    return candidates if part is None else concerning(part, candidates, graphs)


def _check(candidates: Sequence[Candidate], jobs: int, noqa: bool, gather: Gather) -> None:
    """Check files, in processes with limits if fork is available or files are large."""
    from kerascheck.lint import workers

    jobs = min(jobs, 1 + len(candidates) // (_FORK_FROM if workers.can_fork() else _START_FROM))
    if workers.can_fork():
        # A single process imports them itself, which leaves less memory to share with it.
        if jobs > 1 or len(candidates) > _FEW:
            load({file.settings for file, _ in candidates} if jobs > 1 else ())
    elif jobs == 1:
        # Starting a process takes longer than checking most files.
        _check_here([each for each in candidates if each[1] <= _LIGHT_BYTES], noqa, gather)
        candidates = [each for each in candidates if each[1] > _LIGHT_BYTES]
    if chunks := _chunks(candidates, jobs):
        with contextlib.closing(workers.Pool(jobs)) as processes:
            processes.check([(chunk, noqa, ()) for chunk in chunks], gather)


def _check_here(candidates: Sequence[Candidate], noqa: bool, gather: Gather) -> None:
    """Check files in this process, without limits."""
    chunks, analysis = _chunks(candidates), Analysis(noqa=noqa)

    def work() -> None:
        for chunk in chunks:
            for file in chunk:
                gather(analysis.check(file))
            analysis.make_room()

    with_large_stack(work)


def _merged(files: Sequence[File], part: Sequence[File] | None, results: Iterable[FileResult]) -> LintResult:
    outcome = merge(files if part is None else part, results)
    elsewhere = set() if part is None else {file.path for file in files} - {file.path for file in part}
    outcome.errors = once_per_folder(error for error in outcome.errors if error.location.path not in elsewhere)
    return outcome


def load(selected: Iterable[Settings]) -> None:
    """Import the modules that checking needs, and the selected rules, before processes are forked."""
    import kerascheck.meaning.module  # noqa: F401

    for settings in selected:
        for spec in registry.enabled(settings.selections):
            # Running the rule on a file reports the error.
            with contextlib.suppress(Exception):
                spec.rule  # noqa: B018


def _chunks(candidates: Sequence[Candidate], jobs: int = 1) -> list[list[File]]:
    """Group the files of a folder, since they tend to import each other; the largest chunks come first."""
    largest = _CHUNK_BYTES
    if jobs > 1:
        largest = min(largest, sum(size for _, size in candidates) // (jobs * _CHUNKS_EACH))
    folders: dict[tuple[str, Settings], list[Candidate]] = {}
    for file, size in candidates:
        folders.setdefault((os.path.dirname(file.path), file.settings), []).append((file, size))
    chunks: list[tuple[int, list[File]]] = []
    for members in folders.values():
        chunk: list[File] = []
        weight = 0
        for file, size in sorted(members, key=lambda member: -member[1]):
            if chunk and weight + size > largest:
                chunks.append((weight, chunk))
                chunk, weight = [], 0
            chunk.append(file)
            weight += size
        chunks.append((weight, chunk))
    chunks.sort(key=lambda item: (-item[0], item[1][0].path))
    return [chunk for _, chunk in chunks]


def processors() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
