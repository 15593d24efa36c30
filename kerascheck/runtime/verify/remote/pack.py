"""Selection of the files of a project to upload.

These are the script, its local imports, the files that git tracks, and those that ``--include`` names. A file that
looks like a secret is included only on a stronger condition. Git tracks it, it is the script itself, or ``--include``
names exactly this file.
"""

from __future__ import annotations

import importlib.util
import io
import itertools
import os
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import kerascheck
from kerascheck.knowledge import secrets
from kerascheck.project import git
from kerascheck.runtime.verify.remote.messages import Job
from kerascheck.source import patterns

LARGEST_BYTES = 250 * 10**6
"""Bytes above which the upload is considered data, which is better copied once."""
MOST_FILES = 20_000
PROJECT, CODE = "project", "code"
"""Folders of the archive: the project, and kerascheck itself."""
_OURS = Path(kerascheck.__file__).parent
_LEFT_OUT = frozenset({"__pycache__", "node_modules", ".git", ".kerascheck"})
_MEMORY = ".kerascheck"
"""Folder of evidence and of running Slurm jobs, excluded whether or not git ignores it."""
_LOOKED_AT_BYTES = 1024 * 1024
"""Bytes; larger files are data and are not searched for private keys."""


class TooLarge(Exception):
    """The upload exceeds ``LARGEST_BYTES`` or ``MOST_FILES``; ``str()`` names the largest parts."""


class NeedsSecret(Exception):
    """The script imports a file that looks like a secret and was not approved; ``str()`` names it."""


