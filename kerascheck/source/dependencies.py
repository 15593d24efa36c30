"""The dependencies of findings on the disk: queries, their answers, and the files on whose behalf they were made.

Code that decides about findings reads the disk through this module: by :func:`content` and the functions decorated with
:func:`tracked`. They note their answers while a tracker is active, so that the cache knows what a result depends on.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

Answer = str | bool | None
_Function = TypeVar("_Function", bound=Callable[..., Any])

LARGEST = 64 << 20
"""Bytes of the largest file that is read: notebooks hold their pictures."""
_SETTLED = 2_000_000_000
"""Nanoseconds between two changes that surely get different times: the coarsest clock, that of FAT, has steps of 2 s."""


_TO_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class Stat(NamedTuple):
    """The fields of a file's status that show whether it changed, without reading it."""

    modified: int
    changed: int
    size: int
    inode: int


class Dependency(NamedTuple):
    """A query about a path, and its answer."""

    query: str
    path: str
    answer: Answer
    stat: Stat | None = None
    """The status of a file whose content was read; None if a change might not show in it."""


class DependencyTracker:
    """A graph of nodes with the dependencies of each.

    A node is a checked file, an imported module or a memoised function. It depends on the answers to its own queries and on
    the nodes that it uses.

    Args:
        deps: the dependencies of an earlier tracker, which keep their numbers.
        outdated: the numbers of those whose answer changed.

    Attributes:
        dependencies: each dependency once; its index is its number. None if an outdated one was not queried again.
        is_steady: whether the same query always had the same answer.
    """

    def __init__(self, deps: Sequence[Dependency | None] = (), outdated: Collection[int] = ()) -> None:
        self.dependencies: list[Dependency | None] = [None if n in outdated else dep for n, dep in enumerate(deps)]
        self.is_steady = True
        self._numbers = {(dep.query, dep.path): n for n, dep in enumerate(deps) if dep is not None}
        self._by: dict[Hashable, set[int]] = {}
        self._uses: dict[Hashable, set[Hashable]] = {}
        self._asking: list[Hashable] = [None]

    def add(self, dep: Dependency) -> int:
        """Add a dependency to the active node; returns its number."""
        number = self._numbers.setdefault((dep.query, dep.path), len(self.dependencies))
        if number == len(self.dependencies):
            self.dependencies.append(dep)
        elif (known := self.dependencies[number]) is None:
            self.dependencies[number] = dep
        elif known.answer != dep.answer:
            self.is_steady = False
        self._by.setdefault(self._asking[-1], set()).add(number)
        return number

    def use(self, node: Hashable) -> None:
        """Note that the active node uses another."""
        self.link(self._asking[-1], node)

    def link(self, of: Hashable, to: Hashable) -> None:
        """Note that one node uses another."""
        if of != to:
            self._uses.setdefault(of, set()).add(to)

    @contextlib.contextmanager
    def asking(self, node: Hashable) -> Iterator[None]:
        """Make ``node`` the active node; the node that was active uses it."""
        self.link(self._asking[-1], node)
        with self.apart(node):
            yield

    @contextlib.contextmanager
    def apart(self, node: Hashable) -> Iterator[None]:
        """Make ``node`` the active node, without a link from the node that was active."""
        self._asking.append(node)
        try:
            yield
        finally:
            self._asking.pop()

    def asked_by(self, node: Hashable) -> set[int]:
        """The numbers of the transitive dependencies of a node."""
        seen, pending = {node}, [node]
        found: set[int] = set()
        while pending:
            each = pending.pop()
            found |= self._by.get(each, set())
            new = self._uses.get(each, set()) - seen
            seen |= new
            pending += new
        return found


_tracker: DependencyTracker | None = None
_remembering: list[Any] = []
_of_text: set[str] = set()
_queries: dict[str, Callable[[str], Answer]] = {}


def current_tracker() -> DependencyTracker | None:
    """The active tracker, if any."""
    return _tracker


@contextlib.contextmanager
def tracking(tracker: DependencyTracker | None) -> Iterator[None]:
    """Activate a tracker. Memoised results are invalidated first, since their dependencies are unknown to it."""
    global _tracker
    before, _tracker = _tracker, tracker
    try:
        if tracker is not None:
            invalidate()
        yield
    finally:
        _tracker = before


