"""From files to findings: choose the files worth parsing, run the rules, gather what they say.

libcst takes 0.4 s to import and most of a run's time to parse. So files are first
filtered by their bytes, and only those that can hold a finding reach libcst.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import symtable
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kerascheck import registry
from kerascheck.config import Settings
from kerascheck.finding import FileError, Finding, Location, Related
from kerascheck.source import Cell, Source, Unreadable, read
from kerascheck.source.discovery import File, matches
from kerascheck.source.suppression import Suppressions, suppressions

if TYPE_CHECKING:
    from kerascheck.fix import Fixed
    from kerascheck.rule import Diagnosis, Rule
    from kerascheck.semantics import Project

UNREADABLE = "KC999"
INTERNAL = "KC998"

_POOL_FROM = 20
"""Files to parse from which starting processes pays."""
_CHUNK_BYTES = 400_000
"""Largest chunk that one process takes at once; bounds the memory of the trees that it keeps."""
_DEEP_FROM = 20_000
"""Length from which a text can be nested deeply enough to overflow the parser's stack."""
_STACK_SIZES = (512 << 20, 256 << 20, 64 << 20)
_RECURSION_LIMIT = 100_000

_Result = TypeVar("_Result")


@dataclass
class Outcome:
    """What linting some files gave."""

    findings: list[Finding] = field(default_factory=list)
    """Sorted by place and code; duplicates merged."""
    errors: list[FileError] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    """The source of every path that has a finding or an error with a place in it."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time spent in each rule, by code; includes the analysis that it was the first to ask for."""
    checked_from: dict[str, set[str]] = field(default_factory=dict)
    """Paths with findings to the other files whose check found them."""
    files: int = 0
    """How many files were asked for."""


