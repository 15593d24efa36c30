"""Discovery of the files to lint: all explicit ones, and those in folders that nothing excludes."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kerascheck.project.config import ConfigError, Configuration, Pattern, Settings
from kerascheck.project.requirements import is_about_tensorflow, kind_of
from kerascheck.source import dependencies
from kerascheck.source.code import without_comments
from kerascheck.source.escape import escaped
from kerascheck.source.patterns import compiled, spec
from kerascheck.source.reading import cannot_be_read, decode, display_path, read_bytes, read_stream
from kerascheck.source.text import Unreadable

if TYPE_CHECKING:
    import pathspec

_LARGEST_IGNORE_FILE = 1 << 20
"""Largest .gitignore to read, in bytes: each of its patterns is compiled, and every file is matched against all."""
_TEST_FILE = re.compile(r"test_.*\.(?:py|ipynb)|.*_test\.(?:py|ipynb)")
_TEST_FOLDERS = frozenset(("test", "tests"))
_PYTHON_ENDINGS = (".py", ".ipynb", ".pyw", ".pyt", ".tac", ".wsgi")
_PYTHON_NAMES = frozenset(("wscript",))
_SHEBANG = re.compile(rb"#![^\r\n]*[/ \t]python(?:3[\d.]*)?(?=\s|$)")
"""A first line that runs the file with Python 3, or with ``python`` of any version."""
_LONGEST_SHEBANG = 256
_DEFINES_TESTS = re.compile(rb"\bdef test|\bclass \w*Test|\bTestCase\b|\bimport (?:pytest|unittest)\b")


class MissingPath(Exception):
    """An argument that does not exist, or cannot be inspected because of the error ``refusal``."""

    def __init__(self, path: str, refusal: OSError | None):
        problem = "no such file or folder" if refusal is None else cannot_be_read(refusal).message
        super().__init__(f"{escaped(path) or repr(path)}: {problem}")
        self.path = path


@dataclass(frozen=True)
class File:
    """A file to lint."""

    path: str
    """The path as shown to the user."""
    settings: Settings
    content: bytes | None = None
    """The bytes of a pipe or device, which can be read only once; None for a regular file."""


@dataclass
class Discovered:
    """The files that discovery found for the arguments of a run, and the problems on the way."""

    files: list[File] = field(default_factory=list)
    tests_left_out: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Unlistable folders, unreadable pipes and unusable configuration files, each with the reason."""
    irregular: list[str] = field(default_factory=list)
    """Pipes, devices and dead links in folders that are named like files to lint."""
    notes: list[str] = field(default_factory=list)
    """Lines about skipped parts of .gitignore files, with file and reason."""


def discover(arguments: Sequence[str], configuration: Configuration, *, force_exclude: bool = False) -> Discovered:
    """Discover the files to lint in ``arguments`` (files and folders), each once, sorted by path.

    Args:
        force_exclude: whether exclusions also apply to explicitly named files, and files that are neither Python nor
            requirements are skipped. Programs such as pre-commit, which pass all changed files, need this.

    Raises:
        MissingPath: an argument does not exist.
        ConfigError: the configuration files of all arguments are unusable. If only some are, or one in a folder below,
            the files that they apply to are skipped.
    """
    _refuse_missing(arguments, force_exclude)
    result = Discovered()
    found: dict[str, File] = {}
    refused: list[ConfigError] = []
    for argument in arguments:
        path = os.path.abspath(argument)
        is_folder = dependencies.is_folder(path)
        try:
            settings = configuration.for_folder(path) if is_folder else configuration.for_file(path)
        except ConfigError as problem:
            refused.append(problem)
            continue
        if is_folder:
            for file in _walk(path, configuration, result):
                found.setdefault(os.path.abspath(file.path), file)
        elif force_exclude and not (dependencies.exists(path) and _can_be_linted(path)):
            continue
        elif force_exclude and not wanted(path, settings):
            result.tests_left_out += is_test(display_path(path))
        elif path not in found and (named := _named_file(path, settings, configuration, result)) is not None:
            found[path] = named
    if refused and len(refused) == len(arguments):
        raise refused[0]
    result.unreadable = list(dict.fromkeys((*result.unreadable, *map(_left_unread, refused))))
    result.files = sorted(found.values(), key=lambda file: file.path)
    return result


def _refuse_missing(arguments: Sequence[str], force_exclude: bool) -> None:
    """Raise MissingPath for an argument that does not exist, unless it would be excluded."""
    for argument in arguments:
        is_excluded = force_exclude and (
            dependencies.is_link(os.path.abspath(argument)) or not _can_be_linted(argument)
        )
        if not argument or not dependencies.exists(os.path.abspath(argument)) and not is_excluded:
            raise MissingPath(argument, dependencies.refusal(argument))


def _named_file(path: str, settings: Settings, configuration: Configuration, result: Discovered) -> File | None:
    """An explicitly named file, with its content if it is a pipe; None, and an entry in ``result``, if unreadable."""
    if dependencies.is_file(path):
        return File(display_path(path), settings)
    try:
        with open(path, "rb") as stream:
            return File(display_path(path), _settings_of_streams(configuration), read_stream(stream))
    except OSError as problem:
        result.unreadable.append((display_path(path), cannot_be_read(problem).message))
        return None


