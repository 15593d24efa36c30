"""The cache folder and its files: results, and pages of rules; robust against kills, concurrent runs and tampering."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kerascheck.cache.written import Damaged
from kerascheck.source import dependencies

_MARKS = (".kerascheck", "pyproject.toml", ".git")
_OURS = re.compile(r"[0-9a-f]{32}(?:\.parts)?\.json|KC[A-Z]?[0-9]{3}\.txt|tmp[0-9a-f]{16}\.part")
_IGNORED = "*\n"
"""The content of ``.gitignore`` in a folder that only holds the cache: git ignores everything in it."""
_LARGEST = 256 << 20
"""Size limit for reading a file, in bytes; the cache writes no larger ones."""
_MOST_BYTES, _MOST_FILES = 200 << 20, 64
_PIECE = 1 << 20
"""Characters per write."""
_LONGEST_DIGEST = 256
"""Most bytes of the first line, which holds the digest."""
_USED = 24 * 3600
"""Age in seconds from which reading a file renews its modification time."""


def folder_for(paths: Sequence[str], given: str | None) -> str | None:
    """The cache folder of a run over ``paths``.

    Args:
        given: the folder that the user names.

    Returns:
        ``given``, or ``.kerascheck/cache`` in the nearest project folder upwards. Outside a project, it is in the
        working folder if that contains the paths, or else in their common folder. None if everyone may write to that
        folder: the cache would trust their files.
    """
    if given is not None:
        return os.path.abspath(given)
    try:
        top = os.path.commonpath([os.path.realpath(path) for path in paths])
    except ValueError:  # other drives
        return None
    top = top if os.path.isdir(top) else os.path.dirname(top)
    root = _project_above(top)
    if root is None:
        here = os.path.realpath(os.getcwd())
        root = here if os.path.join(top, "").startswith(os.path.join(here, "")) else top
    return None if _is_for_all(root) else os.path.join(root, ".kerascheck", "cache")


def _project_above(folder: str) -> str | None:
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _is_for_all(folder: str) -> bool:
    try:
        return os.name == "posix" and bool(os.stat(folder).st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _pieces(text: str) -> Iterator[bytes]:
    """Yield an ASCII text in pieces: a full copy would double the memory of a run over many files."""
    return (text[start : start + _PIECE].encode("ascii") for start in range(0, len(text), _PIECE))


class Folder:
    """The files of a cache. Faulty files count as missing, and failed writes are reported, not raised."""

    def __init__(self, path: str):
        self.path = path

    def read(self, name: str) -> Any:
        """The content of a file; None if it is missing or damaged."""
        path = os.path.join(self.path, name)
        try:
            self._refuse_links()
            with dependencies.open_regular(path) as file:
                status = os.fstat(file.fileno())
                if status.st_size > _LARGEST:
                    return None
                digest = file.readline(_LONGEST_DIGEST).rstrip(b"\n")
                text = file.read()
            if digest != dependencies.digest(text).encode():
                return None
            if time.time() - status.st_mtime > _USED:
                with contextlib.suppress(OSError):
                    os.utime(path)
            return json.loads(text)
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, files: Mapping[str, Any]) -> bool:
        """Write each file atomically; returns whether all could be written."""
        try:
            self._refuse_links()
            self._prepare()
            for name, content in files.items():
                text = json.dumps(content, separators=(",", ":"))
                digest = dependencies.digest_of_pieces(_pieces(text)).encode()
                self._replace(name, itertools.chain([digest, b"\n"], _pieces(text)))
            self._make_room(files)
        except OSError:
            return False
        return True

    def write_text(self, name: str, text: str) -> bool:
        """Write a text for people atomically, unless it is there; returns whether it is there now."""
        data = text.encode()
        try:
            self._refuse_links()
            self._prepare()
            with contextlib.suppress(OSError), dependencies.open_regular(os.path.join(self.path, name)) as file:
                if file.read(len(data) + 1) == data:
                    return True
            self._replace(name, [data])
        except OSError:
            return False
        return True

    def _refuse_links(self) -> None:
        """Raise OSError if the folder is a symbolic link, which would redirect writes and removals elsewhere."""
        above = os.path.dirname(self.path)
        for path in (self.path, *([above] if os.path.basename(above) == _MARKS[0] else [])):
            if os.path.islink(path):
                raise OSError(errno.ELOOP, "it is a symbolic link; name the folder that it leads to", path)

    def _prepare(self) -> None:
        os.makedirs(self.path, exist_ok=True)
        # A folder that the user names may contain files that git tracks.
        if all(map(_OURS.fullmatch, os.listdir(self.path))):
            with contextlib.suppress(FileExistsError), open(self._ignore, "x") as file:
                file.write(_IGNORED)

    @property
    def _ignore(self) -> str:
        return os.path.join(self.path, ".gitignore")

    def _replace(self, name: str, pieces: Iterable[bytes]) -> None:
        path = os.path.join(self.path, f"tmp{os.urandom(8).hex()}.part")
        try:
            with open(path, "xb") as file:
                file.writelines(pieces)
            os.replace(path, os.path.join(self.path, name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise

    def _make_room(self, new: Mapping[str, Any]) -> None:
        """Remove the least recently used files beyond the size limits."""
        entries = (entry for entry in self._files() if not entry.name.endswith(".txt"))
        files = sorted(((entry.stat().st_mtime, entry) for entry in entries), key=lambda each: -each[0])
        size = 0
        for place, (_, entry) in enumerate(files):
            size += entry.stat().st_size
            if (size > _MOST_BYTES or place >= _MOST_FILES) and entry.name not in new:
                os.unlink(entry.path)

    def _files(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self.path) as entries:
            for entry in entries:
                if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield entry

    def remove(self) -> int:
        """Remove all files of the cache, and the folder if it is empty then.

        Returns:
            The number of bytes removed.

        Raises:
            OSError: a file cannot be removed, or the folder is a symbolic link.
        """
        self._refuse_links()
        if not os.path.isdir(self.path):
            return 0
        size = 0
        for entry in list(self._files()):
            size += entry.stat(follow_symlinks=False).st_size
            os.unlink(entry.path)
        with contextlib.suppress(OSError):
            if os.listdir(self.path) == [".gitignore"] and self._ignores_all():
                os.unlink(self._ignore)
            os.rmdir(self.path)
            if os.path.basename(os.path.dirname(self.path)) == ".kerascheck":
                os.rmdir(os.path.dirname(self.path))
        return size

    def _ignores_all(self) -> bool:
        with dependencies.open_regular(self._ignore) as file:
            return file.read(len(_IGNORED) + 1) == _IGNORED.encode()


class InMemory(Folder):
    """A cache in the memory of this process, for runs that may not write to disk or keep anything."""

    def __init__(self) -> None:
        super().__init__("")
        self._texts: dict[str, str] = {}

    def read(self, name: str) -> Any:
        """See :meth:`Folder.read`."""
        text = self._texts.get(name)
        return None if text is None else json.loads(text)

    def write(self, files: Mapping[str, Any]) -> bool:
        """See :meth:`Folder.write`."""
        self._texts.update((name, json.dumps(content)) for name, content in files.items())
        return True


__all__ = ["Damaged", "Folder", "InMemory", "folder_for"]
