"""Tests that measure time run while no other test does, in whichever worker of pytest-xdist."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, workers do not wait for each other.
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def turn(folder: Path, alone: bool) -> Iterator[None]:
    """Hold the lock of ``folder``, shared or ``alone``; OSError where it cannot be written.

    Who wants to be alone holds the door until all others have left: they pass it before they take the lock, so that two workers which
    always have a test to run do not keep the third one out.
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
            # To close the file is not enough: processes that the test forked and left behind share its lock.
            fcntl.flock(room, fcntl.LOCK_UN)