def _left_unread(problem: ConfigError) -> tuple[str, str]:
    """The entry of :attr:`Discovered.unreadable` for an unusable configuration file."""
    return problem.origin or "", f"{problem.reason} (the files that it configures are not linted)"


def is_test(path: str, base: str = "") -> bool:
    """Whether the file at ``path``, relative to ``base``, belongs to a test suite.

    The names of its folders decide, or its own name together with its code: a script that trains and tests a model may
    be called ``train_and_test.py``.
    """
    *folders, name = path.replace(os.sep, "/").split("/")
    if not _TEST_FOLDERS.isdisjoint(folders) or name == "conftest.py":
        return True
    return _TEST_FILE.fullmatch(name) is not None and _defines_tests(os.path.join(base, path))


def _defines_tests(path: str) -> bool:
    try:
        data = read_bytes(path)
    except OSError:
        return False  # linting the file reports the error
    found = _DEFINES_TESTS.search(data)
    return found is not None and (
        _is_code(data[: found.start()]) or _DEFINES_TESTS.search(_code(path, data)) is not None
    )


def _is_code(before: bytes) -> bool:
    """Whether the text after ``before``, the beginning of a file, is certainly in no string or comment."""
    line = before[before.rfind(b"\n") + 1 :]
    opens = b'"""' in before or b"'''" in before or b"\\" in before
    return not opens and not any(sign in line for sign in (b"#", b"'", b'"'))


def _code(path: str, data: bytes) -> bytes:
    """The code of a script or a notebook without comments; all of ``data`` if it cannot be decoded."""
    try:
        return without_comments(decode(path, data).text).encode("utf-8", "surrogatepass")
    except Unreadable:
        return data


def _settings_of_streams(configuration: Configuration) -> Settings:
    """The settings of pipes, as for standard input: the code does not belong to ``/dev/fd``."""
    return configuration.for_folder(os.getcwd())


def _can_be_linted(path: str) -> bool:
    """Whether a file is a notebook, a requirements file, or Python by its name or first line."""
    name = os.path.basename(path)
    if name.endswith(_PYTHON_ENDINGS) or name in _PYTHON_NAMES or kind_of(path) is not None:
        return True
    # A script with another extension may be a template.
    if os.path.splitext(name)[1] or not dependencies.is_file(os.path.abspath(path)):
        return False
    try:
        return _SHEBANG.match(read_bytes(path), 0, _LONGEST_SHEBANG) is not None
    except OSError:
        return False


def wanted(path: str, settings: Settings, top: str | None = None) -> bool:
    """Whether discovery from the folder ``top``, by default the working directory, includes the file at ``path``."""
    absolute, here = os.path.abspath(path), top or os.getcwd()
    base = here if absolute.startswith(os.path.join(here, "")) else os.path.dirname(absolute)
    parts = os.path.relpath(absolute, base).split(os.sep)
    if not settings.include_tests and is_test("/".join(parts), base):
        return False
    rules = _Ignored(base, settings.respect_gitignore)
    folder = base
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        if part.startswith(".") or _excluded(os.path.join(folder, part), settings, folder_itself=not last):
            return False
        if rules.match(os.path.join(folder, part), is_folder=not last):
            return False
        folder = os.path.join(folder, part)
        if not last:
            rules.enter(folder)
    return True


def would_find(path: str, settings: Settings, top: str) -> bool:
    """Whether linting the folder ``top`` would lint the file at the absolute ``path``."""
    return (
        _has_name_of_interest(path)
        and wanted(path, settings, top)
        and not (kind_of(path) and not _is_about_tensorflow(path))
    )


def _walk(top: str, configuration: Configuration, result: Discovered) -> Iterator[File]:
    tests_wanted = os.path.basename(top) in _TEST_FOLDERS
    inside = os.path.join(top, "")
    ignored = _Ignored(top, configuration.for_folder(top).respect_gitignore)

    def refuse(problem: OSError) -> None:
        dependencies.note(entries.__name__, problem.filename, None)
        result.unreadable.append((display_path(problem.filename), f"cannot be listed: {problem.strerror or problem}"))

    for folder, subfolders, names in _folders(top, refuse):
        dependencies.note(entries.__name__, folder, _digest(folder, subfolders, names))
        try:
            settings = configuration.for_folder(folder)
        except ConfigError as problem:
            result.unreadable.append(_left_unread(problem))
            subfolders.clear()
            continue
        if folder != top:
            ignored.enter(folder)
        keep = []
        for name in sorted(subfolders):
            path = os.path.join(folder, name)
            if name.startswith(".") or dependencies.exists(os.path.join(path, "pyvenv.cfg")):
                continue
            if not _excluded(path, settings, folder_itself=True) and not ignored.match(path, is_folder=True):
                keep.append(name)
        subfolders[:] = keep
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not _has_name_of_interest(path):
                continue
            if _excluded(path, settings, folder_itself=False) or ignored.match(path, is_folder=False):
                continue
            if not dependencies.is_file(path):
                result.irregular.append(display_path(path))
                continue
            if not (settings.include_tests or tests_wanted) and is_test(path.removeprefix(inside), top):
                result.tests_left_out += 1
                continue
            if kind_of(path) and not _is_about_tensorflow(path):
                continue
            yield File(display_path(path), settings)
    result.notes += ignored.notes


