"""Query git about a repository without letting that repository start programs.

A tree that was unpacked, not cloned, brings its own configuration. That may name programs for many events: filters,
file system monitors, hooks, transports. Every query disables them all.
"""

from __future__ import annotations

import functools
import os
import subprocess

_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables that git sets for hooks; they may name another repository than the queried one."""
_ENVIRONMENT = {
    # Do not wait for a lock or a password, and fetch no object from another repository.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_EXTERNAL_DIFF": "",
    "LC_ALL": "C",
}
_DISABLED = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.sshCommand=false", "diff.external=")
_FILTERS = ("clean", "smudge", "process")


class GitFailed(Exception):
    """git cannot be run or fails; the message has the reason."""


def ask(top: str, *arguments: str, fails_with: int = 0) -> bytes:
    """Run a git command in the folder ``top``; returns its output, empty for the exit code ``fails_with``.

    Raises:
        GitFailed: git is missing or ends with another exit code.
    """
    return _run(top, [*_DISABLED, *_without_filters(top)], arguments, fails_with)


def _run(top: str, settings: list[str], arguments: tuple[str, ...], fails_with: int) -> bytes:
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES} | _ENVIRONMENT
    command = ["git", *(word for setting in settings for word in ("-c", setting)), "-C", top, *arguments]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment)
    except OSError as problem:
        raise GitFailed(f"git cannot be run: {problem.strerror or problem}") from None
    if ran.returncode not in (0, fails_with):
        said = " ".join(ran.stderr.decode(errors="replace").split()) or f"exit code {ran.returncode}"
        raise GitFailed(f"git {arguments[0]} failed in {top}: {said}")
    return ran.stdout if ran.returncode == 0 else b""


@functools.cache
def _without_filters(top: str) -> tuple[str, ...]:
    """Settings that disable every configured filter; comparing a file to the index would run its ``clean`` command."""
    try:
        listed = _run(top, list(_DISABLED), ("config", "--list", "--name-only", "-z"), 1)
    except GitFailed:
        return ()
    names = {key.rpartition(".")[0] for key in map(os.fsdecode, listed.split(b"\0")) if key.startswith("filter.")}
    return tuple(
        setting
        for name in sorted(names)
        for setting in (*(f"{name}.{kind}=" for kind in _FILTERS), f"{name}.required=false")
    )
