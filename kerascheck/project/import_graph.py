"""The import graph of a project, found without parsing.

A defect of a dataset in data.py shows only in the train.py that uses it. Linting a file therefore also checks the files
that import it, whether an editor lints one file or CI lints the whole tree.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator

from kerascheck.project.config import ConfigError, Configuration
from kerascheck.project.discovery import File, MissingPath, discover
from kerascheck.project.requirements import kind_of
from kerascheck.source import dependencies
from kerascheck.source.reading import read_bytes

_ROOT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_WEAK_MARKS = ("requirements.txt", "README.md", "README.rst", "README", "LICENSE")
_MOST_FOLDERS_UP = 4
_MOST = 30
"""Most importers to check; a module with more importers is a library."""
_SEARCHED_FOLDERS = 7
# In a notebook the statement is a JSON string.
# Searching for the end of a line is faster than for its start.
_IMPORT = re.compile(
    rb"\n[ \t]*\"?(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\r\n#;]*)|import[ \t]+([^\r\n#;]*))"
)
Remember = Callable[[str, Callable[[], list[str]]], list[str]]
_LINE_END = re.compile(r"(?:\\n)?\",?$", re.M)
_AS = re.compile(r"\bas\s+\w+")
_ADDED_PATH = re.compile(r"sys\.path\.(?:append|insert)\(([^#\n]*)")
_ALONE = re.compile(r"\s*(?:\d+\s*,\s*)?[rRuU]*(['\"]).*\1\s*\)?\s*")
_STRINGS = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")


def added_folders(text: str, folder: str) -> list[str]:
    """The folders that a script in ``folder`` adds to ``sys.path`` by string literals.

    Examples are ``sys.path.append("lib")`` and ``sys.path.insert(0, HERE + "/lib")``.
    """
    found = []
    for match in _ADDED_PATH.finditer(text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        # A word boundary in the pattern would disable re's fast search for a literal prefix.
        if "#" in before or re.search(r"\w$", before):
            continue
        added = "/".join(first or second for first, second in _STRINGS.findall(match[1]))
        # After a name or a call, a leading slash continues a path.
        added = added if _ALONE.fullmatch(match[1]) else added.lstrip("/")
        path = os.path.normpath(os.path.join(folder, added))
        if added and not os.path.isabs(added) and dependencies.is_folder(path):
            found.append(path)
    return found


def packages_of(dotted: str) -> list[str]:
    """The packages that importing a dotted name imports first, the outermost first: ``a`` and ``a.b`` for ``a.b.c``."""
    parts = dotted.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def project_root(path: str) -> str:
    """The nearest folder upwards that looks like a project root, or else the file's own folder.

    A download without git history may have only a README. That marks a root at most four folders up, and never the home
    folder.
    """
    own = folder = os.path.dirname(os.path.abspath(path))
    fallback, home = None, os.path.expanduser("~")
    for depth in itertools.count():
        if any(dependencies.exists(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return folder
        if (
            fallback is None
            and depth <= _MOST_FOLDERS_UP
            and folder != home
            and any(dependencies.exists(os.path.join(folder, mark)) for mark in _WEAK_MARKS)
        ):
            fallback = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return fallback or own


def _paths_below(root: str, configuration: Configuration) -> list[str]:
    """The files that discovery finds below a folder; none if it vanished or its configuration is invalid."""
    try:
        return [file.path for file in discover([root], configuration).files]
    except (MissingPath, ConfigError):
        return []


class ImportGraph:
    """The import graph of the files that discovery finds below ``root``.

    Args:
        remember: returns the result stored under a name, or else calls the function and stores its result.
    """

    def __init__(self, root: str, configuration: Configuration, remember: Remember | None = None):
        self._root = root
        remember = remember or (lambda name, compute: compute())
        found = remember(f"graph {root}", lambda: _paths_below(root, configuration))
        self._files = {
            absolute: File(path, configuration.for_file(path))
            for path in found
            if kind_of(path) is None and (absolute := os.path.abspath(path)).startswith(os.path.join(root, ""))
        }
        self._modules: dict[str, str] = {}
        for path in self._files:
            stem = path.rpartition(".")[0]
            self._modules[os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem] = path
        self._beginnings: dict[str, list[str]] = {}
        # Rules out most imports quickly: they name no file of the project.
        self._words = {word for module in self._modules for word in module.split(os.sep)}
        self._importers: dict[str, set[str]] = {}
        among = dependencies.digest_of(self._files)
        for path in self._files:
            for target in remember(f"imports {path} {among}", lambda: sorted(set(self._imports(path)))):
                self._importers.setdefault(target, set()).add(path)

    def _imports(self, path: str) -> Iterator[str]:
        """The files of the graph that the file at ``path`` imports."""
        try:
            data = read_bytes(path)
        except OSError:
            return
        added: list[str] = []
        if b"sys.path." in data:
            text = data.decode("utf-8", "replace")
            added = added_folders(
                _LINE_END.sub("", text).replace('\\"', '"') if path.endswith(".ipynb") else text, os.path.dirname(path)
            )
        for package, names, modules in _IMPORT.findall(b"\n" + data):
            base = package.decode("utf-8", "replace")
            level = len(base) - len(base.lstrip("."))
            listed = _AS.sub("", (names or modules).decode("utf-8", "replace"))
            words = re.findall(r"[\w.]+", listed)
            named = (
                [base.lstrip(".")] + [f"{base.lstrip('.')}.{word}".strip(".") for word in words] if package else words
            )
            for name in dict.fromkeys(name for each in named for name in (each, *packages_of(each))):
                if name and (target := self._resolve(path, name, level) or self._resolve_in(added, path, name, level)):
                    yield target

    def _resolve(self, importer: str, name: str, level: int) -> str | None:
        if name.partition(".")[0] not in self._words:
            return None
        folder = os.path.dirname(importer)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        inner = name.replace(".", os.sep)
        for above in self._above(folder)[: 1 if level else None]:
            found = self._modules.get(above + inner)
            if found is not None and found != importer:
                return found
        return None

    def _above(self, folder: str) -> list[str]:
        """The path prefixes to search for modules from a folder, the nearest first."""
        if folder not in self._beginnings:
            place, found = folder, [os.path.join(folder, "")]
            while len(found) < _SEARCHED_FOLDERS and place != self._root:
                place = os.path.dirname(place)
                found.append(os.path.join(place, ""))
            self._beginnings[folder] = found
        return self._beginnings[folder]

    def _resolve_in(self, folders: list[str], importer: str, name: str, level: int) -> str | None:
        found = (self._modules.get(os.path.join(folder, *name.split("."))) for folder in folders if not level)
        return next((path for path in found if path is not None and path != importer), None)

    def reaching(self, paths: Iterable[str]) -> set[str]:
        """The absolute paths of ``paths`` and of all files that import one of them, directly or indirectly."""
        pending = [os.path.abspath(path) for path in paths]
        found = set(pending)
        while pending:
            new = self._importers.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return found

    @property
    def paths(self) -> Iterable[str]:
        """The absolute paths of all files of the graph."""
        return self._files

    def importers(self, paths: Iterable[str]) -> list[File]:
        """The nearest direct and indirect importers of ``paths``, without ``paths`` themselves."""
        wanted = {os.path.abspath(path) for path in paths}
        found: list[str] = []
        seen, level = set(wanted), wanted
        while level and len(found) < _MOST:
            level = {importer for path in level for importer in self._importers.get(path, ())} - seen
            seen |= level
            found += sorted(level)
        return [self._files[path] for path in found[:_MOST]]
