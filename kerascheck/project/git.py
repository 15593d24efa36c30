"""Asks git about a repository without letting that repository start programs.

A tree that was unpacked, not cloned, brings a configuration of its own. It may name programs for many events: filters, monitors
of the file system, hooks, transports. All of them are switched off for each question.
"""

from __future__ import annotations

import functools
import os
import subprocess

_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What git tells its hooks of the repository that they run in, which need not be the one that is asked."""
_SURROUNDINGS = {
    # Nobody waits for a lock or a password, and no object is fetched from another repository.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_EXTERNAL_DIFF": "",
    "LC_ALL": "C",
}
_SWITCHED_OFF = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.sshCommand=false", "diff.external=")
_FILTERS = ("clean", "smudge", "process")


class GitFailed(Exception):
    """git cannot be run, or refuses; the text says why."""


def ask(top: str, *arguments: str, fails_with: int = 0) -> bytes:
    """What a command of git writes about the repository of a folder; nothing where it ends with ``fails_with``.

    Raises:
        GitFailed: there is no git, or it ends with another exit code.
    """
    return _run(top, [*_SWITCHED_OFF, *_without_filters(top)], arguments, fails_with)


def _run(top: str, settings: list[str], arguments: tuple[str, ...], fails_with: int) -> bytes:
    surroundings = {name: value for name, value in os.environ.items() if name not in _OF_OTHERS} | _SURROUNDINGS
    command = ["git", *(word for setting in settings for word in ("-c", setting)), "-C", top, *arguments]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=surroundings)
    except OSError as problem:
        raise GitFailed(f"git cannot be run: {problem.strerror or problem}") from None
    if ran.returncode not in (0, fails_with):
        said = " ".join(ran.stderr.decode(errors="replace").split()) or f"exit code {ran.returncode}"
        raise GitFailed(f"git {arguments[0]} failed in {top}: {said}")
    return ran.stdout if ran.returncode == 0 else b""


@functools.cache
def _without_filters(top: str) -> tuple[str, ...]:
    """Settings that switch off every filter that the configuration names; comparing a file to the index would start its ``clean``."""
    try:
        listed = _run(top, list(_SWITCHED_OFF), ("config", "--list", "--name-only", "-z"), 1)
    except GitFailed:
        return ()
    names = {key.rpartition(".")[0] for key in map(os.fsdecode, listed.split(b"\0")) if key.startswith("filter.")}
    return tuple(
        setting
        for name in sorted(names)
        for setting in (*(f"{name}.{kind}=" for kind in _FILTERS), f"{name}.required=false")
    )
