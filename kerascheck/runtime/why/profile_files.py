"""The newest profile below a folder of TensorBoard."""

from __future__ import annotations

import itertools
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIX = ".xplane.pb"
_LARGEST = 100 << 20
"""Bytes of a file; its messages take several times as much memory."""
_DEEPEST = 12
"""Folders below the given one; LOGDIR/FOLD/train/plugins/profile/RUN has five."""
_MOST_ENTRIES = 50_000
_KINDS = {
    stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


class NoProfile(Exception):
    """The profile cannot be read; ``str()`` says why and what to do, in one line."""


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """One host's profile of a recording."""

    path: Path
    hosts: int = 1
    """Number of hosts with a profile of the same recording, if the file is chosen among them."""
    searched_all: bool = True
    """False if the folder has more entries, or deeper ones, than are searched."""

    @property
    def host(self) -> str:
        """Name of the host."""
        return self.path.name.removesuffix(SUFFIX)


def find_profile(folder: str) -> ProfileFile:
    """The profile of the newest recording in a folder of TensorBoard, or the file itself.

    Raises:
        NoProfile: there is none, or it cannot be read.
    """
    try:
        mode = os.stat(folder).st_mode
        if stat.S_ISDIR(mode):
            found = _newest(folder)
        elif stat.S_ISREG(mode):
            found = ProfileFile(Path(folder))
        else:
            kind = _KINDS.get(stat.S_IFMT(mode), "no folder")
            raise NoProfile(f"{folder}: {kind} holds no profile; name a folder or a {SUFFIX} file")
        size = found.path.stat().st_size
    except FileNotFoundError:
        raise NoProfile(f"{folder}: there is no such file or folder") from None
    except OSError as error:
        raise NoProfile(f"{folder}: {error.strerror or error}") from None
    if size > _LARGEST:
        raise NoProfile(f"{found.path}: larger than {_LARGEST >> 20} MiB: record fewer steps, ten are enough")
    return found


def _newest(folder: str) -> ProfileFile:
    search = _Search(folder)
    found = [Path(path) for path in search.files() if path.endswith(SUFFIX)]
    if not found:
        hint = "; there is only a .trace.json.gz, which lacks the names of layers" if search.has_trace else ""
        where = "in it" if search.is_whole else f"in its first {_MOST_ENTRIES:,} entries, {_DEEPEST} folders deep"
        raise NoProfile(f"{folder}: no {SUFFIX} {where}{hint}. TensorBoard keeps them in LOGDIR/plugins/profile/RUN")
    # The names of recordings are times; hosts of one recording lie side by side.
    run = max({path.parent for path in found}, key=lambda path: (path.stat().st_mtime, path.name))
    hosts = sorted(path for path in found if path.parent == run)
    return ProfileFile(hosts[0], len(hosts), search.is_whole)


class _Search:
    """The profiles below a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.is_whole = True
        """Whether no bound ended the search."""
        self.has_trace = False
        """Whether it met a file of the trace viewer."""

    def files(self) -> Iterator[str]:
        """Paths of profiles, those of the upper levels first; links to folders are followed once."""
        pending = deque([(self._folder, 0)])
        seen: set[tuple[int, int]] = set()
        count = 0
        while pending:
            folder, depth = pending.popleft()
            entries = self._entries(folder, seen, _MOST_ENTRIES - count)
            count += len(entries)
            for entry in entries:
                if entry.name.endswith(SUFFIX) and _is(entry.is_file):
                    yield entry.path
                elif _is(entry.is_dir):
                    if depth < _DEEPEST:
                        pending.append((entry.path, depth + 1))
                    else:
                        self.is_whole = False
                self.has_trace |= entry.name.endswith(".trace.json.gz")

    def _entries(self, folder: str, seen: set[tuple[int, int]], most: int) -> list[os.DirEntry[str]]:
        """At most ``most`` entries of a folder; none if it is among the ``seen`` ones, or cannot be read."""
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                return []
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as listed:
                entries = list(itertools.islice(listed, most + 1))
        except OSError:
            return []
        self.is_whole &= len(entries) <= most
        return entries[:most]


def _is(question: Callable[[], bool]) -> bool:
    """Whether an entry is of a kind; False if it cannot be looked at."""
    try:
        return question()
    except OSError:
        return False
