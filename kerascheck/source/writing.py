"""Atomic writing of files."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tempfile
import time

_SUFFIX = ".kerascheck"
_LEFT_BEHIND = re.compile(r"\..+\.[a-z0-9_]{8}\.kerascheck", re.S)
"""Names of temporary files that ``mkstemp`` creates for :func:`write_atomically`."""
_LONGEST_NAME = 200
"""Maximum bytes of the target's name in a temporary name; file systems allow 255 in total."""
_ABANDONED = 600
"""Seconds after which a temporary file counts as abandoned."""
_IN_PLACE = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV))
"""Errors of a folder without write access, or of a file mounted by itself; the file may still be writable."""

_swept: set[str] = set()


def write_atomically(path: str | os.PathLike[str], data: bytes, *, create: bool = False) -> None:
    """Replace the content of a file atomically, keeping its permissions and, if allowed, its owner.

    A symbolic link stays, and its target is replaced. A reader sees the old content or the new, never a mixture. A file with several
    hard links separates from the others.

    Args:
        path: the file.
        data: the new content.
        create: create a missing file.

    Raises:
        OSError: the file is missing, read-only or not a regular file, or its directory is not writable; then nothing has changed.
            ``filename`` is ``path``.
    """
    target = os.path.realpath(path)
    temporary = None
    try:
        status = _status(target, create)
        _remove_left_behind(os.path.dirname(target))
        handle, temporary = tempfile.mkstemp(
            prefix=f".{_shortened(os.path.basename(target))}.", suffix=_SUFFIX, dir=os.path.dirname(target)
        )
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if status is not None:
                # Only the superuser may change owners; chown clears mode bits, so the mode comes second.
                with contextlib.suppress(AttributeError, PermissionError):
                    os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, _usual_mode() if status is None else stat.S_IMODE(status.st_mode))
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException as problem:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(problem, OSError):
            raise type(problem)(problem.errno, problem.strerror, os.fspath(path)) from problem
        raise


def write_output(path: str | os.PathLike[str], data: bytes) -> None:
    """Write output for the user: atomically to a regular file, directly to a pipe or device; raises OSError."""
    if _is_stream(path):
        _write_in_place(path, data)
        return
    try:
        write_atomically(path, data, create=True)
    except OSError as problem:
        if problem.errno not in _IN_PLACE or not os.path.isfile(path):
            raise
        _write_in_place(path, data)


def _write_in_place(path: str | os.PathLike[str], data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path names an open stream, such as ``/dev/stdout``, or no regular file."""
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _status(target: str, create: bool) -> os.stat_result | None:
    """Return the status of a replaceable file; None if it is to be created."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        if create:
            return None
        raise
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "The file is read-only")
    return status


def _usual_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _shortened(name: str) -> str:
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return name


def _remove_left_behind(folder: str) -> None:
    """Remove our temporary files that a killed process left in a folder; once per folder, because listing takes time."""
    if folder in _swept:
        return
    _swept.add(folder)
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            for entry in entries:
                if _LEFT_BEHIND.fullmatch(entry.name) and _is_abandoned(entry.stat(follow_symlinks=False)):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)


def _is_abandoned(status: os.stat_result) -> bool:
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and is_own and time.time() - status.st_mtime > _ABANDONED
