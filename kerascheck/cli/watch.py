"""Lint again whenever something changes that the findings follow from (``--watch``).

What that is tells the record of a run: files that were read, and folders in which something was looked for, or may come to be.
Their times are looked at again and again. Where one is another, the questions of the run are asked again, which tells whether it
matters.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence

from kerascheck.source import dependencies
from kerascheck.source.reading import display_path

_PAUSE = 0.3
"""Seconds between two looks, at least."""
_SHARE = 0.03
"""Of one processor, what looking takes at most."""
_SETTLING = 0.1
"""Seconds without a further change until files count as written: editors and git write many, and some twice."""
_MOST_SETTLING = 20
"""How many times that is waited for, where something never settles."""
_FEW = 10
"""Paths of one folder up to which they are looked at themselves: in the folders above a project others write all the time."""
_BEING = ("exists", "is_folder", "real")
"""Questions about a folder that what is in it does not answer."""

Followed = tuple[Sequence[dependencies.Fact | None], Collection[str]]
"""What a round follows from: the facts of its run, and further files."""
_Times = dict[str, tuple[int, ...] | None]


def watch(lint: Callable[[str | None], Followed], say: Callable[[str], None]) -> None:
    """Lint, and again with every change, until the user interrupts.

    Args:
        lint: one round; it is told what has changed, None at the beginning.
        say: tells the user that nothing more happens until a change.
    """
    what = None
    try:
        while True:
            facts, others = lint(what)
            say("Watching for changes. Ctrl-C ends.")
            what = wait_for_change(facts, others)
    except KeyboardInterrupt:
        return


def wait_for_change(facts: Sequence[dependencies.Fact | None], others: Collection[str]) -> str:
    """Wait until something has changed; says what, for people."""
    before = _times(facts, others)
    # It may have, while the run went on, and may still.
    time.sleep(_SETTLING)
    while not (outdated := dependencies.Recheck().outdated(facts)):
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
        # What came into being may have to be looked at from now on.
        before = _times(facts, others)
    changed = [fact for number in sorted(outdated) if (fact := facts[number]) is not None]
    # A file says more than the folder that it is new in.
    changed.sort(key=lambda fact: fact.question != "digest")
    return _told([fact.path.rpartition("\n")[2] for fact in changed])


def _told(paths: Sequence[str]) -> str:
    # Where a file is new or gone, its folder has changed, too.
    around = {folder for path in paths if (folder := os.path.dirname(path)) != path}
    first, *others = dict.fromkeys(_named(path) for path in paths if path not in around)
    what = f"{first} and {len(others)} more have" if others else f"{first} has"
    return f"{time.strftime('%H:%M:%S')} {what} changed."


def _named(path: str) -> str:
    return f"the folder {display_path(path)}" if os.path.isdir(path) else display_path(path)


def _times(facts: Sequence[dependencies.Fact | None], others: Collection[str]) -> _Times:
    """By path what tells that a file, or the names in a folder, are as they were."""
    paths, asked = set(others), dict[str, set[str]]()
    for fact in facts:
        if fact is None:
            continue
        path = fact.path.rpartition("\n")[2]
        if fact.question == "digest":
            paths.add(path)
        elif fact.answer is not False and os.path.isdir(path):
            # That it is there, the files in it tell.
            paths.update((path,) if fact.question not in _BEING else ())
        else:
            asked.setdefault(os.path.dirname(path), set()).add(path)
    for folder, names in asked.items():
        if os.path.isdir(folder):
            paths.update(names if len(names) < _FEW else (folder,))
            continue
        # The first one on the way that is not there.
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
