"""Rules that others ship: in installed packages, and in folders that a command line names.

A package says where they are by an entry point of the group ``kerascheck.rules``, and ``--rules`` names a folder. Nothing else
can: rules are executed, and a linter that runs what a configuration file or the linted code names would run anybody's code.
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
    """A folder of rules that is not kerascheck's own.

    Attributes:
        folder: holds ``<family>/<slug>/rule.py``.
        by: who ships it, for messages: "the package acme-rules", or "the folder my_rules".
    """

    folder: Path
    by: str


def named(folder: str) -> Shipment:
    """The folder that a command line names; raises :class:`ConfigError` where there is none."""
    if not os.path.isdir(folder):
        raise ConfigError(f"--rules {folder}: there is no such folder")
    return Shipment(Path(folder).resolve(), f"the folder {folder}")


def packaged() -> Iterator[Shipment]:
    """The folders that installed packages name, found without importing them, by name of the package.

    Raises:
        ConfigError: a package names something else than a folder of its own.
    """
    if not _may_be_any():
        return
    from importlib import metadata

    found: dict[str, Distribution] = {}
    for distribution in metadata.distributions(path=_path()):
        if GROUP in (distribution.read_text("entry_points.txt") or ""):
            # As for imports, the first of a name hides the others.
            found.setdefault(re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower(), distribution)
    for package, distribution in sorted(found.items()):
        for entry in distribution.entry_points:
            if entry.group == GROUP:
                yield Shipment(_folder(entry.value, package), f"the package {package}")


def _may_be_any() -> bool:
    """Whether a package may name a folder: ``importlib.metadata`` takes longer to import than many a file to check, and most
    machines have none."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    for folder in _path():
        try:
            names = os.listdir(folder or os.curdir)
        except NotADirectoryError:
            # An archive.
            return True
        except OSError:
            continue
        if any(name.lower().endswith("-info") and _speaks_of_rules(os.path.join(folder, name)) for name in names):
            return True
    return False


def _speaks_of_rules(folder: str) -> bool:
    try:
        with dependencies.open_regular(os.path.join(folder, "entry_points.txt")) as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False


def _path() -> list[str]:
    """Where packages are installed: not the folder that one stands in, which ``python -m`` puts first, and which may be what is linted."""
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
    """Where a package of the top level is; it is not imported."""
    for finder in sys.meta_path:
        spec = PathFinder.find_spec(module, _path()) if finder is PathFinder else finder.find_spec(module, None)
        if spec is not None:
            return spec
    return None