@dataclass
class Checked:
    """What checking one file gave, before the settings of the files concerned are applied."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


# --- which files are worth parsing ---------------------------------------------------------------


def mentions_keras(data: bytes) -> bool:
    """Whether any rule can have something to say; looked for on every line, for modules that import a re-export."""
    return b"keras" in data or b"tensorflow" in data


@functools.lru_cache(maxsize=None)
def _triggers() -> re.Pattern[bytes]:
    # Of all rules, not only the selected: what a rule finds in one module may depend on another.
    words = sorted({trigger for room in registry.rooms() for trigger in room.rule.triggers})
    return re.compile(b"|".join(re.escape(word.encode()) for word in words) or b"(?!)")


def _compiles(code: str | bytes) -> bool:
    """Whether this Python parses ``code``: a thirtieth of the time that libcst takes."""
    try:
        symtable.symtable(code, "<source>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _nested_too_deeply(code: str | bytes) -> bool:
    """Whether parsing ``code`` could overflow the native stack, which would kill the process."""
    if len(code) < _DEEP_FROM:
        return False
    try:
        symtable.symtable(code, "<source>", "exec")
    except (RecursionError, MemoryError):
        return True
    except SyntaxError as problem:
        return "too many" in str(problem)
    except ValueError:
        return False
    return False


# --- checking one file -----------------------------------------------------------------------------


class Analysis:
    """Checks files that may import each other, and keeps their parsed modules.

    Args:
        overrides: sources to use instead of what is on disk.
        noqa: whether ``noqa`` comments silence findings.
    """

    def __init__(self, overrides: Iterable[Source] = (), *, noqa: bool = True):
        self._overrides = {os.path.realpath(source.path): source for source in overrides}
        self._noqa = noqa
        self._projects: dict[Settings, Project] = {}
        self._suppressions: dict[str, Suppressions] = {}

    def _read(self, path: str | Path) -> Source:
        source = self._overrides.get(os.path.realpath(path)) or read(path)
        if _nested_too_deeply(source.text):
            raise Unreadable("is nested too deeply")
        return source

    def _project(self, settings: Settings) -> Project:
        if settings not in self._projects:
            from kerascheck.semantics import Project

            self._projects[settings] = Project(settings, self._read)
        return self._projects[settings]

    def check(self, file: File) -> Checked:
        """Run the selected rules on one file."""
        checked = Checked(file.path)
        try:
            source = self._overrides.get(os.path.realpath(file.path)) or read(file.path)
        except Unreadable as problem:
            place = Location(file.path, None, problem.line, problem.column, problem.line, problem.column)
            checked.errors.append(FileError(UNREADABLE, place, problem.message))
            return checked
        try:
            module = self._load(source, file.settings, checked)
        except BaseException as problem:  # noqa: BLE001 - a panic of libcst's native parser is no Exception
            self._fault(checked, source, "the analysis", problem)
            return checked
        if module is not None:
            for rule in registry.enabled(file.settings.selections):
                self._run(rule, module, checked)
        return checked

    def _load(self, source: Source, settings: Settings, checked: Checked):
        """The module of ``source``; None, and an error in ``checked``, where it cannot be parsed."""
        from kerascheck.semantics import SyntaxProblem

        project = self._project(settings)
        while True:
            try:
                return project.load(source)
            except SyntaxProblem as problem:
                offset = source.offset(problem.line, problem.column)
                if source.cells is None:
                    self._refuse(checked, source, *_explain(source.text, offset, problem.message))
                    return None
                broken = list(_broken_cells(source)) or [(source.cell_at(offset), offset, problem.message)]
                before = source.text
                for cell, offset, message in broken:
                    self._refuse(checked, source, message, offset)
                    source = source.without(cell)
                if source.text == before:
                    return None
            except (RecursionError, MemoryError):
                self._refuse(checked, source, "could not be analysed: it is nested too deeply", 0)
                return None

    def _refuse(self, checked: Checked, source: Source, message: str, offset: int) -> None:
        checked.errors.append(FileError(UNREADABLE, source.locate(offset, offset), message))
        checked.sources[source.path] = source

    def _run(self, rule: Rule, module, checked: Checked) -> None:
        started = time.perf_counter()
        try:
            for diagnosis in rule.check(module):
                finding = self._locate(rule, diagnosis)
                if finding is not None:
                    checked.findings.append(finding)
                    checked.sources[finding.location.path] = diagnosis.at.module.source
        except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, not the run
            self._fault(checked, module.source, f"rule {rule.code} ({rule.name})", problem)
        checked.seconds[rule.code] = checked.seconds.get(rule.code, 0.0) + time.perf_counter() - started

    def _fault(self, checked: Checked, source: Source, what: str, problem: BaseException) -> None:
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        message = (
            f"{what} failed: {type(problem).__name__}: {problem} ({os.path.basename(frame.filename)}:{frame.lineno}); "
            "this is a fault of kerascheck: please report it with this line and the file"
        )
        checked.errors.append(FileError(INTERNAL, source.locate(0, 0), " ".join(message.split())))

    def _locate(self, rule: Rule, diagnosis: Diagnosis) -> Finding | None:
        """The finding at its place; None where a comment silences it."""
        module = diagnosis.at.module
        source: Source = module.source
        start, end = module.range_of(diagnosis.at.node)
        first, last = module.statement_range(diagnosis.at.node)
        lines = {source.line_of(start), source.line_of(first), source.line_of(last)}
        silenced = self._suppressions.get(source.path)
        if silenced is None:
            silenced = self._suppressions[source.path] = suppressions(source, noqa=self._noqa)
        if silenced.silence(rule.code, rule.name, lines):
            return None
        statement = source.locate(first, last)
        return Finding(
            rule.code,
            rule.name,
            diagnosis.severity,
            source.locate(start, end),
            diagnosis.message,
            diagnosis.because,
            diagnosis.fix,
            tuple(
                Related(place.module.source.locate(*place.module.range_of(place.node)), message)
                for place, message in diagnosis.related
            ),
            (statement.line, statement.end_line),
        )


_PYTHON_2 = re.compile(
    r"\s*print\s+[^\s(=]|\s*print\s*>>|\s*exec\s+['\"\w]|\s*except\s+[\w.()\s,]+,\s*\w+\s*:|\s*raise\s+[\w.]+\s*,|"
    r".*\w\s*<>\s*\w|.*\b0\d+\b|.*\bur['\"]|.*`[^`]+`|.*\b\d+[lL]\b|def\s+\w+\(.*\(\w+(?:,\s*\w+)+\)"
)


def _parse_problem(code: str) -> SyntaxError | None:
    """What this Python says against ``code``; its messages are clearer than libcst's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except SyntaxError as problem:
            return problem
        except (ValueError, RecursionError, MemoryError):
            return None
    return None


