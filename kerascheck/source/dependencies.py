"""What linting asks of the disk, and for whom, so that an answer can be kept for as long as all of it would be answered alike.

Whatever decides about findings asks through here: :func:`content` and the functions that are a :func:`question`. While nobody
records, they only answer.
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
"""Nanoseconds after which another change of a file has another time: the coarsest clock, FAT's, has steps of 2 s."""


_TO_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class Stat(NamedTuple):
    """By what a file is known to be unchanged without reading it."""

    modified: int
    changed: int
    size: int
    inode: int


class Fact(NamedTuple):
    """A question, what it was about, and the answer."""

    question: str
    path: str
    answer: Answer
    stat: Stat | None = None
    """Of a content; None where it may change without another one."""


_Asked = tuple[str, str]


class Record:
    """What was asked while it was the one to be told: by whom, and what was answered.

    Args:
        facts: those of an earlier record, which keep their numbers.
        outdated: the numbers of those that are others now.

    Whoever asks is a node: the file that is checked, a module that others import, a function that remembers. A node stands for
    all that it asked and for all nodes that it used.

    Attributes:
        facts: all that was answered, each once; a fact is known by its number here. None where nobody has asked again.
        is_steady: whether the same question always had the same answer.
    """

    def __init__(self, facts: Sequence[Fact | None] = (), outdated: Collection[int] = ()) -> None:
        self.facts: list[Fact | None] = [None if n in outdated else fact for n, fact in enumerate(facts)]
        self.is_steady = True
        self._numbers = {(fact.question, fact.path): n for n, fact in enumerate(facts) if fact is not None}
        self._by: dict[Hashable, set[int]] = {}
        self._uses: dict[Hashable, set[Hashable]] = {}
        self._asking: list[Hashable] = [None]

    def add(self, fact: Fact) -> int:
        """Note an answer, for the node that asks; the number of the fact."""
        number = self._numbers.setdefault((fact.question, fact.path), len(self.facts))
        if number == len(self.facts):
            self.facts.append(fact)
        elif (known := self.facts[number]) is None:
            self.facts[number] = fact
        elif known.answer != fact.answer:
            self.is_steady = False
        self._by.setdefault(self._asking[-1], set()).add(number)
        return number

    def use(self, node: Hashable) -> None:
        """Note that the node that asks uses another."""
        self.link(self._asking[-1], node)

    def link(self, of: Hashable, to: Hashable) -> None:
        """Note that one node uses another."""
        if of != to:
            self._uses.setdefault(of, set()).add(to)

    @contextlib.contextmanager
    def asking(self, node: Hashable) -> Iterator[None]:
        """Questions are those of ``node``, which the node that asks so far uses."""
        self.link(self._asking[-1], node)
        with self.apart(node):
            yield

    @contextlib.contextmanager
    def apart(self, node: Hashable) -> Iterator[None]:
        """Questions are those of ``node``, but do not matter to the node that asks so far."""
        self._asking.append(node)
        try:
            yield
        finally:
            self._asking.pop()

    def asked_by(self, node: Hashable) -> set[int]:
        """What a node, and all that it uses, asked: numbers of facts."""
        seen, pending = {node}, [node]
        found: set[int] = set()
        while pending:
            each = pending.pop()
            found |= self._by.get(each, set())
            new = self._uses.get(each, set()) - seen
            seen |= new
            pending += new
        return found


_record: Record | None = None
_remembering: list[Any] = []
_of_text: set[str] = set()
_questions: dict[str, Callable[[str], Answer]] = {}


def recorded() -> Record | None:
    """Who is told; None where nobody records."""
    return _record


@contextlib.contextmanager
def recording(record: Record | None) -> Iterator[None]:
    """Tell ``record`` what is asked. What was remembered before is asked again, since nobody knows why it was so."""
    global _record
    before, _record = _record, record
    try:
        if record is not None:
            forget()
        yield
    finally:
        _record = before


