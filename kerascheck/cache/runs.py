"""The stored results of one command line in one folder.

The head file has the result of the whole run with all its dependencies: each query of the disk with its answer. It is
valid if all answers are unchanged. Otherwise the parts file helps: it has intermediate results, such as the findings of
one file, each with its own dependencies.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kerascheck
from kerascheck.cache.folder import Folder
from kerascheck.cache.memo import Entry, Memo, is_packed
from kerascheck.cache.written import Damaged, read, write
from kerascheck.finding import FileError, Finding
from kerascheck.project import import_scan, requirements
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import Discovered, File
from kerascheck.result import LintResult
from kerascheck.source import Source, dependencies
from kerascheck.source.reading import decode
from kerascheck.source.text import Unreadable

_NEEDED = ("libcst", "packaging", "pathspec")
"""Packages besides kerascheck that influence findings."""
_QUERIES = (
    requirements.stating,
    requirements.parts,
    requirements.estimators,
    requirements.launchers,
    import_scan.imports,
    import_scan.mentioned,
    import_scan.held,
)
"""Queries of other modules; importing them registers them for :class:`dependencies.Recheck`."""


@dataclass
class Linted:
    """The result of a run: all files, the files to report on, and the result of linting."""

    found: Discovered
    files: Sequence[File]
    outcome: LintResult


class Run:
    """One run of the command line.

    Args:
        folder: the folder of the cache.
        paths: the files and folders to check.
        arguments: all other input to the findings that is not on disk, in a form that JSON can hold.
    """

    def __init__(self, folder: Folder, paths: Sequence[str], arguments: Any):
        self._folder, self._paths = folder, paths
        here = [os.getcwd(), os.path.expanduser("~"), *paths, arguments, _version()]
        self._name = dependencies.digest(json.dumps(here).encode())
        self._parts: Any = None
        self._dependencies: list[dependencies.Dependency | None] = []
        self._outdated: set[int] = set()
        self._settled: dict[int, dependencies.Dependency] = {}
        self._tracker: dependencies.DependencyTracker | None = None

    @property
    def dependencies(self) -> Sequence[dependencies.Dependency | None]:
        """The dependencies of the result; after an error, those noted until then."""
        return self._dependencies if self._tracker is None else self._tracker.dependencies

    def recall(self) -> Linted | None:
        """The result of an earlier run, if all its dependencies are unchanged."""
        head = self._folder.read(f"{self._name}.json")
        try:
            # Frees each row once it is converted: the rows of many files take much memory.
            self._dependencies = [None if row is None else _dependency(row) for row in _drained(head["dependencies"])]
            recheck = dependencies.Recheck()
            self._outdated = recheck.outdated(self._dependencies)
            self._settled = recheck.settled
            self._parts = head["parts"]
            if self._outdated or not head["is_certain"]:
                return None
            linted = _linted(head, self._dependencies)
        except (Damaged, KeyError, TypeError, ValueError, IndexError, OSError, Unreadable):
            # A damaged file counts as missing.
            self._dependencies, self._outdated, self._settled, self._parts = [], set(), {}, None
            return None
        if self._settled:
            for number, dep in self._settled.items():
                self._dependencies[number] = dep
            self._folder.write({f"{self._name}.json": {**head, "dependencies": self._dependencies}})
        return linted

    @contextlib.contextmanager
    def recording(self) -> Iterator[Memo]:
        """Track the dependencies of this run; yields a memo with the valid entries of the earlier run."""
        for number, dep in self._settled.items():
            self._dependencies[number] = dep
        tracker = self._tracker = dependencies.DependencyTracker(self._dependencies, self._outdated)
        memo = Memo(tracker, self._earlier(), self._outdated)
        with dependencies.tracking(tracker):
            yield memo

    def _earlier(self) -> dict[str, Entry]:
        if not self._dependencies or any(
            getattr(self._dependencies[each], "query", "") in _RULE_QUERIES for each in self._outdated
        ):
            return {}
        parts = self._folder.read(f"{self._name}.parts.json")
        try:
            if parts["of"] != self._parts:
                return {}
            entries = {key: (value, deps) for key, (value, deps) in parts.pop("entries").items()}
            return entries if all(map(is_packed, (deps for _, deps in entries.values()))) else {}
        except (KeyError, TypeError, ValueError, AttributeError):
            return {}

    def discovered(self, memo: Memo, configuration: Configuration, discover: Callable[[], Discovered]) -> Discovered:
        """The discovered files, from the memo if it is valid; raises the errors of ``discover``."""
        known = memo.recall("found")
        with contextlib.suppress(Damaged):
            if known is not None:
                paths, *others = read(_Found, known)
                files = [File(path, configuration.for_file(path)) for path in paths if self._is_requested(path)]
                return Discovered(files, *others)
        with memo.tracker.asking("found"):
            found = discover()
        if all(file.content is None for file in found.files):
            others = (found.tests_left_out, found.unreadable, found.irregular, found.notes)
            kept = ([file.path for file in found.files], *others)
            memo.keep("found", write(kept), memo.tracker.asked_by("found"))
        return found

    def _is_requested(self, path: str) -> bool:
        tops = map(os.path.abspath, self._paths)
        return any(os.path.join(os.path.abspath(path), "").startswith(os.path.join(top, "")) for top in tops)

    def keep(self, linted: Linted, memo: Memo) -> bool:
        """Store the result of a run, except for uncertain parts; returns False if writing fails."""
        tracker = memo.tracker
        if not tracker.is_steady:
            return True
        with dependencies.tracking(tracker):
            _note_rules()
        parts = dependencies.digest(os.urandom(16))
        is_certain = linted.outcome.is_certain
        head = {
            "parts": parts,
            "dependencies": tracker.dependencies,
            "is_certain": is_certain,
            **(_written(linted) if is_certain else {}),
        }
        return self._folder.write(
            {f"{self._name}.parts.json": {"of": parts, "entries": memo.entries}, f"{self._name}.json": head}
        )


_Found = tuple[list[str], int, list[tuple[str, str]], list[str], list[str]]


def _note_rules() -> None:
    """Note the installed packages, and the code of those that ship rules, as dependencies."""
    from kerascheck.catalog import registry

    for folder in _installations():
        dependencies.installed(folder)
    for package in {_package(spec.folder) for spec in registry.rule_specs() if spec.by is not None}:
        dependencies.code(package)


_RULE_QUERIES = (dependencies.installed.__name__, dependencies.code.__name__)


def _installations() -> list[str]:
    # The first entry is the folder of the program, or the working folder.
    return [folder for folder in sys.path[1:] if os.path.isdir(folder)]


def _package(folder: Path) -> str:
    """The top-level package that contains a folder."""
    inner = [each for each in (folder, *folder.parents) if (each / "__init__.py").is_file()]
    return str(inner[-1] if inner else folder)


def _version() -> list[Any]:
    """The identity of this kerascheck, whether installed or in development."""
    own = os.path.dirname(os.path.abspath(kerascheck.__file__))
    folders = _installations()
    others = [os.path.join(folder, name, "__init__.py") for folder in folders for name in _NEEDED]
    return [
        kerascheck.__version__,
        sys.version,
        folders,
        dependencies.code(own),
        dependencies.code(os.path.join(os.path.dirname(own), "rules")),
        *map(dependencies.modified, others),
    ]


def _drained(rows: list[Any]) -> Iterator[Any]:
    """Yield the items of a list and remove them from it, to free their memory."""
    if not isinstance(rows, list):
        raise Damaged
    rows.reverse()
    while rows:
        yield rows.pop()


def _dependency(row: Any) -> dependencies.Dependency:
    query, path, answer, status = row
    if type(query) is not str or type(path) is not str or not isinstance(answer, (str, bool, type(None))):
        raise Damaged
    return dependencies.Dependency(query, path, answer, None if status is None else dependencies.Stat(*status))


def _written(linted: Linted) -> dict[str, Any]:
    settings = list(dict.fromkeys(file.settings for file in (*linted.found.files, *linted.files)))
    found, outcome = linted.found, linted.outcome

    def rows(files: Sequence[File]) -> list[Any]:
        return [[file.path, settings.index(file.settings)] for file in files]

    return {
        "settings": write(settings),
        "found": [rows(found.files), found.tests_left_out, write(found.unreadable), found.irregular, found.notes],
        "files": None if linted.files is found.files else rows(linted.files),
        "findings": write(outcome.findings),
        "tallied": write(outcome.tallied),
        "errors": write(outcome.errors),
        "rules": write(_rules(outcome)),
        "sources": [[path, source.path] for path, source in outcome.sources.items()],
    }


def _rules(outcome: LintResult) -> dict[str, tuple[str, bool]]:
    from kerascheck.catalog import registry

    codes = {finding.code for finding in outcome.findings}
    return {spec.code: (spec.summary, spec.speed) for spec in registry.rule_specs() if spec.code in codes}


def _linted(head: dict[str, Any], deps: Sequence[dependencies.Dependency | None]) -> Linted:
    settings = read(list[Settings], head["settings"])

    def files(rows: Any) -> list[File]:
        return [File(path, settings[number]) for path, number in read(list[tuple[str, int]], rows)]

    rows, tests_left_out, unreadable, irregular, notes = head["found"]
    found = Discovered(
        files(rows),
        read(int, tests_left_out),
        read(list[tuple[str, str]], unreadable),
        read(list[str], irregular),
        read(list[str], notes),
    )
    digests = {dep.path: dep.answer for dep in deps if dep is not None and dep.query == "digest"}
    sources = {
        path: _source(name, digests[os.path.abspath(name)])
        for path, name in read(list[tuple[str, str]], head["sources"])
    }
    part = found.files if head["files"] is None else files(head["files"])
    outcome = LintResult(
        findings=read(list[Finding], head["findings"]),
        tallied=read(list[Finding], head["tallied"]),
        errors=read(list[FileError], head["errors"]),
        sources=sources,
        rules=read(dict[str, tuple[str, bool]], head["rules"]),
        files=len(part),
    )
    known = {file.path for file in part}
    if not all(finding.code in (outcome.rules or ()) for finding in outcome.findings):
        raise Damaged
    if not all(
        finding.location.path in known and finding.location.path in sources
        for finding in (*outcome.findings, *outcome.tallied)
    ):
        raise Damaged
    return Linted(found, part, outcome)


def _source(path: str, digest: dependencies.Answer) -> Source:
    data = dependencies.content(path)
    if dependencies.digest(data) != digest:
        raise Damaged
    return decode(path, data)