def _explain(code: str, offset: int, message: str) -> tuple[str, int]:
    """The clearest message for code that does not parse, and where the problem stands."""
    source = Source("", code)
    problem = _parse_problem(code)
    if problem is not None and problem.lineno is not None:
        message, offset = problem.msg, source.offset(problem.lineno, problem.offset or 1)
    if _PYTHON_2.match(source.line_text(offset)):
        return "Python 2 code: kerascheck reads Python 3 (2to3 converts most of it)", offset
    return f"does not parse: {message.splitlines()[0]}", offset


def _broken_cells(source: Source) -> Iterator[tuple[Cell, int, str]]:
    """The cells of a notebook that do not parse by themselves: cell, offset and message."""
    for cell in source.cells or ():
        code = source.text[cell.start : cell.end]
        # A header, as the notebook's text has it, where the whole cell is indented.
        header = "if True:\n" if code.lstrip("\r\n")[:1] in (" ", "\t") and code.strip() else ""
        if _parse_problem(header + code) is not None:
            message, offset = _explain(header + code, 0, "")
            yield cell, cell.start + max(offset - len(header), 0), message


# --- checking many files ---------------------------------------------------------------------------


def lint(
    files: Sequence[File],
    *,
    jobs: int | None = None,
    noqa: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Lint files of one run.

    Args:
        jobs: processes to use at most; the number of usable processors where None.
        noqa: whether ``noqa`` comments silence findings.
        progress: called with the number of files done and of those that have to be parsed.

    Raises:
        ConfigError: the settings of a file select an unknown rule.
    """
    for settings in {file.settings for file in files}:
        registry.validate(settings)
    candidates, deep = _choose(files)
    checked: list[Checked] = []
    total = len(candidates) + len(deep)

    def gather(result: Checked) -> None:
        checked.append(result)
        if progress is not None:
            progress(min(len(checked), total), total)

    jobs = min(jobs or _processors(), 1 + len(candidates) // 10)
    if len(candidates) <= _POOL_FROM or jobs == 1:
        with_large_stack(lambda: [gather(result) for chunk in _chunks(candidates) for result in check_files(chunk, noqa)])
        crashed: list[File] = []
    else:
        from kerascheck import pool

        crashed = pool.run([(chunk, noqa) for chunk in _chunks(candidates)], jobs, gather)
    if deep or crashed:
        from kerascheck import pool

        for file in (*deep, *crashed):
            gather(pool.run_alone(file, noqa))
    return _merge(files, checked)


def lint_source(source: Source, settings: Settings, *, noqa: bool = True) -> Outcome:
    """Lint one text that need not be what is on disk at ``source.path``."""
    registry.validate(settings)
    file = File(source.path, settings)
    data = source.text.encode("utf-8", "surrogatepass")
    if _nested_too_deeply(source.text):
        place = source.locate(0, 0)
        return Outcome(errors=[FileError(UNREADABLE, place, "could not be analysed: it is nested too deeply")], files=1)
    if _compiles(source.text) and not (mentions_keras(data) and _triggers().search(data)):
        return Outcome(files=1)
    analysis = Analysis([source], noqa=noqa)
    return _merge([file], [with_large_stack(lambda: analysis.check(file))])


def fix(source: Source, file: File, outcome: Outcome, *, unsafe: bool) -> Fixed:
    """Apply the fixes of a script's findings, as far as ``unsafe`` allows, to its text.

    Args:
        outcome: the run in which the findings were made: other files whose check found
            something in this one are checked again with every change.
    """
    from kerascheck.fix import apply_fixes

    others = [File(path, file.settings) for path in sorted(outcome.checked_from.get(file.path, ()))]

    def find(changed: Source) -> list[Finding]:
        analysis = Analysis([changed])
        return _merge([file], [analysis.check(each) for each in (file, *others)]).findings

    return with_large_stack(lambda: apply_fixes(source, find, unsafe))


def _choose(files: Iterable[File]) -> tuple[list[tuple[File, int]], list[File]]:
    """Files to parse, with their sizes, and files to parse in a process of their own."""
    candidates, deep = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            try:
                with open(file.path, "rb") as stream:
                    data = stream.read()
            except OSError:
                # Read again, and reported, where every other problem of a file is.
                candidates.append((file, 0))
                continue
            notebook = file.path.endswith(".ipynb")
            if not notebook and _nested_too_deeply(data):
                deep.append(file)
            elif mentions_keras(data) and _triggers().search(data):
                candidates.append((file, len(data)))
            elif not (_notebook_compiles(file.path, data) if notebook else _compiles(data)):
                candidates.append((file, len(data)))
    return candidates, deep


def _notebook_compiles(path: str, data: bytes) -> bool:
    from kerascheck.source import decode

    try:
        return _compiles(decode(path, data).text)
    except Unreadable:
        return False


def _chunks(candidates: Sequence[tuple[File, int]]) -> list[list[File]]:
    """Files of a folder together, since they tend to import each other; the heaviest chunks first."""
    folders: dict[tuple[str, Settings], list[tuple[File, int]]] = {}
    for file, size in candidates:
        folders.setdefault((os.path.dirname(file.path), file.settings), []).append((file, size))
    chunks: list[tuple[int, list[File]]] = []
    for members in folders.values():
        chunk: list[File] = []
        weight = 0
        for file, size in sorted(members, key=lambda member: -member[1]):
            if chunk and weight + size > _CHUNK_BYTES:
                chunks.append((weight, chunk))
                chunk, weight = [], 0
            chunk.append(file)
            weight += size
        chunks.append((weight, chunk))
    chunks.sort(key=lambda item: (-item[0], item[1][0].path))
    return [chunk for _, chunk in chunks]


def check_files(chunk: Iterable[File], noqa: bool) -> Iterator[Checked]:
    """Check files that may import each other, one after the other, in this process."""
    analysis = Analysis(noqa=noqa)
    for file in chunk:
        yield analysis.check(file)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def with_large_stack(function: Callable[[], _Result]) -> _Result:
    """Run ``function`` in a thread whose stack holds the recursion of parsers on deep code."""
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as problem:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(problem)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        thread = _start_thread(run)
        if thread is None:
            return function()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]


def _start_thread(run: Callable[[], None]) -> threading.Thread | None:
    """A running thread with the largest stack that there is address space for; None where there is none."""
    for size in _STACK_SIZES:
        previous = threading.stack_size()
        try:
            threading.stack_size(size)
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            return thread
        except (RuntimeError, ValueError):
            continue
        finally:
            threading.stack_size(previous)
    return None


def _merge(files: Sequence[File], results: Iterable[Checked]) -> Outcome:
    """Bring together what the checks gave: each finding once, in a requested file, as that file's settings want it."""
    outcome = Outcome(files=len(files))
    requested = {file.path: file for file in files}
    real = {os.path.realpath(file.path): file.path for file in files}
    best: dict[tuple, Finding] = {}
    for checked in results:
        outcome.errors += checked.errors
        for code, seconds in checked.seconds.items():
            outcome.seconds[code] = outcome.seconds.get(code, 0.0) + seconds
        for finding in checked.findings:
            path = found_in = finding.location.path
            if path not in requested:
                # The same file may be known by another name when it was reached through an import.
                path = real.get(os.path.realpath(path), path)
                if path not in requested:
                    continue
                finding = replace(finding, location=replace(finding.location, path=path))
            if not _wanted(finding, requested[path].settings):
                continue
            outcome.sources[path] = checked.sources[found_in]
            if checked.path != path:
                outcome.checked_from.setdefault(path, set()).add(checked.path)
            known = best.get(finding.sort_key)
            if known is None or _weight(finding) > _weight(known):
                best[finding.sort_key] = finding
        for error in checked.errors:
            if error.location.path in checked.sources:
                outcome.sources.setdefault(error.location.path, checked.sources[error.location.path])
    outcome.findings = sorted(best.values(), key=lambda finding: finding.sort_key)
    outcome.errors.sort(key=lambda error: (error.sort_key, error.message))
    return outcome


def _weight(finding: Finding) -> tuple:
    """Which of two findings at one place to keep, whatever order the files were checked in."""
    return (finding.severity, finding.fix is not None, finding.because or "", finding.message)


def _wanted(finding: Finding, settings: Settings) -> bool:
    if finding.severity < settings.min_severity:
        return False
    if not any(rule.code == finding.code for rule in registry.enabled(settings.selections)):
        return False
    path = os.path.abspath(finding.location.path)
    return not any(
        matches(pattern, path) and registry.ignored_by(selectors, finding.code, finding.name)
        for pattern, selectors in settings.per_file_ignores
    )
