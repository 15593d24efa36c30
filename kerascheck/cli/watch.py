"""``--watch``: lint again after every change that may affect the findings.

The dependencies of a run name the files and folders to watch. Their times are polled. If one changes, the queries of the run
are repeated, which shows whether an answer changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence

from kerascheck.source import dependencies
from kerascheck.source.reading import display_path

_PAUSE = 0.3
"""Shortest interval between two polls, in seconds."""
_SHARE = 0.03
"""Largest share of one processor that polling takes."""
_SETTLING = 0.1
"""Seconds without a further change until writing counts as finished: editors and git write many files, some twice."""
_MOST_SETTLING = 20
"""Most waits for writing to finish."""
_FEW = 10
"""Up to this many paths of one folder are polled themselves, beyond it the folder: other programs write above a project."""
_BEING = ("exists", "is_folder", "real")
"""Queries about a folder that do not depend on its content."""

Followed = tuple[Sequence[dependencies.Dependency | None], Collection[str]]
"""The dependencies of a round: those of its run, and further files."""
_Times = dict[str, tuple[int, ...] | None]


def watch(lint: Callable[[str | None], Followed], say: Callable[[str], None]) -> None:
    """Lint, and again after every change, until the user interrupts.

    Args:
        lint: runs one round; its argument describes the change, None at the beginning.
        say: prints a message for the user.
    """
    what = None
    try:
        while True:
            deps, others = lint(what)
            say("Watching for changes. Ctrl-C ends.")
            what = wait_for_change(deps, others)
    except KeyboardInterrupt:
        return


def wait_for_change(deps: Sequence[dependencies.Dependency | None], others: Collection[str]) -> str:
    """Wait for a change; returns its description."""
    before = _times(deps, others)
    # A change may have happened during the run, or may still be going on.
    time.sleep(_SETTLING)
    while not (outdated := dependencies.Recheck().outdated(deps)):
        now, pause = before, _PAUSE
        while now == before:
            time.sleep(pause)
            started = time.process_time()
            now = {path: _time(path) for path in before}
            pause = max(_PAUSE, (time.process_time() - started) / _SHARE)
        for _ in range(_MOST_SETTLING):
            time.sleep(_SETTLING)
            if now == (now := {path: _time(path) for path in before}):
                break
        if named := [path for path in others if now[path] != before[path]]:
            return _told(named)
        # New files may need to be polled from now on.
        before = _times(deps, others)
    changed = [dep for number in sorted(outdated) if (dep := deps[number]) is not None]
    # A changed file tells the user more than its folder.
    changed.sort(key=lambda dep: dep.query != "digest")
    return _told([dep.path.rpartition("\n")[2] for dep in changed])


def _told(paths: Sequence[str]) -> str:
    # A new or deleted file changes its folder too.
    around = {folder for path in paths if (folder := os.path.dirname(path)) != path}
    first, *others = dict.fromkeys(_named(path) for path in paths if path not in around)
    what = f"{first} and {len(others)} more have" if others else f"{first} has"
    return f"{time.strftime('%H:%M:%S')} {what} changed."


def _named(path: str) -> str:
    return f"the folder {display_path(path)}" if os.path.isdir(path) else display_path(path)


def _times(deps: Sequence[dependencies.Dependency | None], others: Collection[str]) -> _Times:
    """The status of each watched path."""
    paths, asked = set(others), dict[str, set[str]]()
    for dep in deps:
        if dep is None:
            continue
        path = dep.path.rpartition("\n")[2]
        if dep.query == "digest":
            paths.add(path)
        elif dep.answer is not False and os.path.isdir(path):
            # Its own files show whether it exists.
            paths.update((path,) if dep.query not in _BEING else ())
        else:
            asked.setdefault(os.path.dirname(path), set()).add(path)
    for folder, names in asked.items():
        if os.path.isdir(folder):
            paths.update(names if len(names) < _FEW else (folder,))
            continue
        # Watch the parent of the first missing folder.
        while not os.path.isdir(parent := os.path.dirname(folder)):
            folder = parent
        paths.add(folder)
    return {path: _time(path) for path in paths}


def _time(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
