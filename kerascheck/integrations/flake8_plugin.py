"""The flake8 plugin.

flake8 imports this module in every run and calls it for every file. Expensive imports wait until a file mentions
TensorFlow or Keras.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import kerascheck

_OPTIONS = {
    "select": "rules to run: codes, prefixes, names or ALL, separated by commas",
    "ignore": "rules to leave out",
    "extend-select": "rules to run too",
    "extend-ignore": "rules to leave out too",
    "min-severity": "report findings from this severity up (info, warning, error; default: warning)",
    "target-tensorflow": "TensorFlow that the code runs on, such as 2.15",
    "config": "configuration file to read instead of the nearest of each file",
}
_FLAGS = {
    "pedantic": "report what costs nothing too, such as what the runtime repairs",
    "isolated": "do not read kerascheck.toml and [tool.kerascheck] of pyproject.toml",
}
_AMONG_VIRTUAL = re.compile(r"(?:^|(?<=[/\\]))\.virtual_documents[/\\]")
"""The folder of jupyterlab-lsp's copies of notebooks for python-lsp-server, which mirrors the user's folders."""
_SELECTORS = ("select", "ignore", "extend_select", "extend_ignore")


class Plugin:
    """The check of one file, from its syntax tree, lines and name as flake8 passes them."""

    name = "kerascheck"
    version = kerascheck.__version__
    _options: ClassVar[Any] = None
    _session: ClassVar[Any] = None
    _configuration: ClassVar[Any] = None
    _refused: ClassVar[set[str | None]] = set()
    """Configuration files with reported errors."""

    def __init__(self, tree: object, lines: list[str], filename: str):
        self._lines, self._filename = lines, _AMONG_VIRTUAL.sub("", filename)

    @classmethod
    def add_options(cls, manager: Any) -> None:
        """Declare ``--kerascheck-select`` and the other options, also for flake8's configuration files."""
        for name, text in _OPTIONS.items():
            manager.add_option(f"--kerascheck-{name}", default=None, parse_from_config=True, help=text)
        for name, text in _FLAGS.items():
            manager.add_option(
                f"--kerascheck-{name}", action="store_true", default=False, parse_from_config=True, help=text
            )

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Store flake8's options; an invalid option ends the run like flake8's own errors."""
        cls._options, cls._configuration, cls._session, cls._refused = options, None, None, set()
        if any(cls._given().values()):
            with _as_flake8_error():
                cls._prepare()

    @classmethod
    def _given(cls) -> dict[str, Any]:
        given = {
            name.replace("-", "_"): getattr(cls._options, f"kerascheck_{name.replace('-', '_')}")
            for name in (*_OPTIONS, "pedantic")
        }
        return {name: [text] if text and name in _SELECTORS else text for name, text in given.items()}

    @classmethod
    def _prepare(cls) -> Any:
        # Created at the first relevant file: most projects that use flake8 do not use Keras.
        if cls._configuration is None:
            import multiprocessing

            from kerascheck.catalog import registry
            from kerascheck.finding import Severity
            from kerascheck.lint.session import Session
            from kerascheck.project.config import Configuration, Settings, overrides_from

            overrides = overrides_from(cls._given(), "--kerascheck-")
            registry.validate_selection(overrides.selection)
            # flake8 has no severities: an info would fail the build.
            default = Settings(min_severity=Severity.WARNING)
            options = cls._options
            cls._configuration = Configuration(
                overrides,
                isolated=options.kerascheck_isolated,
                file=options.kerascheck_config,
                default=default,
                validate=registry.validate,
            )
            # flake8 itself distributes several files over processes.
            alone = multiprocessing.parent_process() is None and options.jobs.n_jobs != 1
            jobs = None if alone else 1
            cls._session = Session(cls._configuration, noqa=not options.disable_noqa, jobs=jobs)
        return cls._configuration

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Yield line, 0-based column, text and class of every finding."""
        if any("keras" in line or "tensorflow" in line for line in self._lines):
            with _as_flake8_error():
                yield from self._lint()

    def _lint(self) -> Iterator[tuple[int, int, str, type]]:
        from kerascheck.finding import INTERNAL
        from kerascheck.lint.report_filter import ReportFilter
        from kerascheck.project.config import ConfigError
        from kerascheck.project.discovery import File, wanted
        from kerascheck.source import Source, display_path

        piped = self._filename in ("-", "stdin")
        path = self._filename if piped else display_path(self._filename)
        try:
            settings = self._prepare().for_file(path)
        except ConfigError as problem:
            yield from self._report_once(problem)
            return
        if not piped and not wanted(path, settings):
            return
        outcome = self._session.lint(Source(path, "".join(self._lines)))
        ReportFilter().apply(outcome, [File(path, settings)])
        for finding in outcome.findings:
            yield _report(finding.location, finding.code, finding.message)
        for error in outcome.errors:
            # flake8 reports syntax errors itself, but a file on which a rule crashes must not look clean.
            if error.code == INTERNAL:
                yield _report(error.location, error.code, error.message)

    def _report_once(self, problem: Any) -> Iterator[tuple[int, int, str, type]]:
        """Report the configuration error of a folder once.

        Raises:
            ConfigError: the working directory's configuration is unusable too.
        """
        import os

        from kerascheck.finding import UNREADABLE, Location

        self._prepare().for_folder(os.getcwd())
        if problem.origin not in self._refused:
            self._refused.add(problem.origin)
            message = f"{problem} (the files that it configures are not linted)"
            yield _report(Location(self._filename, None, 1, 1, 1, 1), UNREADABLE, message)


@contextmanager
def _as_flake8_error() -> Iterator[None]:
    """End the run like flake8's own errors, without a traceback, if a configuration or baseline is unusable."""
    from flake8.exceptions import ExecutionError

    from kerascheck.project.config import ConfigError

    try:
        yield
    except ConfigError as problem:
        raise ExecutionError(f"kerascheck: error: {problem}") from None


def _report(location: Any, code: str, message: str) -> tuple[int, int, str, type]:
    return location.line, location.column - 1, f"{code} {message}", Plugin
