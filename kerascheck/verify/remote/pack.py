"""What of a project is uploaded: what git sees, or without git what lies in its folder."""

from __future__ import annotations

import fnmatch
import importlib.util
import io
import itertools
import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from kerascheck.source import git

LARGEST_BYTES = 256 * 1024 * 1024
"""More than this is data, which is better copied once."""
MOST_FILES = 20_000
PROJECT, CODE = "project", "code"
"""Folders of the archive: the project, and kerascheck itself."""
_OURS = Path(__file__).parents[2]
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
_MEMORY = ".kerascheck"
"""The folder of evidence, and of running jobs of Slurm, whether or not git ignores it."""
_SECRETS = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_ed25519*",
    ".netrc",
    "kaggle.json",
    "credentials*",
    "*.p12",
)


class TooLarge(Exception):
    """There is more to upload than ``LARGEST_BYTES`` or ``MOST_FILES``; ``str()`` names what is large."""


@dataclass(slots=True)
class Upload:
    """Files of a project that travel."""

    root: str
    """Absolute, with all links resolved."""
    files: dict[str, int] = field(default_factory=dict)
    """Size in bytes by path relative to ``root``."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Paths that stay here although git sees them, and why."""
    git: bool = True

    @property
    def size(self) -> int:
        """Of all files together."""
        return sum(self.files.values())

    def write(self, stream: IO[bytes], job: bytes) -> None:
        """Write the archive of the project, ``job.json`` and the code of kerascheck to ``stream``."""
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as archive:
            for name in self.files:
                archive.add(os.path.join(self.root, name), f"{PROJECT}/{name}", recursive=False, filter=self._as_packed)
            _add(archive, "job.json", job)
            for path in own_code():
                _add(archive, f"{CODE}/kerascheck/{path.relative_to(_OURS).as_posix()}", path.read_bytes())
            _add(archive, f"{CODE}/start.py", Path(__file__).with_name("start.py").read_bytes())
            nvml = importlib.util.find_spec("pynvml")
            if nvml is not None and nvml.origin and os.path.basename(nvml.origin) == "pynvml.py":
                # One file that needs nothing else: with it, GPUs can be watched where it is not installed.
                _add(archive, f"{CODE}/pynvml.py", Path(nvml.origin).read_bytes())

    def _as_packed(self, info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        if info.issym():
            path = os.path.join(self.root, info.name.partition("/")[2])
            info.linkname = os.path.relpath(os.path.realpath(path), os.path.dirname(path))
        return info


def own_code() -> list[Path]:
    """The files of kerascheck that the other side needs: all its modules, without the rules."""
    return [path for path in sorted(_OURS.rglob("*.py")) if path.relative_to(_OURS).parts[0] != "rules"]


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mode = 0o644
    archive.addfile(info, io.BytesIO(data))


def of_project(script: str, needed: Iterable[str], root: str | None = None) -> Upload:
    """What travels with ``script``: its repository, or else its folder; always the files ``needed`` (absolute paths).

    ``root``: a folder to take as it is, without asking git. Raises TooLarge.
    """
    top = root or _git(os.path.dirname(script), "rev-parse", "--show-toplevel").rstrip("\n")
    upload = Upload(os.path.realpath(top or os.path.dirname(script)), git=bool(top) and root is None)
    tracked, others = _seen_by_git(upload.root) if upload.git else ([], _walk(upload.root))
    own = {os.path.relpath(os.path.realpath(path), upload.root) for path in needed}
    trusted, total = own.union(tracked), 0
    for name in itertools.chain(tracked, others, sorted(own)):
        if name not in upload.files:
            _take(upload, name, may_be_secret=name not in trusted)
            total += upload.files.get(name, 0)
        if total > LARGEST_BYTES or len(upload.files) > MOST_FILES:
            break  # a folder such as a home is not walked to its end
    if total > LARGEST_BYTES or len(upload.files) > MOST_FILES:
        large = sorted(upload.files, key=upload.files.__getitem__, reverse=True)[:3]
        raise TooLarge(
            f"{upload.root} has more than {size(LARGEST_BYTES)} or {MOST_FILES} files to upload: let git ignore what need not "
            f"travel, such as {', '.join(f'{name} ({size(upload.files[name])})' for name in large)}"
        )
    return upload


def by_project(uploads: Iterable[Upload]) -> list[Upload]:
    """One upload per project, with the files of all of its scripts."""
    projects: dict[str, Upload] = {}
    for upload in uploads:
        whole = projects.setdefault(upload.root, Upload(upload.root, git=upload.git))
        whole.files |= upload.files
        whole.left_out |= upload.left_out
    return list(projects.values())


def _take(upload: Upload, name: str, *, may_be_secret: bool) -> None:
    path = os.path.join(upload.root, name)
    if not os.path.lexists(path) or name.startswith(".." + os.sep) or _MEMORY in name.split("/"):
        return  # deleted, and git does not know yet; or the module of another project
    if os.path.islink(path) and not os.path.realpath(path).startswith(upload.root + os.sep):
        upload.left_out[name] = "a link out of the project"
    elif may_be_secret and any(fnmatch.fnmatch(os.path.basename(name), pattern) for pattern in _SECRETS):
        upload.left_out[name] = "not in git, and named like a secret"
    elif os.path.isdir(path) and not os.path.islink(path):
        upload.left_out[name] = "another repository"
    elif os.path.islink(path) or os.path.isfile(path):
        upload.files[name] = os.lstat(path).st_size


def _seen_by_git(root: str) -> tuple[list[str], list[str]]:
    """Tracked files, those of submodules too, and others that git does not ignore."""
    tracked = _git(root, "ls-files", "-z", "--cached", "--recurse-submodules").split("\0")
    others = _git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return [name for name in tracked if name], [name.rstrip("/") for name in others if name]


def _git(folder: str, *arguments: str) -> str:
    """What git says; empty without git, or outside of a repository."""
    try:
        return os.fsdecode(git.ask(folder, *arguments))
    except git.GitFailed:
        return ""


def _walk(root: str) -> Iterator[str]:
    """Files below ``root`` that are not hidden, nor of a virtual environment."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name for name in subfolders
            if not name.startswith(".") and name not in _LEFT_OUT and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )  # fmt: skip
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(folder, name), root)


def size(number: int) -> str:
    """Bytes for people."""
    for unit, bytes_of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= bytes_of:
            return f"{number / bytes_of:.3g} {unit}"
    return f"{number} bytes"