def question(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Make a function of an absolute path one that is noted, and that :func:`ask` knows by its name."""
    name = function.__name__
    _questions[name] = function

    @functools.wraps(function)
    def asked(path: str) -> Answer:
        answer = function(path)
        if _record is not None:
            _record.add(Fact(name, path, answer))
        return answer

    return asked


def question_of_text(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The same for what follows from the content of a file alone, whose path is the last line of what is asked; the content
    itself is not noted for who asks."""
    name = function.__name__
    _questions[name] = function
    _of_text.add(name)

    @functools.wraps(function)
    def asked(path: str) -> Answer:
        with apart(of_file(path.rpartition("\n")[2])):
            answer = function(path)
        note(name, path, answer)
        return answer

    return asked


def note(name: str, path: str, answer: Answer) -> None:
    """Note the answer to a question that was asked in another way."""
    if _record is not None:
        _record.add(Fact(name, path, answer))


def ask(name: str, path: str) -> Answer:
    """Answer a question by its name, without noting it; raises KeyError where there is none."""
    return _questions[name](path)


def remembered(function: _Function) -> _Function:
    """:func:`functools.cache`, by which all who ask depend on what the function asked."""
    cached = functools.cache(function)
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def told(*arguments: Hashable) -> Any:
        if _record is None:
            return cached(*arguments)
        with _record.asking((name, *arguments)):
            return cached(*arguments)

    told.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
    _remembering.append(cached)
    return cast(_Function, told)


def forget() -> None:
    """Ask again for all that is remembered: it may have changed."""
    for function in _remembering:
        function.cache_clear()


def asking(node: Hashable) -> contextlib.AbstractContextManager[None]:
    """See :meth:`Record.asking`."""
    return contextlib.nullcontext() if _record is None else _record.asking(node)


def apart(node: Hashable) -> contextlib.AbstractContextManager[None]:
    """See :meth:`Record.apart`."""
    return contextlib.nullcontext() if _record is None else _record.apart(node)


def on_behalf_of(path: str | os.PathLike[str]) -> contextlib.AbstractContextManager[None]:
    """Questions are asked for the file at ``path``: whoever uses it depends on them."""
    return contextlib.nullcontext() if _record is None else _record.asking(of_file(path))


def use(node: Hashable) -> None:
    """Note that whoever asks uses what a node has found."""
    if _record is not None:
        _record.use(node)


def link(of: Hashable, to: Hashable) -> None:
    """See :meth:`Record.link`."""
    if _record is not None:
        _record.link(of, to)


def of_file(path: str | os.PathLike[str]) -> Hashable:
    """The node of a file, whatever it is called."""
    return ("file", _real(os.path.abspath(path)))


@functools.lru_cache(maxsize=10_000)
def _real(path: str) -> str:
    return os.path.realpath(path)


# --- questions ------------------------------------------------------------------------------------


def content(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: it cannot be read, is too large, or is no regular file: pipes and devices
            may never end, or never begin.
    """
    if _record is None:
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
    _record.add(Fact("digest", absolute, digest(data), status))
    return data


def _content(path: str | os.PathLike[str]) -> tuple[bytes, Stat | None]:
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if status.st_size > LARGEST:
            raise too_large()
        return file.read(), _settled(status)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read it; raises OSError for any other, without waiting for who writes into a pipe."""
    file = os.open(path, _TO_READ)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return open(file, "rb")
    except BaseException:
        os.close(file)
        raise


def _settled(status: os.stat_result) -> Stat | None:
    """What tells that a file is unchanged; None where it changed so recently that one more change need not show."""
    if max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED > time.time_ns():
        return None
    return Stat(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def too_large() -> OSError:
    """What reading a file raises that is larger than any program."""
    return OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MB")


def _failed(problem: OSError) -> str:
    return f"!{problem.errno}"


def digest(data: bytes) -> str:
    """What two contents have in common only where they are the same."""
    return digest_of_pieces([data])


def digest_of_pieces(pieces: Iterable[bytes]) -> str:
    """The :func:`digest` of a content in pieces."""
    # Loads OpenSSL, which a run without a cache need not wait for.
    from hashlib import blake2b

    found = blake2b(digest_size=16)
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def digest_of(names: Iterable[str]) -> str:
    """The same for a list of names."""
    return digest("\0".join(names).encode("utf-8", "surrogateescape"))


@question
def is_file(path: str) -> bool:
    """See :func:`os.path.isfile`."""
    return os.path.isfile(path)


@question
def is_folder(path: str) -> bool:
    """See :func:`os.path.isdir`."""
    return os.path.isdir(path)


@question
def exists(path: str) -> bool:
    """See :func:`os.path.exists`."""
    return os.path.exists(path)


def refusal(path: str) -> OSError | None:
    """Why nobody can tell what is at a path, as in a folder that one may not enter; None where anybody can. It is for a message, and not noted."""
    try:
        os.stat(path)
    except OSError as problem:
        return None if problem.errno in (errno.ENOENT, errno.ENOTDIR) else problem
    except ValueError:
        pass  # no path holds a null character
    return None


@question
def is_link(path: str) -> bool:
    """See :func:`os.path.islink`."""
    return os.path.islink(path)


@question
def real(path: str) -> str:
    """See :func:`os.path.realpath`."""
    return os.path.realpath(path)


def scripts_in(folder: str) -> list[str]:
    """The names of the scripts and modules in a folder, sorted; none where they cannot be listed."""
    names = _scripts(folder)
    note("scripts", folder, digest_of(names))
    return names


def _scripts(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return []


@question
def scripts(folder: str) -> str:
    """What tells one list of :func:`scripts_in` from another."""
    return digest_of(_scripts(folder))


@question
def modified(folder: str) -> str | None:
    """When something was last added to a folder, or taken from it; None without one."""
    try:
        return str(os.stat(folder).st_mtime_ns)
    except OSError:
        return None


@question
def installed(folder: str) -> str | None:
    """Which packages are installed in a folder, and when they were; None without one."""
    try:
        with os.scandir(folder) as entries:
            names = [f"{each.name} {each.stat().st_mtime_ns}" for each in entries if each.name.endswith(_INSTALLED)]
    except OSError:
        return None
    return digest_of(sorted(names))


_INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")


@question
def code(folder: str) -> str:
    """What tells one state of the code, and the data, of a package from another."""
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
    """Asks again what was asked, once each, and as cheaply as may be.

    Attributes:
        settled: facts by number of contents that are unchanged, but were written or looked at too recently to be known by their
            :class:`Stat` alone: to be kept for the next time.
    """

    def __init__(self) -> None:
        self.settled: dict[int, Fact] = {}
        self._names: dict[str, _Names | None] = {}

    def outdated(self, facts: Sequence[Fact | None]) -> set[int]:
        """The numbers of the facts that are others now."""
        found = set()
        absent: dict[str, list[int]] = {}
        of_texts: list[int] = []
        contents: dict[str, int] = {}
        for number, fact in enumerate(facts):
            if fact is None:
                continue
            if fact.question == "digest":
                contents[fact.path] = number
            if fact.question in _of_text:
                of_texts.append(number)
            elif fact.answer is False and fact.question in _ABSENT_OR_NOT:
                absent.setdefault(fact.path.rpartition(os.sep)[0], []).append(number)
            elif not (self._is_unchanged(number, fact) if fact.question == "digest" else _holds(fact)):
                found.add(number)
        # Parents first: what is not in one has nothing in it.
        for folder in sorted(absent, key=len):
            names = self._names_in(folder)
            for number in absent[folder]:
                fact = facts[number]
                assert fact is not None
                may_be = names is None or fact.path[len(folder) + 1 :].casefold() in names
                if may_be and not _holds(fact):
                    found.add(number)
        for number in of_texts:
            fact = facts[number]
            assert fact is not None
            content = contents.get(fact.path.rpartition("\n")[2])
            if (content is None or content in found) and not _holds(fact):
                found.add(number)
        return found

    def _is_unchanged(self, number: int, fact: Fact) -> bool:
        try:
            if fact.stat is not None:
                status = os.stat(fact.path)
                if fact.stat == (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino):
                    return True
            data, now = _content(fact.path)
        except OSError as problem:
            return _failed(problem) == fact.answer
        except ValueError:
            return False
        # Where a link stands now, other files lie beside it.
        if digest(data) != fact.answer or fact.stat is not None and os.path.islink(fact.path):
            return False
        if now != fact.stat:
            self.settled[number] = fact._replace(stat=now)
        return True

    def _names_in(self, folder: str) -> _Names | None:
        """The names in a folder, in one case as some disks have it; None where they are not known."""
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


def _holds(fact: Fact) -> bool:
    try:
        return ask(fact.question, fact.path) == fact.answer
    except (KeyError, OSError, ValueError, OverflowError, RecursionError, re.error):
        # Nobody asked this here: who wrote it down is not known.
        return False
