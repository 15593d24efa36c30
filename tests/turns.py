"""Locks between the workers of pytest-xdist, so that tests that measure time run alone."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, workers do not wait for each other.
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def turn(folder: Path, alone: bool) -> Iterator[None]:
    """Hold the lock of ``folder``, shared or ``alone``; raises OSError if the folder is not writable.

    Every worker passes the door before it locks the room. A worker that wants to be alone holds the door until the room
    is empty, so that busy workers cannot starve it.
    """
    if fcntl is None:
        yield
        return
    with (folder / "door.lock").open("w") as door, (folder / "room.lock").open("w") as room:
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        fcntl.flock(door, how)
        fcntl.flock(room, how)
        fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # Closing the file is not enough: forked processes that outlive the test share its lock.
            fcntl.flock(room, fcntl.LOCK_UN)
