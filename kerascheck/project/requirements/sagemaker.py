"""The TensorFlow version that a SageMaker estimator runs a script with.

``sagemaker.tensorflow.TensorFlow(entry_point="train.py", source_dir="src", framework_version="2.11")`` chooses an image.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from kerascheck.project.requirements.packages import Pin, Stated, pinned
from kerascheck.source import dependencies
from kerascheck.source.code import without_comments
from kerascheck.source.reading import decode, display_path, read_bytes
from kerascheck.source.text import Unreadable

_SEARCHED_FOLDERS = 3
"""Folders in which to look for launchers: that of the script, and those above it up to the root of the repository."""
_MOST_FILES = 80
"""Most files of a folder that are read."""
_LARGEST = 2_000_000
"""Bytes of the largest launcher; notebooks hold their pictures."""
_MENTION = re.compile(rb"\bframework_version\b")
_ESTIMATOR = re.compile(r"(?<![\w.])(?:[a-z]\w*\.)*TensorFlow\((?P<arguments>(?:[^()]|\([^()]*\))*)\)")
_ARGUMENT = r"""(?:^|[,(\s]){}\s*=\s*["']([^"'{{}}]*)["']\s*(?:,|$)"""
_VERSION = re.compile(r"[12]\.\d+(?:\.\d+)?")


class _Estimator(NamedTuple):
    entry: str
    folder: str
    """``source_dir``; empty if it is not given."""
    version: str


def estimator_versions(path: str | os.PathLike[str]) -> dict[str, Pin]:
    """The bound of ``tensorflow`` for a script that an estimator in the same repository names, or whose folder it uploads.

    Only literal arguments count. Launchers are scripts and notebooks in the folder of the script and the two above.
    """
    script = PurePath(os.path.abspath(path))
    folder = str(script.parent)
    stated = []
    with dependencies.on_behalf_of(path):
        for _ in range(_SEARCHED_FOLDERS):
            for launcher, estimators in _launchers_in(folder):
                stated += [
                    Stated("tensorflow", f"=={each.version}", launcher) for each in estimators if _runs(each, script)
                ]
            above = os.path.dirname(folder)
            if above == folder or dependencies.exists(os.path.join(folder, ".git")):
                break
            folder = above
    return pinned(stated)


def _runs(estimator: _Estimator, script: PurePath) -> bool:
    """Whether an estimator names a script as its entry point, or uploads its folder."""
    folder = [part for part in PurePath(estimator.folder).parts if part not in (".", "..")]
    entry = [*folder, *(part for part in PurePath(estimator.entry).parts if part not in (".", ".."))]
    return list(script.parts[-len(entry) :]) == entry or bool(folder) and _holds(folder, script.parts[:-1])


def _holds(folder: list[str], parts: tuple[str, ...]) -> bool:
    return any(list(parts[at : at + len(folder)]) == folder for at in range(len(parts) - len(folder) + 1))


@dependencies.remembered
def _launchers_in(folder: str) -> tuple[tuple[str, tuple[_Estimator, ...]], ...]:
    names = _candidates(folder)
    dependencies.note(launchers.__name__, folder, dependencies.digest_of(names))
    found = ((path, str(estimators(path) or "")) for path in (os.path.join(folder, name) for name in names))
    return tuple(
        (path, tuple(_Estimator(*line.split("\t")) for line in lines.splitlines())) for path, lines in found if lines
    )


def _candidates(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith((".py", ".ipynb")))[:_MOST_FILES]
    except OSError:
        return []


@dependencies.tracked
def launchers(folder: str) -> str:
    """The digest of the names of the files that may create estimators."""
    return dependencies.digest_of(_candidates(folder))


@dependencies.tracked_by_content
def estimators(path: str) -> str:
    """The estimators that a file creates: entry point, source folder and version between tabs, one estimator per line."""
    try:
        data = read_bytes(path)
        if len(data) > _LARGEST or _MENTION.search(data) is None or b"sagemaker" not in data:
            return ""
        code = without_comments(decode(display_path(path), data).without_data)
    except (OSError, Unreadable):
        return ""
    return "\n".join(sorted("\t".join(each) for each in _created_in(code)))


def _created_in(code: str) -> Iterator[_Estimator]:
    for match in _ESTIMATOR.finditer(code):
        entry, folder, version = (
            re.search(_ARGUMENT.format(name), match["arguments"])
            for name in ("entry_point", "source_dir", "framework_version")
        )
        is_known = folder is not None or re.search(r"\bsource_dir\s*=|\*\*", match["arguments"]) is None
        if entry and entry[1] and version and _VERSION.fullmatch(version[1]) and is_known:
            yield _Estimator(entry[1], folder[1] if folder else "", version[1])