def tracked(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Decorate a query of an absolute path: its answers are noted, and :func:`ask` finds it by name."""
    name = function.__name__
    _queries[name] = function

    @functools.wraps(function)
    def asked(path: str) -> Answer:
        answer = function(path)
        if _tracker is not None:
            _tracker.add(Dependency(name, path, answer))
        return answer

    return asked


def tracked_by_content(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Decorate a query that depends on the content of one file alone; the path is the last line of its argument.

    The active node depends on the answer only, not on the content.
    """
    name = function.__name__
    _queries[name] = function
    _of_text.add(name)

    @functools.wraps(function)
    def asked(path: str) -> Answer:
        with apart(of_file(path.rpartition("\n")[2])):
            answer = function(path)
        note(name, path, answer)
        return answer

    return asked


def note(name: str, path: str, answer: Answer) -> None:
    """Note the answer to a query that was computed elsewhere."""
    if _tracker is not None:
        _tracker.add(Dependency(name, path, answer))


def ask(name: str, path: str) -> Answer:
    """Answer a query by name without noting it; raises KeyError for an unknown name."""
    return _queries[name](path)


def remembered(function: _Function) -> _Function:
    """Memoise a function; each caller depends on the queries of the call that computed the result."""
    cached = functools.cache(function)
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def told(*arguments: Hashable) -> Any:
        if _tracker is None:
            return cached(*arguments)
        with _tracker.asking((name, *arguments)):
            return cached(*arguments)

    told.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
    _remembering.append(cached)
    return cast(_Function, told)


def invalidate() -> None:
    """Invalidate all memoised results."""
    for function in _remembering:
        function.cache_clear()


def asking(node: Hashable) -> contextlib.AbstractContextManager[None]:
    """See :meth:`DependencyTracker.asking`."""
    return contextlib.nullcontext() if _tracker is None else _tracker.asking(node)


def apart(node: Hashable) -> contextlib.AbstractContextManager[None]:
    """See :meth:`DependencyTracker.apart`."""
    return contextlib.nullcontext() if _tracker is None else _tracker.apart(node)


def on_behalf_of(path: str | os.PathLike[str]) -> contextlib.AbstractContextManager[None]:
    """Make the file at ``path`` the active node: whoever uses the file depends on the queries."""
    return contextlib.nullcontext() if _tracker is None else _tracker.asking(of_file(path))


def use(node: Hashable) -> None:
    """Note that the active node uses another."""
    if _tracker is not None:
        _tracker.use(node)


def link(of: Hashable, to: Hashable) -> None:
    """See :meth:`DependencyTracker.link`."""
    if _tracker is not None:
        _tracker.link(of, to)


def of_file(path: str | os.PathLike[str]) -> Hashable:
    """The node of a file, by its real path."""
    return ("file", _real(os.path.abspath(path)))


@functools.lru_cache(maxsize=10_000)
def _real(path: str) -> str:
    return os.path.realpath(path)


# --- queries --------------------------------------------------------------------------------------


def content(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: the file is unreadable, too large or not regular; reading a pipe or device may block.
    """
    if _tracker is None:
        return _content(path)[0]
    absolute = os.path.abspath(path)
    real(os.path.dirname(absolute))
    if os.path.islink(absolute):
        real(absolute)
    try:
        data, status = _content(path)
    except OSError as problem:
        note("digest", absolute, _failed(problem))
        raise
    _tracker.add(Dependency("digest", absolute, digest(data), status))
    return data


def _content(path: str | os.PathLike[str]) -> tuple[bytes, Stat | None]:
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if status.st_size > LARGEST:
            raise too_large()
        return file.read(), _settled(status)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read it; raises OSError for any other, without blocking on a pipe."""
    file = os.open(path, _TO_READ)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return open(file, "rb")
    except BaseException:
        os.close(file)
        raise


def _settled(status: os.stat_result) -> Stat | None:
    """The status of a file; None after a change so recent that another one might not show."""
    if max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED > time.time_ns():
        return None
    return Stat(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def too_large() -> OSError:
    """The error for a file that is too large to be a program."""
    return OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MB")


def _failed(problem: OSError) -> str:
    return f"!{problem.errno}"


def digest(data: bytes) -> str:
    """The hash of a content."""
    return digest_of_pieces([data])


def digest_of_pieces(pieces: Iterable[bytes]) -> str:
    """The :func:`digest` of a content in pieces."""
    # The import loads OpenSSL, which a run without a cache does not need.
    from hashlib import blake2b

    found = blake2b(digest_size=16)
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def digest_of(names: Iterable[str]) -> str:
    """The :func:`digest` of a list of names."""
    return digest("\0".join(names).encode("utf-8", "surrogateescape"))


@tracked
def is_file(path: str) -> bool:
    """See :func:`os.path.isfile`."""
    return os.path.isfile(path)


@tracked
def is_folder(path: str) -> bool:
    """See :func:`os.path.isdir`."""
    return os.path.isdir(path)


@tracked
def exists(path: str) -> bool:
    """See :func:`os.path.exists`."""
    return os.path.exists(path)


def refusal(path: str) -> OSError | None:
    """The error that hides whether a path exists, such as a lack of permission; None if there is none. It is not noted."""
    try:
        os.stat(path)
    except OSError as problem:
        return None if problem.errno in (errno.ENOENT, errno.ENOTDIR) else problem
    except ValueError:
        pass  # no path holds a null character
    return None


@tracked
def is_link(path: str) -> bool:
    """See :func:`os.path.islink`."""
    return os.path.islink(path)


@tracked
def real(path: str) -> str:
    """See :func:`os.path.realpath`."""
    return os.path.realpath(path)


def scripts_in(folder: str) -> list[str]:
    """The sorted names of the scripts and modules in a folder; empty if it is unreadable."""
    names = _scripts(folder)
    note("scripts", folder, digest_of(names))
    return names


def _scripts(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return []


@tracked
def scripts(folder: str) -> str:
    """The digest of the names of :func:`scripts_in`."""
    return digest_of(_scripts(folder))


@tracked
def modified(folder: str) -> str | None:
    """The modification time of a folder, if it exists."""
    try:
        return str(os.stat(folder).st_mtime_ns)
    except OSError:
        return None


@tracked
def installed(folder: str) -> str | None:
    """The digest of the packages installed in a folder and their times; None without the folder."""
    try:
        with os.scandir(folder) as entries:
            names = [f"{each.name} {each.stat().st_mtime_ns}" for each in entries if each.name.endswith(_INSTALLED)]
    except OSError:
        return None
    return digest_of(sorted(names))


_INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")


@tracked
def code(folder: str) -> str:
    """The digest of the names, times and sizes of a package's code and data."""
    found = []
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".json")):
                status = os.stat(os.path.join(place, name))
                found.append(f"{place} {name} {status.st_mtime_ns} {status.st_size}")
    return digest_of(found)


_ABSENT_OR_NOT = frozenset({"is_file", "is_folder", "exists"})
_Names = frozenset[str]


class Recheck:
    """Repeats the queries of an earlier run, each once and as cheaply as possible.

    Attributes:
        settled: by number, the dependencies on unchanged contents whose :class:`Stat` is newer than the stored one.
    """

    def __init__(self) -> None:
        self.settled: dict[int, Dependency] = {}
        self._names: dict[str, _Names | None] = {}

    def outdated(self, deps: Sequence[Dependency | None]) -> set[int]:
        """The numbers of the dependencies whose answer changed."""
        found = set()
        absent: dict[str, list[int]] = {}
        of_texts: list[int] = []
        contents: dict[str, int] = {}
        for number, dep in enumerate(deps):
            if dep is None:
                continue
            if dep.query == "digest":
                contents[dep.path] = number
            if dep.query in _of_text:
                of_texts.append(number)
            elif dep.answer is False and dep.query in _ABSENT_OR_NOT:
                absent.setdefault(dep.path.rpartition(os.sep)[0], []).append(number)
            elif not (self._is_unchanged(number, dep) if dep.query == "digest" else _holds(dep)):
                found.add(number)
        # Parents first: a missing folder contains nothing.
        for folder in sorted(absent, key=len):
            names = self._names_in(folder)
            for number in absent[folder]:
                dep = deps[number]
                assert dep is not None
                may_be = names is None or dep.path[len(folder) + 1 :].casefold() in names
                if may_be and not _holds(dep):
                    found.add(number)
        for number in of_texts:
            dep = deps[number]
            assert dep is not None
            content = contents.get(dep.path.rpartition("\n")[2])
            if (content is None or content in found) and not _holds(dep):
                found.add(number)
        return found

    def _is_unchanged(self, number: int, dep: Dependency) -> bool:
        try:
            if dep.stat is not None:
                status = os.stat(dep.path)
                if dep.stat == (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino):
                    return True
            data, now = _content(dep.path)
        except OSError as problem:
            return _failed(problem) == dep.answer
        except ValueError:
            return False
        # A link that replaced the file has other files beside it.
        if digest(data) != dep.answer or dep.stat is not None and os.path.islink(dep.path):
            return False
        if now != dep.stat:
            self.settled[number] = dep._replace(stat=now)
        return True

    def _names_in(self, folder: str) -> _Names | None:
        """The names in a folder, case-folded because some file systems ignore case; None if unknown."""
        if folder not in self._names:
            parent, _, name = folder.rpartition(os.sep)
            above = self._names.get(parent)
            try:
                absent = above is not None and name.casefold() not in above
                self._names[folder] = frozenset(
                    each.casefold() for each in (() if absent else os.listdir(folder + os.sep))
                )
            except (FileNotFoundError, NotADirectoryError):
                self._names[folder] = frozenset()
            except (OSError, ValueError):
                self._names[folder] = None
        return self._names[folder]


def _holds(dep: Dependency) -> bool:
    try:
        return ask(dep.query, dep.path) == dep.answer
    except (KeyError, OSError, ValueError, OverflowError, RecursionError, re.error):
        # No query of this version has such a name or argument.
        return False