@dataclass(slots=True)
class Upload:
    """Files of a project to upload."""

    root: str
    """Absolute, with all links resolved."""
    files: dict[str, int] = field(default_factory=dict)
    """Size in bytes by path relative to ``root``."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Excluded paths with reasons: files that look like secrets, and paths that cannot be uploaded."""
    suspicious: dict[str, str] = field(default_factory=dict)
    """Uploaded files that look like secrets, with reasons."""
    untracked: int = 0
    """Number of other files that git neither tracks nor ignores; they are not uploaded."""
    unmatched: list[str] = field(default_factory=list)
    """Patterns of ``--include`` that match no file."""
    git: bool = True

    @property
    def size(self) -> int:
        """Total bytes of all files."""
        return sum(self.files.values())

    def write(self, stream: IO[bytes], job: Job) -> None:
        """Write the archive of the project, ``job.json`` and the code of kerascheck to ``stream``."""
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as archive:
            for name in self.files:
                archive.add(os.path.join(self.root, name), f"{PROJECT}/{name}", recursive=False, filter=self._as_packed)
            _add(archive, "job.json", job.to_json())
            for path in own_code():
                _add(archive, f"{CODE}/kerascheck/{path.relative_to(_OURS).as_posix()}", path.read_bytes())
            _add(archive, f"{CODE}/start.py", Path(__file__).with_name("start.py").read_bytes())
            nvml = importlib.util.find_spec("pynvml")
            if nvml is not None and nvml.origin and os.path.basename(nvml.origin) == "pynvml.py":
                # A single file without dependencies; it allows GPU sampling where pynvml is not installed.
                _add(archive, f"{CODE}/pynvml.py", Path(nvml.origin).read_bytes())

    def _as_packed(self, info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        if info.issym():
            path = os.path.join(self.root, info.name.partition("/")[2])
            info.linkname = os.path.relpath(os.path.realpath(path), os.path.dirname(path))
        return info


def own_code() -> list[Path]:
    """The files of kerascheck that the remote side needs: all modules except the rules."""
    return [path for path in sorted(_OURS.rglob("*.py")) if path.relative_to(_OURS).parts[0] != "rules"]


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mode = 0o644
    archive.addfile(info, io.BytesIO(data))


def of_project(script: str, needed: Iterable[str], root: str | None = None, include: Sequence[str] = ()) -> Upload:
    """Select the files to upload with ``script`` (absolute path).

    Args:
        needed: absolute paths of the script and of the local modules that it imports.
        root: the project's folder, used instead of asking git; None: the script's repository, or else its folder.
        include: patterns with the syntax of .gitignore, relative to the project, for files that git does not track.

    Raises:
        TooLarge: the upload is too large.
        NeedsSecret: an imported module looks like a secret, and git does not track it.
    """
    top = root or _git(os.path.dirname(script), "rev-parse", "--show-toplevel").rstrip("\n")
    upload = Upload(os.path.realpath(top or os.path.dirname(script)), git=bool(top) and root is None)
    tracked, others = _seen_by_git(upload.root) if upload.git else ([], [])
    literal = {os.path.normpath(pattern.lstrip("/")) for pattern in include}
    literal = {name for name in literal if not os.path.isdir(os.path.join(upload.root, name))}
    own = [os.path.relpath(os.path.realpath(path), upload.root) for path in needed]
    agreed = literal.union(tracked, [os.path.relpath(os.path.realpath(script), upload.root)])
    total = 0
    for name in itertools.chain(sorted(own), tracked, sorted(literal), _included(upload, include)):
        if name not in upload.files:
            _take(upload, name, agreed=name in agreed)
            total += upload.files.get(name, 0)
        if total > LARGEST_BYTES or len(upload.files) > MOST_FILES:
            break  # do not walk a huge folder, such as a home folder, to its end
    if total > LARGEST_BYTES or len(upload.files) > MOST_FILES:
        large = sorted(upload.files, key=upload.files.__getitem__, reverse=True)[:3]
        raise TooLarge(
            f"{upload.root} has more than {size(LARGEST_BYTES)} or {MOST_FILES} files to upload: keep out of git and --include "
            f"what need not travel, such as {', '.join(f'{name} ({size(upload.files[name])})' for name in large)}"
        )
    for name in own:
        if name in upload.left_out:
            raise NeedsSecret(
                f"the script imports {name}, which stays here ({upload.left_out[name]}); --include {name} uploads it"
            )
    for name in others:
        if name not in upload.files and name not in upload.left_out:
            # Only the name is checked, since the file is not uploaded.
            if pattern := secrets.pattern_of(name):
                upload.left_out[name] = _named_like(pattern)
            else:
                upload.untracked += 1
    return upload


def by_project(uploads: Iterable[Upload]) -> list[Upload]:
    """One upload per project, with the files of all its scripts."""
    projects: dict[str, Upload] = {}
    for upload in uploads:
        new = Upload(upload.root, untracked=upload.untracked, unmatched=upload.unmatched, git=upload.git)
        whole = projects.setdefault(upload.root, new)
        whole.files |= upload.files
        whole.suspicious |= upload.suspicious
        whole.left_out = {k: v for k, v in (whole.left_out | upload.left_out).items() if k not in whole.files}
        whole.untracked = min(whole.untracked, upload.untracked)
    return list(projects.values())


def _take(upload: Upload, name: str, *, agreed: bool) -> None:
    """Add a file to the upload, or record why it is excluded; ``agreed``: add it even if it looks like a secret."""
    path = os.path.join(upload.root, name)
    if not os.path.lexists(path) or name.split(os.sep)[0] == os.pardir or _MEMORY in name.split("/"):
        return  # deleted but still tracked by git, or a module of another project
    if os.path.islink(path) and not os.path.realpath(path).startswith(upload.root + os.sep):
        upload.left_out[name] = "a link out of the project"
    elif os.path.realpath(os.path.dirname(path)) != os.path.dirname(path):
        upload.left_out[name] = "behind a link"
    elif (suspicion := _suspicion(path, name)) and not agreed:
        upload.left_out[name] = suspicion
    elif os.path.isdir(path) and not os.path.islink(path):
        upload.left_out[name] = "another repository"
    elif os.path.islink(path) or os.path.isfile(path):
        upload.files[name] = os.lstat(path).st_size
        if suspicion:
            upload.suspicious[name] = suspicion


def _suspicion(path: str, name: str) -> str | None:
    """Reason why a file looks like a secret; None if it does not. ``name`` is relative to the project."""
    if pattern := secrets.pattern_of(name):
        return _named_like(pattern)
    try:
        # Links are uploaded as links, and reading a device or a pipe may never end.
        if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _LOOKED_AT_BYTES:
            return None
        with open(path, "rb") as stream:
            # UTF-16 without its zero bytes reads as ASCII.
            content = stream.read(_LOOKED_AT_BYTES).replace(b"\0", b"")
    except OSError:
        return None
    return "holds a private key" if secrets.PRIVATE_KEY.search(content) else None


def _named_like(pattern: str) -> str:
    return f"named like a secret, {pattern}"


def _seen_by_git(root: str) -> tuple[list[str], list[str]]:
    """Tracked files, including those of submodules, and untracked files that git does not ignore."""
    tracked = _git(root, "ls-files", "-z", "--cached", "--recurse-submodules").split("\0")
    others = _git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return [name for name in tracked if name], [name.rstrip("/") for name in others if name]


def _git(folder: str, *arguments: str) -> str:
    """Output of git; empty without git or outside a repository."""
    try:
        return os.fsdecode(git.ask(folder, *arguments))
    except git.GitFailed:
        return ""


def _of_many_files(root: str, include: Sequence[str]) -> list[str]:
    """Patterns that do not name exactly one existing file. A pattern without a slash also matches in every folder."""

    def is_one_file(pattern: str) -> bool:
        return "/" in pattern and os.path.lexists(os.path.join(root, os.path.normpath(pattern.lstrip("/"))))

    return [pattern for pattern in include if pattern.endswith("/") or not is_one_file(pattern)]


def _included(upload: Upload, include: Sequence[str]) -> Iterator[str]:
    """Files that match a pattern. As in a shell, a hidden file matches only a pattern that writes the dot.

    Stores the patterns without a match in ``upload.unmatched``.
    """
    wide = _of_many_files(upload.root, include)
    upload.unmatched = [pattern for pattern in wide if not pattern.startswith("!")]
    if not wide:
        return
    dotted = [pattern for pattern in wide if pattern.startswith("!") or "/." in f"/{pattern}"]
    spec, hidden_spec = patterns.compiled(wide)[0], patterns.compiled(dotted)[0]
    for name in _walk(upload.root):
        is_hidden = "/." in f"/{name}"
        upload.unmatched = [
            pattern
            for pattern in upload.unmatched
            if (is_hidden and pattern not in dotted) or not patterns.spec(pattern).match_file(name)
        ]
        if (hidden_spec if is_hidden else spec).match_file(name):
            yield name


def _walk(root: str) -> Iterator[str]:
    """Files below ``root``, without repository metadata, bytecode caches and virtual environments."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name for name in subfolders
            if name not in _LEFT_OUT and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )  # fmt: skip
        for name in sorted(names):
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(folder, name), root)


def size(number: int) -> str:
    """Format a number of bytes for display."""
    for unit, bytes_of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= bytes_of:
            return f"{number / bytes_of:.3g} {unit}"
    return f"{number} bytes"