def _folders(top: str, refuse: Callable[[OSError], None]) -> Iterator[tuple[str, list[str], list[str]]]:
    """``os.walk`` without recursion: before Python 3.12, deep trees exceed Python's stack."""
    waiting = [top]
    while waiting:
        listed = next(os.walk(waiting.pop(), onerror=refuse), None)
        if listed is None:
            continue
        yield listed
        folder, subfolders, _ = listed
        paths = [os.path.join(folder, name) for name in reversed(subfolders)]
        waiting += [path for path in paths if not dependencies.is_link(path)]


@dependencies.tracked
def entries(folder: str) -> str | None:
    """The digest of the names in a folder that matter to discovery; None if they cannot be listed."""
    try:
        _, subfolders, names = next(os.walk(folder, onerror=_raise))
    except OSError:
        return None
    return _digest(folder, subfolders, names)


def _raise(problem: OSError) -> None:
    raise problem


def _digest(folder: str, subfolders: Iterable[str], names: Iterable[str]) -> str:
    shown = sorted(f"{name}/" for name in subfolders if not name.startswith("."))
    shown += sorted(name for name in names if _has_name_of_interest(os.path.join(folder, name)))
    return dependencies.digest_of(shown)


def _has_name_of_interest(path: str) -> bool:
    return not os.path.basename(path).startswith(".") and (
        path.endswith((".py", ".ipynb")) or kind_of(path) is not None
    )


def _is_about_tensorflow(path: str) -> bool:
    try:
        return is_about_tensorflow(read_bytes(path))
    except OSError:
        return False


def _excluded(path: str, settings: Settings, *, folder_itself: bool) -> bool:
    patterns = settings.exclude + settings.extend_exclude
    return any(matches(pattern, path, folder_itself=folder_itself) for pattern in patterns)


def matches(pattern: Pattern, path: str, *, folder_itself: bool = False) -> bool:
    """Whether an absolute ``path`` matches; a pattern without a folder matches the name alone."""
    name = os.path.basename(path)
    if not pattern.folder:
        return _name_glob(pattern.glob).match(name) is not None
    base = os.path.join(pattern.folder, "")
    if not path.startswith(base):
        return False
    relative = path[len(base) :].replace(os.sep, "/") + ("/" if folder_itself else "")
    return bool(spec(pattern.glob.removeprefix("./")).match_file(relative))


@functools.cache
def _name_glob(glob: str) -> re.Pattern[str]:
    import fnmatch

    return re.compile(fnmatch.translate(glob))


class _Ignored:
    """The .gitignore files that apply below ``top``: its own, its parents' up to the repository, its subfolders'.

    Attributes:
        notes: lines about skipped files and patterns, with the reason.
    """

    def __init__(self, top: str, active: bool):
        self._active = active
        self._specs: dict[str, list[pathspec.GitIgnoreSpec]] = {}
        self.notes: list[str] = []
        if not active:
            return
        folder = top
        above: list[str] = []
        while not dependencies.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            above.append(folder := parent)
        for parent in reversed(above):
            self.enter(parent)
        if self.match(top, is_folder=True):
            # The user names the folder, so rules that ignore it as a whole do not apply inside.
            self._specs.clear()
        self.enter(top)

    def enter(self, folder: str) -> None:
        """Read the ignore files of ``folder`` itself."""
        if not self._active:
            return
        for name in (".gitignore", os.path.join(".git", "info", "exclude")):
            path = os.path.join(folder, name)
            try:
                data = read_bytes(path)
            except OSError:
                continue
            if len(data) > _LARGEST_IGNORE_FILE:
                self.notes.append(f"{display_path(path)}: is left out: it has {len(data)} bytes")
                continue
            lines = data.decode("utf-8", "replace").splitlines()
            if not any(line.strip() and not line.startswith("#") for line in lines):
                continue
            read, refused = compiled(lines)
            self._specs.setdefault(folder, []).append(read)
            self.notes += (f"{display_path(path)}:{index + 1}: is left out: {what}" for index, what in refused)

    def match(self, path: str, *, is_folder: bool) -> bool:
        """Whether git would ignore ``path``: the deepest file with a matching pattern decides."""
        if not self._specs:
            return False
        folder = os.path.dirname(path)
        while True:
            # .git/info/exclude is read after .gitignore and takes precedence here.
            for read in reversed(self._specs.get(folder, ())):
                relative = path.removeprefix(os.path.join(folder, "")).replace(os.sep, "/") + ("/" if is_folder else "")
                verdict = read.check_file(relative).include
                if verdict is not None:
                    return bool(verdict)
            parent = os.path.dirname(folder)
            if parent == folder:
                return False
            folder = parent
