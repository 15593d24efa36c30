"""Third-party rules: in installed packages, and in folders from the command line.

A package names its folder with an entry point of the group ``kerascheck.rules``; ``--rules`` names a folder directly.
Configuration files and linted code cannot add rules: rules are executed, so they would run anybody's code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from kerascheck.project.config import ConfigError
from kerascheck.source import dependencies

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP = "kerascheck.rules"


@dataclass(frozen=True)
class Shipment:
    """A folder of third-party rules.

    Attributes:
        folder: the folder with the files ``<family>/<slug>/rule.py``.
        by: its origin for messages, such as "the package acme-rules" or "the folder my_rules".
    """

    folder: Path
    by: str


def named(folder: str) -> Shipment:
    """A folder from the command line; raises :class:`ConfigError` if it does not exist."""
    if not os.path.isdir(folder):
        raise ConfigError(f"--rules {folder}: there is no such folder")
    return Shipment(Path(folder).resolve(), f"the folder {folder}")


def packaged() -> Iterator[Shipment]:
    """The folders that installed packages name, sorted by package; finds them without importing the packages.

    Raises:
        ConfigError: a package names something other than one of its folders.
    """
    if not _may_exist():
        return
    from importlib import metadata

    found: dict[str, Distribution] = {}
    for distribution in metadata.distributions(path=_path()):
        if GROUP in (distribution.read_text("entry_points.txt") or ""):
            # As in imports, the first package of a name hides the others.
            found.setdefault(re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower(), distribution)
    for package, distribution in sorted(found.items()):
        for entry in distribution.entry_points:
            if entry.group == GROUP:
                yield Shipment(_folder(entry.value, package), f"the package {package}")


def _may_exist() -> bool:
    """Whether a package may name a folder.

    Most machines have no such package, and importing ``importlib.metadata`` takes longer than checking many files.
    """
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    for folder in _path():
        try:
            names = os.listdir(folder or os.curdir)
        except NotADirectoryError:
            # A zip archive on the path may contain packages.
            return True
        except OSError:
            continue
        if any(name.lower().endswith("-info") and _has_entry_point(os.path.join(folder, name)) for name in names):
            return True
    return False


def _has_entry_point(folder: str) -> bool:
    try:
        with dependencies.open_regular(os.path.join(folder, "entry_points.txt")) as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False


def _path() -> list[str]:
    """``sys.path`` without the working folder, which ``python -m`` puts first and which may contain the linted code."""
    here = sys.path and os.path.realpath(sys.path[0] or os.curdir) == os.path.realpath(os.curdir)
    return sys.path[1:] if here else sys.path


def _folder(module: str, package: str) -> Path:
    top, *inner = module.split(".")
    spec = _spec(top)
    for location in (spec.submodule_search_locations if spec is not None else None) or ():
        folder = Path(location, *inner)
        if folder.is_dir():
            return folder
    raise ConfigError(
        f"the package {package} says that its rules are in '{module}' (entry point {GROUP}), which is no folder of a package"
    )


def _spec(module: str) -> ModuleSpec | None:
    """The spec of a top-level package, found without importing it."""
    for finder in sys.meta_path:
        spec = PathFinder.find_spec(module, _path()) if finder is PathFinder else finder.find_spec(module, None)
        if spec is not None:
            return spec
    return None
