"""The checker: a process that lints for the server and restarts after a file crashes it.

It starts no threads, so that it can fork the workers of :mod:`kerascheck.lint.workers`.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from kerascheck.finding import Edit, Evidence, FileError, Finding, Location
from kerascheck.lint.report_filter import ReportFilter
from kerascheck.lsp.stale_findings import carried_over
from kerascheck.source import Source

if TYPE_CHECKING:
    from kerascheck.lint.session import Session
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult

OPTIONS = (
    "select",
    "ignore",
    "extend-select",
    "extend-ignore",
    "min-severity",
    "pedantic",
    "target-tensorflow",
    "include-tests",
    "exclude",
    "extend-exclude",
    "docs-url",
)
"""The settings that an editor may send instead of a configuration file, named as on the command line."""
LISTS = frozenset(("select", "ignore", "extend-select", "extend-ignore", "exclude", "extend-exclude"))
"""The options whose values are lists of strings."""


@dataclass(frozen=True)
class Buffer:
    """The editor's version of a file."""

    path: str
    """The absolute path."""
    content: str | bytes
    """The text of a script; the JSON of a notebook."""
    top: str | None = None
    """The workspace folder that contains it, if any."""
    is_file: bool = True
    """Whether it has a file name chosen by the user, so that exclusions apply to it."""


@dataclass(frozen=True)
class Start:
    """The first message to the process."""

    folder: str
    """The working folder; paths in messages are relative to it."""
    rules: Sequence[str]
    """Folders with rules."""


@dataclass(frozen=True)
class Lint:
    """Request for the findings of a buffer; the answer is a :class:`Linted`.

    After an incomplete answer, repeating the request gets more findings.
    """

    buffer: Buffer
    unsaved: tuple[Buffer, ...]
    """The other unsaved buffers, which replace the files on disk."""
    options: Mapping[str, Any]
    """See :data:`OPTIONS`."""
    epoch: int
    """In a new epoch, the process reads configurations, requirements and folders again and uses the new options."""


@dataclass(frozen=True)
class FixAll:
    """Request for the edits that apply all safe fixes to a buffer; the answer is a :class:`Repaired`."""

    linted: Lint


@dataclass
class Linted:
    """The findings of a buffer."""

    source: Source
    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    evidence: Mapping[Finding, Evidence] = field(default_factory=dict)
    addresses: Mapping[Finding, str] = field(default_factory=dict)
    """The addresses of rule pages, for rules that have one."""
    is_whole: bool = True
    """Whether the files that import it were checked too; until then, findings that depend on them are stale."""


@dataclass
class Repaired:
    """The edits that fix a buffer."""

    source: Source
    edits: tuple[Edit, ...]


def failed(buffer: Buffer, problem: str, code: str | None = None) -> Linted:
    """The answer for a buffer that could not be checked, by default because it is unreadable."""
    from kerascheck.finding import UNREADABLE

    place = Location(buffer.path, None, 1, 1, 1, 1)
    return Linted(Source(buffer.path, ""), errors=[FileError(code or UNREADABLE, place, " ".join(problem.split()))])


_Answer = TypeVar("_Answer", Linted, Repaired)


_PROGRAM = """\
import sys
sys.path[:] = sys.argv[1:]
from kerascheck.lsp.checker import serve
serve()
"""


