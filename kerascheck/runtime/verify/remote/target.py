"""Target of ``--on``: where a script runs."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

FORMS = "ssh://[user@]host[:port][/folder], slurm[:partition], ray or ray://host[:port]"
_LIMITS = ("gpus", "cpus", "minutes")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RAY_DASHBOARD = 8265


class BadTarget(Exception):
    """The value of ``--on`` is invalid; ``str()`` gives the reason."""


@dataclass(frozen=True, slots=True)
class Target:
    """A machine, or a queue of machines."""

    kind: str
    """"ssh", "slurm" or "ray"."""
    host: str = ""
    """Host for ssh and ray; empty for the Ray cluster of this machine."""
    user: str = ""
    port: int | None = None
    folder: str = ""
    """Remote folder that holds files ignored by git, such as data. Empty: there is none."""
    partition: str = ""
    gpus: int | None = None
    cpus: int | None = None
    minutes: int | None = None
    """Resources to request from the scheduler; None: its default."""

    @property
    def label(self) -> str:
        """Name under which evidence is stored, without user, port and folder."""
        if self.kind == "slurm":
            return f"slurm:{self.partition}" if self.partition else "slurm"
        return f"{self.kind}://{self.host}" if self.host else self.kind

    @property
    def python(self) -> str:
        """Interpreter that is used if none is named."""
        # The nodes of a Slurm cluster share the files of the login node.
        return {"ssh": "python3", "slurm": sys.executable, "ray": "python"}[self.kind]


def parse(text: str) -> Target:
    """Parse a target; raises BadTarget."""
    place, *limits = text.split(",")
    asked = _limits(text, limits)
    if place.startswith("ray") and "minutes" in asked:
        raise BadTarget(f"{text}: minutes can only be asked of slurm; Ray's jobs have no limit")
    if place == "ray":
        return Target("ray", **asked)
    if place == "slurm" or place.startswith("slurm:"):
        partition = place.partition(":")[2]
        if partition and not _NAME.fullmatch(partition) or place == "slurm:":
            raise BadTarget(
                f"{text}: {partition or 'nothing'} is no name of a partition; write slurm or slurm:PARTITION"
            )
        return Target("slurm", partition=partition, **asked)
    if not place.startswith(("ssh://", "ray://")):
        raise BadTarget(f"{text}: is none of {FORMS}")
    return _address(text, place, asked)


def _address(text: str, place: str, asked: dict[str, Any]) -> Target:
    try:
        url = urlsplit(place)
        host, port = url.hostname or "", url.port
    except ValueError as problem:
        raise BadTarget(f"{text}: {problem}") from None
    bare = host.replace(":", "0")  # an IPv6 address
    if not _NAME.fullmatch(bare) or (url.username is not None and not _NAME.fullmatch(url.username)):
        raise BadTarget(f"{text}: names no host")
    if url.password is not None or url.query or url.fragment:
        raise BadTarget(f"{text}: takes no password, '?' or '#'; keys and passwords are the business of ssh")
    if url.scheme == "ray":
        if url.username is not None or url.path.strip("/"):
            raise BadTarget(f"{text}: write ray://host or ray://host:port, with the port of the dashboard")
        return Target("ray", host, port=port or _RAY_DASHBOARD, **asked)
    if asked:
        raise BadTarget(f"{text}: {', '.join(asked)} can only be asked of slurm and ray")
    return Target("ssh", host, url.username or "", port, url.path.rstrip("/"))


def _limits(text: str, limits: list[str]) -> dict[str, Any]:
    asked = {}
    for limit in limits:
        name, _, number = limit.partition("=")
        if name not in _LIMITS or not number.isdecimal():
            raise BadTarget(f"{text}: {limit!r} is none of gpus=N, cpus=N, minutes=N")
        asked[name] = int(number)
    return asked
