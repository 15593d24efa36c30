"""Lint one text after another, as editors and flake8 do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kerascheck.catalog import registry
from kerascheck.lint.analyze_file import Analysis, FileResult, with_large_stack
from kerascheck.lint.merge import merge
from kerascheck.lint.pipeline import load, processors
from kerascheck.lint.triage import Triage, callers_to_parse, is_notebook_candidate, triage_code
from kerascheck.project.config import Configuration
from kerascheck.project.discovery import File
from kerascheck.project.import_graph import ImportGraph, project_root
from kerascheck.project.requirements import kind_of
from kerascheck.result import LintResult
from kerascheck.source import Source, Unreadable, read

if TYPE_CHECKING:
    from kerascheck.lint import workers

_PROCESSES = 4
"""Most processes of a session."""
_KEPT_FILES = 200
"""Most files with kept trees, to bound the memory of a session."""


class Session:
    """Lints one text after another for editors and flake8.

    Args:
        configuration: provides the settings of files.
        noqa: whether ``noqa`` comments suppress findings.
        keep: whether to reuse results; only valid while files do not change.
        jobs: the most processes, if they can be forked. None: one per usable processor, up to four, since each
            process keeps its own trees.
    """

    def __init__(self, configuration: Configuration, *, noqa: bool = True, keep: bool = True, jobs: int | None = None):
        self._configuration, self._noqa, self._keep = configuration, noqa, keep
        self._jobs = jobs or min(_PROCESSES, processors())
        self._graphs: dict[str, ImportGraph] = {}
        self._analysis = Analysis(noqa=noqa)
        self._pool: workers.Pool | None = None
        self._results: dict[str, FileResult] = {}

    def lint(self, source: Source, unsaved: Sequence[Source] = ()) -> LintResult:
        """Lint a text instead of the file at its path, with other ``unsaved`` texts; raises :class:`ConfigError`."""
        file = self._file(source)
        if (outcome := self._result_without_rules(source, file)) is not None:
            return outcome
        return merge([file], self._check(source, [file, *self._callers(source.path)], unsaved))

    def steps(self, source: Source, unsaved: Sequence[Source] = ()) -> Iterator[tuple[LintResult, bool]]:
        """Lint in steps: first the text by itself, then with more and more of its importers.

        Each step checks as many importers as there are processes. Later steps run only if the caller takes them.

        Yields:
            The result so far, and whether it is complete.

        Raises:
            ConfigError: the configuration is invalid.
        """
        file = self._file(source)
        if (outcome := self._result_without_rules(source, file)) is not None:
            yield outcome, True
            return
        results = self._check(source, [file], unsaved)
        # Building the import graph of a project may take as long as checking a file.
        if project_root(source.path) not in self._graphs or self._importers(source.path):
            yield merge([file], results, are_all=False), False
        others = self._callers(source.path)
        for start in range(0, len(others), self._jobs):
            if start:
                yield merge([file], results, are_all=False), False
            results = results + self._check(source, others[start : start + self._jobs], unsaved)
        yield merge([file], results), True

    def _file(self, source: Source) -> File:
        settings = self._configuration.for_file(source.path)
        registry.validate(settings)
        return File(source.path, settings)

    def _result_without_rules(self, source: Source, file: File) -> LintResult | None:
        """The result of a requirements file or a text without triggers; None if code rules must run."""
        if kind_of(source.path) is not None:
            return merge([file], [Analysis([source], noqa=self._noqa).check(file)])
        may_interest = (
            triage_code(source.text.encode("utf-8", "surrogatepass")) is not Triage.SKIP
            if source.cells is None
            else is_notebook_candidate(source)
        )
        return None if may_interest else LintResult(files=1)

    def _callers(self, path: str) -> list[File]:
        return [other for other, _ in callers_to_parse(self._importers(path))]

    def _importers(self, path: str) -> list[File]:
        if not os.path.isfile(path):
            return []
        root = project_root(path)
        if root not in self._graphs:
            self._graphs[root] = ImportGraph(root, self._configuration)
        return self._graphs[root].importers([path])

    def _check(self, source: Source, files: Sequence[File], unsaved: Sequence[Source]) -> list[FileResult]:
        if unsaved or not self._keep or not is_on_disk(source):
            return self._run(files, [source, *unsaved])
        if len(self._results) > _KEPT_FILES:
            self._results, self._analysis = {}, Analysis(noqa=self._noqa)
        new = [file for file in files if file.path not in self._results]
        self._results.update((result.path, result) for result in self._run(new))
        return [self._results[file.path] for file in files]

    def _run(self, files: Sequence[File], sources: Sequence[Source] = ()) -> list[FileResult]:
        from kerascheck.lint import workers

        if self._pool is None and not workers.can_fork():
            analysis = Analysis(sources, noqa=self._noqa) if sources else self._analysis
            return with_large_stack(lambda: [analysis.check(file) for file in files])
        if self._pool is None:
            load({file.settings for file in files})
            self._pool = workers.Pool(self._jobs)
        found: list[FileResult] = []
        # One file per chunk: their times differ widely and are unknown in advance.
        parts = [list(files)] if self._jobs == 1 else [[file] for file in files]
        self._pool.check([(part, self._noqa, tuple(sources)) for part in parts], found.append)
        return found


def is_on_disk(source: Source) -> bool:
    """Whether the file on disk has the text of ``source``; newlines may differ, since some programs translate them."""
    try:
        there = read(source.path).text
    except Unreadable:
        return False
    return there == source.text or there.replace("\r\n", "\n").replace("\r", "\n") == source.text
