"""The requirements in the files of a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kerascheck.project.requirements.kinds import ENVIRONMENT_NAME, kind_of
from kerascheck.project.requirements.packages import Stated, package_of, text_of
from kerascheck.project.requirements.readers import LOCKS, READERS, READERS_BY_NAME
from kerascheck.source import dependencies

_ASIDE = re.compile(r"\..*|docs?|tests?|examples?|benchmarks?|tools?|scripts?", re.I)
REQUIREMENTS_FOLDERS = frozenset({"requirements", "docker", ".docker", "conda"})


@dependencies.remembered
def stated_in(folder: str) -> tuple[Stated, ...]:
    """The requirements of a folder's files; if they do not name TensorFlow, also those of its requirements folders."""
    stated = list(requirements_in(Path(folder)))
    if not any(package_of(each.name) for each in stated):
        stated += (each for kept in _kept_in(folder) for each in requirements_in(kept))
    # Notebooks of a repository usually use its only package, which may be in another subfolder.
    if not any(package_of(each.name) for each in stated) and dependencies.exists(os.path.join(folder, ".git")):
        parts = [list(requirements_in(part)) for part in _folders_in(folder)]
        named = [part for part in parts if any(package_of(each.name) for each in part)]
        stated += named[0] if len(named) == 1 else []
    return tuple(stated)


def _kept_in(folder: str) -> list[Path]:
    try:
        return [Path(folder, name) for name in names_in(folder) if name.lower() in REQUIREMENTS_FOLDERS]
    except OSError:
        return []


def _folders_in(folder: str) -> list[Path]:
    names = _subfolders(folder)
    dependencies.note(parts.__name__, folder, dependencies.digest_of(names))
    return [Path(folder, name) for name in names]


@dependencies.tracked
def parts(folder: str) -> str:
    """The digest of the subfolders that may be parts of a project."""
    return dependencies.digest_of(_subfolders(folder))


def _subfolders(folder: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not _ASIDE.fullmatch(entry.name))
    except OSError:
        return []


def names_in(folder: str | os.PathLike[str]) -> list[str]:
    """The sorted names in a folder that matter for requirements; raises OSError."""
    try:
        names = _relevant_names(folder)
    except OSError:
        dependencies.note(stating.__name__, str(folder), None)
        raise
    dependencies.note(stating.__name__, str(folder), dependencies.digest_of(names))
    return names


@dependencies.tracked
def stating(folder: str) -> str | None:
    """The digest of the names that matter for requirements; None if the folder is unreadable."""
    try:
        return dependencies.digest_of(_relevant_names(folder))
    except OSError:
        return None


def _relevant_names(folder: str | os.PathLike[str]) -> list[str]:
    return sorted(name for name in os.listdir(folder) if _is_relevant(os.path.join(folder, name), name))


def _is_relevant(path: str, name: str) -> bool:
    return (
        kind_of(path) is not None
        or name in READERS_BY_NAME
        or name.lower() in REQUIREMENTS_FOLDERS
        or name == ".git"
        or ENVIRONMENT_NAME.fullmatch(name) is not None
    )


def requirements_in(folder: Path) -> Iterator[Stated]:
    """The requirements in the files of ``folder``."""
    try:
        entries = names_in(folder)
    except OSError:
        return
    # A locked version is the one that is installed, whatever its manifest would allow.
    locked: dict[str, set[str | None]] = {}
    for entry in sorted(entries, key=lambda name: name not in LOCKS):
        reader = READERS.get(kind_of(folder / entry)) or READERS_BY_NAME.get(entry)
        for name, specifier in reader(text_of(folder / entry)) if reader else ():
            package = package_of(name)
            if entry in LOCKS:
                locked.setdefault(LOCKS[entry], set()).add(package)
            if package is None or package not in locked.get(entry, ()):
                yield Stated(name, specifier, str(folder / entry))
