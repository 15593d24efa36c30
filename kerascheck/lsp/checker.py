"""A process that lints for the server, started afresh where a program has ended it.

It has no threads of its own, so that it can fork the process in which :mod:`kerascheck.lint.workers` bounds what a file may cost.
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
from kerascheck.lsp.carry import carried
from kerascheck.source import Source

if TYPE_CHECKING:
    from kerascheck.lint.pipeline import Session
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult

_OPTIONS = (
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
"""What the editor may state instead of a configuration file: the options of the command line by the same names."""
_LISTS = frozenset(("select", "ignore", "extend-select", "extend-ignore", "exclude", "extend-exclude"))


@dataclass(frozen=True)
class Buffer:
    """What the editor holds of a file."""

    path: str
    """Absolute."""
    content: str | bytes
    """The text of a script; the JSON of a notebook."""
    top: str | None = None
    """The folder of the workspace that holds it; None where none does."""
    is_file: bool = True
    """Whether it has a name of its own choosing, so that exclusions mean it."""


@dataclass(frozen=True)
class Start:
    """What the process needs to know from the beginning."""

    folder: str
    """Where it runs: what paths in messages are relative to."""
    rules: Sequence[str]
    """Folders with rules."""


@dataclass(frozen=True)
class Lint:
    """Asks for the findings of a buffer; the answer is a :class:`Linted`. Asked again where that is not all, it gives more."""

    buffer: Buffer
    unsaved: tuple[Buffer, ...]
    """The other ones, which count instead of what is on disk."""
    options: Mapping[str, Any]
    """See :data:`_OPTIONS`."""
    epoch: int
    """A new one makes it read configurations, requirements and folders again, and take note of the options."""


@dataclass(frozen=True)
class FixAll:
    """Asks for the edits that safe fixes make of a buffer; the answer is a :class:`Repaired`."""

    linted: Lint


@dataclass
class Linted:
    """The findings of a buffer."""

    source: Source
    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    evidence: Mapping[Finding, Evidence] = field(default_factory=dict)
    addresses: Mapping[Finding, str] = field(default_factory=dict)
    """Those of the pages of rules, where they have one."""
    is_whole: bool = True
    """Whether all files that import it have been asked, too; until then it has what they said of an earlier text."""


@dataclass
class Repaired:
    """What repairs a buffer."""

    source: Source
    edits: tuple[Edit, ...]


def failed(buffer: Buffer, problem: str, code: str | None = None) -> Linted:
    """What is told of a buffer that could not be checked; by default because it cannot be read."""
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
    """The process, seen from the server; it is asked one thing after the other."""

    def __init__(self, start: Start):
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None

    def lint(self, question: Lint) -> Linted:
        """The findings of a buffer, as :class:`Lint` has it; where it ends the process, one error says so."""
        from kerascheck.finding import INTERNAL

        answer = self._ask(question, Linted)
        return answer or failed(
            question.buffer, "the process that analysed it failed: please report the file", INTERNAL
        )

    def fix_all(self, question: Lint) -> Repaired:
        """The edits that repair a buffer; none where it ends the process."""
        return self._ask(FixAll(question), Repaired) or Repaired(Source(question.buffer.path, ""), ())

    def warm_up(self) -> subprocess.Popen[bytes]:
        """Start the process, which imports what checking needs, unless it runs."""
        if self._process is None:
            # Isolated: the server may run in the user's folder, whose types.py is not to be imported.
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

    def _ask(self, question: Lint | FixAll, expected: type[_Answer]) -> _Answer | None:
        try:
            process = self.warm_up()
            _send(process, question)
            assert process.stdout is not None, "it was asked for"
            answer = pickle.load(process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.close()
            return None
        assert isinstance(answer, expected), "every question has one type of answer"
        return answer


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None, "it was asked for"
    pickle.dump(message, process.stdin)
    process.stdin.flush()


def serve() -> None:
    """Answer the questions that come through standard input until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever else is written is no answer.
    os.dup2(2, 1)
    try:
        desk = _Desk(pickle.load(sys.stdin.buffer))
        while True:
            question = pickle.load(sys.stdin.buffer)
            answer = desk.fix_all(question.linted) if isinstance(question, FixAll) else desk.lint(question)
            pickle.dump(answer, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


class _Desk:
    """What answers the questions."""

    def __init__(self, start: Start):
        from kerascheck.catalog import registry

        if os.path.isdir(start.folder):
            os.chdir(start.folder)
        registry.use_folders(start.rules)
        self._epoch = -1
        self._session: Session | None = None
        # By path, the question that is being answered, step by step.
        self._answering: dict[str, tuple[Lint, Iterator[Linted]]] = {}
        # What files that import one found in it when they were asked last, and in which text.
        self._of_others: dict[str, tuple[Source, list[Finding]]] = {}
        # The first file is to find it there.
        import kerascheck.meaning.module  # noqa: F401

    def lint(self, question: Lint) -> Linted:
        from kerascheck.finding import INTERNAL
        from kerascheck.project.config import ConfigError
        from kerascheck.source import Unreadable

        path = question.buffer.path
        asked, answers = self._answering.pop(path, (None, iter(())))
        if asked != question:
            answers = self._answers(question)
        try:
            linted = next(answers)
        except (ConfigError, Unreadable) as problem:
            return _refused(question.buffer, problem)
        except Exception as problem:  # noqa: BLE001 - a fault costs this file, not the server
            what = f"the language server failed on it: {type(problem).__name__}: {str(problem)[:200]}"
            return failed(question.buffer, f"{what}; please report this line and the file", INTERNAL)
        if not linted.is_whole:
            self._answering[path] = question, answers
        return linted

    def _answers(self, question: Lint) -> Iterator[Linted]:
        """What is found in a buffer, the last time with all that can be; raises ConfigError and Unreadable."""
        asked = self._asked(question)
        if asked is None:
            yield Linted(Source(question.buffer.path, ""))
            return
        session, source, file = asked
        before, said_before = self._of_others.get(source.path, (source, []))
        own: set[Any] | None = None
        for outcome, is_whole in session.steps(source, _sources(question.unsaved)):
            ReportFilter().apply(outcome, [file])
            keys = {finding.sort_key for finding in outcome.findings}
            own = keys if own is None else own
            if is_whole:
                of_others = [finding for finding in outcome.findings if finding.sort_key not in own]
                self._of_others[source.path] = source, of_others
            else:
                outcome.findings += (each for each in carried(said_before, before, source) if each.sort_key not in keys)
                outcome.findings.sort(key=lambda finding: finding.sort_key)
            yield _linted(source, file, outcome, is_whole)

    def fix_all(self, question: Lint) -> Repaired:
        from kerascheck.lsp.fixes import safe_edits

        try:
            asked = self._asked(question)
            if asked is None:
                return Repaired(Source(question.buffer.path, ""), ())
            session, source, file = asked
            unsaved, report_filter = _sources(question.unsaved), ReportFilter()
            outcome = session.lint(source, unsaved)
            report_filter.apply(outcome, [file])
            return Repaired(source, safe_edits(source, file, outcome, unsaved, report_filter))
        except Exception:  # noqa: BLE001 - linting the file says what is wrong with it
            return Repaired(Source(question.buffer.path, ""), ())

    def _asked(self, question: Lint) -> tuple[Session, Source, File] | None:
        """What to lint a buffer with, its source and its file; None where it is left out. Raises ConfigError and Unreadable."""
        from kerascheck.catalog import registry
        from kerascheck.lint.pipeline import Session
        from kerascheck.project.config import Configuration
        from kerascheck.project.discovery import File, wanted
        from kerascheck.project.requirements import forget

        buffer = question.buffer
        if self._session is None or question.epoch != self._epoch:
            forget()
            self._configuration = Configuration(_overrides(question.options), validate=registry.validate)
            self._session, self._epoch = Session(self._configuration, keep=False), question.epoch
        settings = self._configuration.for_file(buffer.path)
        if buffer.is_file and not wanted(buffer.path, settings, buffer.top):
            return None
        source = _source(buffer)
        return self._session, source, File(source.path, settings)


def _overrides(options: Mapping[str, Any]) -> Any:
    """The overrides that the editor states; raises ConfigError."""
    from kerascheck.catalog import registry
    from kerascheck.project.config import ConfigError, did_you_mean, overrides_from

    for key, value in options.items():
        if key not in _OPTIONS:
            raise ConfigError(f"the settings of the editor: no setting '{key}'{did_you_mean(key, _OPTIONS)}")
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise ConfigError(f"the settings of the editor: '{key}' must be a list of strings")
    given = {key.replace("-", "_"): tuple(value) if key in _LISTS else value for key, value in options.items()}
    overrides = overrides_from(given, "the settings of the editor: ")
    registry.validate_selection(overrides.selection)
    return overrides


def _source(buffer: Buffer) -> Source:
    """The source of a buffer; raises Unreadable."""
    from kerascheck.source.reading import decode, display_path, from_text

    path = display_path(buffer.path)
    return from_text(path, buffer.content) if isinstance(buffer.content, str) else decode(path, buffer.content)


def _sources(unsaved: Sequence[Buffer]) -> list[Source]:
    """The sources of buffers that differ from what is on disk."""
    from kerascheck.lint.pipeline import is_on_disk
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
    """A finding whose explanations in other files are found from the server's folder, too."""
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