class Checker:
    """The server's client for the process; sends one request at a time."""

    def __init__(self, start: Start):
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None

    def lint(self, request: Lint) -> Linted:
        """The findings of a buffer; a single error if the buffer crashed the process."""
        from kerascheck.finding import INTERNAL

        answer = self._send_request(request, Linted)
        return answer or failed(request.buffer, "the process that analysed it failed: please report the file", INTERNAL)

    def fix_all(self, request: Lint) -> Repaired:
        """The edits that fix a buffer; none if the buffer crashed the process."""
        return self._send_request(FixAll(request), Repaired) or Repaired(Source(request.buffer.path, ""), ())

    def warm_up(self) -> subprocess.Popen[bytes]:
        """Start the process and its imports unless it is running."""
        if self._process is None:
            # Isolated (-I): the server may run in the user's folder, where a types.py would shadow Python's.
            command = [sys.executable, "-I", "-c", _PROGRAM, *filter(None, sys.path)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            _send(self._process, self._start)
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _send_request(self, request: Lint | FixAll, expected: type[_Answer]) -> _Answer | None:
        try:
            process = self.warm_up()
            _send(process, request)
            assert process.stdout is not None, "the process has pipes"
            answer = pickle.load(process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.close()
            return None
        assert isinstance(answer, expected), "every request has one type of answer"
        return answer


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None, "the process has pipes"
    pickle.dump(message, process.stdin)
    process.stdin.flush()


def serve() -> None:
    """Answer the requests on standard input until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Other output must not mix with the answers.
    os.dup2(2, 1)
    try:
        handler = _RequestHandler(pickle.load(sys.stdin.buffer))
        while True:
            request = pickle.load(sys.stdin.buffer)
            answer = handler.fix_all(request.linted) if isinstance(request, FixAll) else handler.lint(request)
            pickle.dump(answer, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


class _RequestHandler:
    """Answers the requests, in the process."""

    def __init__(self, start: Start):
        from kerascheck.catalog import registry

        if os.path.isdir(start.folder):
            os.chdir(start.folder)
        registry.use_folders(start.rules)
        self._epoch = -1
        self._session: Session | None = None
        # The request that is answered in steps, by path.
        self._pending: dict[str, tuple[Lint, Iterator[Linted]]] = {}
        # The last text and its findings from importing files, by path.
        self._from_importers: dict[str, tuple[Source, list[Finding]]] = {}
        # Import it now so that the first request need not wait.
        import kerascheck.meaning.module  # noqa: F401

    def lint(self, request: Lint) -> Linted:
        from kerascheck.finding import INTERNAL
        from kerascheck.project.config import ConfigError
        from kerascheck.source import Unreadable

        path = request.buffer.path
        pending, answers = self._pending.pop(path, (None, iter(())))
        if pending != request:
            answers = self._answers(request)
        try:
            linted = next(answers)
        except (ConfigError, Unreadable) as problem:
            return _refused(request.buffer, problem)
        except Exception as problem:  # noqa: BLE001 - a fault costs this file, not the server
            what = f"the language server failed on it: {type(problem).__name__}: {str(problem)[:200]}"
            return failed(request.buffer, f"{what}; please report this line and the file", INTERNAL)
        if not linted.is_whole:
            self._pending[path] = request, answers
        return linted

    def _answers(self, request: Lint) -> Iterator[Linted]:
        """Yield the findings of a buffer, in steps until they are complete; raises ConfigError and Unreadable."""
        prepared = self._prepare(request)
        if prepared is None:
            yield Linted(Source(request.buffer.path, ""))
            return
        session, source, file = prepared
        before, stale = self._from_importers.get(source.path, (source, []))
        own: set[Any] | None = None
        for outcome, is_whole in session.steps(source, _sources(request.unsaved)):
            ReportFilter().apply(outcome, [file])
            keys = {finding.sort_key for finding in outcome.findings}
            own = keys if own is None else own
            if is_whole:
                from_importers = [finding for finding in outcome.findings if finding.sort_key not in own]
                self._from_importers[source.path] = source, from_importers
            else:
                outcome.findings += (each for each in carried_over(stale, before, source) if each.sort_key not in keys)
                outcome.findings.sort(key=lambda finding: finding.sort_key)
            yield _linted(source, file, outcome, is_whole)

    def fix_all(self, request: Lint) -> Repaired:
        from kerascheck.lsp.fixes import safe_edits

        try:
            prepared = self._prepare(request)
            if prepared is None:
                return Repaired(Source(request.buffer.path, ""), ())
            session, source, file = prepared
            unsaved, report_filter = _sources(request.unsaved), ReportFilter()
            outcome = session.lint(source, unsaved)
            report_filter.apply(outcome, [file])
            return Repaired(source, safe_edits(source, file, outcome, unsaved, report_filter))
        except Exception:  # noqa: BLE001 - linting the file reports the error
            return Repaired(Source(request.buffer.path, ""), ())

    def _prepare(self, request: Lint) -> tuple[Session, Source, File] | None:
        """The session, source and file of a buffer; None if it is excluded. Raises ConfigError and Unreadable."""
        from kerascheck.catalog import registry
        from kerascheck.lint.session import Session
        from kerascheck.project.config import Configuration
        from kerascheck.project.discovery import File, wanted
        from kerascheck.project.requirements import invalidate

        buffer = request.buffer
        if self._session is None or request.epoch != self._epoch:
            invalidate()
            self._configuration = Configuration(_overrides(request.options), validate=registry.validate)
            self._session, self._epoch = Session(self._configuration, keep=False), request.epoch
        settings = self._configuration.for_file(buffer.path)
        if buffer.is_file and not wanted(buffer.path, settings, buffer.top):
            return None
        source = _source(buffer)
        return self._session, source, File(source.path, settings)


def _overrides(options: Mapping[str, Any]) -> Any:
    """The overrides from the settings of the editor; raises ConfigError."""
    from kerascheck.catalog import registry
    from kerascheck.project.config import ConfigError, did_you_mean, overrides_from

    for key, value in options.items():
        if key not in OPTIONS:
            raise ConfigError(f"the settings of the editor: no setting '{key}'{did_you_mean(key, OPTIONS)}")
        if key in LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise ConfigError(f"the settings of the editor: '{key}' must be a list of strings")
    given = {key.replace("-", "_"): tuple(value) if key in LISTS else value for key, value in options.items()}
    overrides = overrides_from(given, "the settings of the editor: ")
    registry.validate_selection(overrides.selection)
    return overrides


def _source(buffer: Buffer) -> Source:
    """The source of a buffer; raises Unreadable."""
    from kerascheck.source.reading import decode, display_path, from_text

    path = display_path(buffer.path)
    return from_text(path, buffer.content) if isinstance(buffer.content, str) else decode(path, buffer.content)


def _sources(unsaved: Sequence[Buffer]) -> list[Source]:
    """The sources of buffers that differ from their files on disk."""
    from kerascheck.lint.session import is_on_disk
    from kerascheck.source import Unreadable

    found = []
    for buffer in unsaved:
        try:
            source = _source(buffer)
        except Unreadable:
            continue
        if not is_on_disk(source):
            found.append(source)
    return found


def _linted(source: Source, file: File, outcome: LintResult, is_whole: bool) -> Linted:
    from kerascheck.catalog.pages import addresses
    from kerascheck.runtime.recall import recall

    outcome.findings = list(map(_with_absolute_paths, outcome.findings))
    return Linted(
        source,
        outcome.findings,
        [error for error in outcome.errors if error.location.path == source.path],
        recall(outcome, {file.path: file.settings.target_tensorflow}),
        addresses(outcome.findings, {file.path: file.settings.docs_url}),
        is_whole,
    )


def _with_absolute_paths(finding: Finding) -> Finding:
    """Make the paths of related locations absolute, since the server's working folder differs."""
    own = finding.location.path
    related = (
        each
        if each.location.path == own
        else replace(each, location=replace(each.location, path=os.path.abspath(each.location.path)))
        for each in finding.related
    )
    return replace(finding, related=tuple(related)) if finding.related else finding


def _refused(buffer: Buffer, problem: Exception) -> Linted:
    from kerascheck.source import Unreadable

    linted = failed(buffer, str(problem))
    if isinstance(problem, Unreadable):
        (error,) = linted.errors
        place = Location(buffer.path, None, problem.line, problem.column, problem.line, problem.column)
        linted.errors = [FileError(error.code, place, problem.message)]
    return linted
