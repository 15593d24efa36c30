"""``pytest --kerascheck``: one test per file that kerascheck would lint in the folders of the run.

pytest imports this module in every run: without the option it imports nothing else of kerascheck.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kerascheck.finding import Evidence, Finding
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult

_NAME = "kerascheck"
"""The name of the option, the marker, and each test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--kerascheck``."""
    text = "lint scripts and notebooks with kerascheck, as configured for it: one test per file"
    parser.getgroup(_NAME).addoption(f"--{_NAME}", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and register the linter if the option is given."""
    config.addinivalue_line("markers", f"{_NAME}: a file that 'pytest --{_NAME}' lints")
    if config.getoption(_NAME):
        config.pluginmanager.register(_Linter(config), f"{_NAME} linter")


class _Linter:
    """Collects the files to lint, and lints all of them when the first test needs a result."""

    def __init__(self, config: pytest.Config):
        from kerascheck.lint.report_filter import ReportFilter
        from kerascheck.project.config import ConfigError, Configuration, overrides_from

        self._config, self._report_filter = config, ReportFilter()
        try:
            self._configuration = Configuration(overrides_from({}))
        except ConfigError as problem:
            raise pytest.UsageError(str(problem)) from None
        self._files: dict[Path, File] = {}
        self._linted: tuple[LintResult, Mapping[Finding, Evidence]] | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Add a collector for the lint test to the other collectors of the file."""
        collectors = yield
        if not self._accepts(file_path):
            return collectors
        # The parent is the session: pytest would import a package before the tests in it. pytest also imports files
        # named on the command line, and a script would start training.
        own = LintedFile.from_parent(parent.session, path=file_path, linter=self)
        return [own] if self._is_only_linted(file_path) else [*collectors, own]

    def _accepts(self, path: Path) -> bool:
        """Whether to lint a file; notes it if so."""
        from kerascheck.catalog import registry
        from kerascheck.project.config import ConfigError
        from kerascheck.project.discovery import File, would_find
        from kerascheck.source.reading import display_path

        try:
            settings = self._configuration.for_file(path)
            registry.validate(settings)
            if not would_find(str(path), settings, str(self._config.rootpath)):
                return False
            self._files[path] = File(display_path(str(path)), settings)
            self._report_filter.read(self._files[path])
        except ConfigError as problem:
            raise pytest.Collector.CollectError(str(problem)) from None
        return True

    def _is_only_linted(self, path: Path) -> bool:
        """Whether the command line requests only the lint test of a file."""
        named = [
            test
            for file, separator, test in (argument.partition("::") for argument in self._config.args)
            if os.path.abspath(os.path.join(self._config.invocation_params.dir, file)) == str(path)
        ]
        return bool(named) and set(named) == {_NAME}

    def failures_of(self, path: Path, session: pytest.Session) -> str:
        """Return the failures of a file as text; empty if there are none."""
        if self._linted is None:
            self._linted = self._lint({item.path for item in session.items if isinstance(item, LintedItem)})
        return "\n".join(_lines(self._files[path], *self._linted)).rstrip()

    def _lint(self, wanted: set[Path]) -> tuple[LintResult, Mapping[Finding, Evidence]]:
        from kerascheck.lint import pipeline
        from kerascheck.runtime.recall import recall

        files = sorted(self._files.values(), key=lambda file: file.path)
        part = [file for path, file in self._files.items() if path in wanted]
        # pytest-xdist runs a worker per processor, and each lints the files that it may have to test.
        jobs = 1 if hasattr(self._config, "workerinput") else None
        # Paths are relative to the folder of the run, and a test may have changed the working folder.
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self._config.invocation_params.dir)
            outcome = pipeline.lint(
                files, self._configuration, jobs=jobs, part=None if len(part) == len(files) else part
            )
            self._report_filter.apply(outcome, part)
            return outcome, recall(outcome, {file.path: file.settings.target_tensorflow for file in files})


def _lines(file: File, outcome: LintResult, evidence: Mapping[Finding, Evidence]) -> Iterator[str]:
    from kerascheck.report import text

    findings = [
        each for each in outcome.findings if each.location.path == file.path and each.severity >= file.settings.fail_on
    ]
    errors = [each for each in outcome.errors if each.location.path == file.path]
    yield from text.render(findings, errors, outcome.sources, _plain, evidence)


def _plain(text: str, **style: Any) -> str:
    return text


class LintedFile(pytest.File):
    """A file that kerascheck lints."""

    def __init__(self, *, linter: _Linter, **arguments: Any):
        super().__init__(**arguments)
        self._linter = linter

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the single test."""
        yield LintedItem.from_parent(self, name=_NAME, linter=self._linter)


class LintedItem(pytest.Item):
    """A test that fails if the file is unreadable or has findings at or above ``fail-on``."""

    def __init__(self, *, linter: _Linter, **arguments: Any):
        super().__init__(**arguments)
        self._linter = linter
        self.add_marker(_NAME)

    def runtest(self) -> None:
        """Lint the file; raises an exception with the findings."""
        if failures := self._linter.failures_of(self.path, self.session):
            raise _Failed(failures)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure report: findings have no traceback."""
        if isinstance(excinfo.value, _Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location of the test, and its name in reports."""
        return self.path, None, _NAME


class _Failed(Exception):
    """The findings of a file, as an exception."""
