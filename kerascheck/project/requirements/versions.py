"""The package versions and builds that a project or a script requires."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kerascheck.project.requirements.folders import names_in, stated_in
from kerascheck.project.requirements.kinds import DOCKER_NAME, ENVIRONMENT_NAME, is_named_for_gpu
from kerascheck.project.requirements.packages import CONDA_SELECT, Pin, Stated, bounded, normalized, package_of, pinned
from kerascheck.project.requirements.readers import installed, requirement
from kerascheck.source import dependencies
from kerascheck.source.reading import read_bytes

_SCRIPT = re.compile(r"(?m)^# /// script[ \t]*\r?\n((?:#(?: .*)?\r?\n)+?)# ///[ \t\r]*$")
# The magic of Colab that selected TensorFlow 1 until its removal.
_COLAB_1 = re.compile(r"(?m)^[ \t]*%tensorflow_version[ \t]+1\b")
_GROWTH = re.compile(rb"(?m)^[^#\r\n]*\bTF_FORCE_GPU_ALLOW_GROWTH\b")


def pinned_versions(path: str | os.PathLike[str]) -> dict[str, Pin]:
    """The exact and upper bounds of versions that apply to the script at ``path``.

    The nearest folder upwards with a bounded version decides. Its files are requirements files, pyproject.toml,
    Pipfile, setup.cfg, setup.py, conda environments and Dockerfiles. If they do not name TensorFlow, subfolders named
    requirements, docker or conda count too. In a repository, so does the only other subfolder with requirements.

    Between two bounds in one folder, a file named for the GPU wins, else the newer bound, under which TensorFlow
    optimises more by itself. Bounds of Python and NumPy also bound TensorFlow. Unreadable files are skipped.

    Returns:
        The bounds of ``tensorflow``, ``keras`` and ``tf-keras``; similar packages such as ``tensorflow-gpu`` count as
        ``tensorflow``.
    """
    with dependencies.on_behalf_of(path):
        return dict(_pins(os.path.dirname(os.path.abspath(path))))


def wants_cpu(path: str | os.PathLike[str]) -> bool:
    """Whether all the nearest requirements files that name TensorFlow require a build without GPU support.

    Such builds are tensorflow-cpu, tensorflow-intel, and conda's builds with MKL or Eigen.
    """
    with dependencies.on_behalf_of(path):
        return _wants_cpu(os.path.dirname(os.path.abspath(path)))


def lets_memory_grow(path: str | os.PathLike[str]) -> bool:
    """Whether the image or environment of a project sets ``TF_FORCE_GPU_ALLOW_GROWTH``."""
    with dependencies.on_behalf_of(path):
        return _lets_memory_grow(os.path.dirname(os.path.abspath(path)))


def invalidate() -> None:
    """Invalidate the results of the functions above, after files changed."""
    dependencies.invalidate()


def script_versions(text: str) -> dict[str, Pin]:
    """The bounds in the metadata comment of a script (PEP 723), which starts with ``# /// script``."""
    block = _SCRIPT.search(text)
    if block is None:
        return {}
    from kerascheck.project.toml import parse_toml

    try:
        dependencies = parse_toml(re.sub(r"(?m)^# ?", "", block[1])).get("dependencies")
    except ValueError:
        return {}
    return pinned(
        Stated(*pair) for line in (dependencies if isinstance(dependencies, list) else ()) for pair in requirement(line)
    )


def command_versions(commands: str) -> dict[str, Pin]:
    """The bounds of the packages that commands of a notebook or a Dockerfile install."""
    chosen = [("tensorflow", "<2")] if _COLAB_1.search(commands) else []
    return pinned(Stated(*pair) for pair in (*chosen, *installed(commands)))


@dependencies.remembered
def _pins(folder: str) -> tuple[tuple[str, Pin], ...]:
    stated = stated_in(folder)
    pins = pinned(_preferring_gpu(stated))
    parent = os.path.dirname(folder)
    # A nearer file that names TensorFlow without a bound gets the newest.
    if (
        not pins
        and not any(package_of(each.name) == "tensorflow" for each in stated)
        and parent != folder
        and not dependencies.exists(os.path.join(folder, ".git"))
    ):
        pins = dict(_pins(parent))
    return tuple(_for_python(pins, stated).items())


def _for_python(pins: dict[str, Pin], stated: Sequence[Stated]) -> dict[str, Pin]:
    """Bound TensorFlow by the required Python and NumPy, if a release supports them."""
    from kerascheck.knowledge.runtime import (
        KERAS_RELEASES,
        TENSORFLOW_RELEASES,
        newest_allowed,
        newest_for_numpy,
        newest_for_python,
    )

    last: tuple[int, int] | None = None
    asked: Stated | None = None
    for package, newest in (("python", newest_for_python), ("numpy", newest_for_numpy)):
        specifiers = {
            re.sub(r"\s+", "", each.specifier): each for each in reversed(stated) if normalized(each.name) == package
        }
        found = newest(specifiers)
        if found is not None and (last is None or found < last):
            last, asked = found, next(each for specifier, each in specifiers.items() if newest([specifier]) == found)
    own = pins["tensorflow"].specifier if "tensorflow" in pins else ""
    # A stand-alone Keras implies an older TensorFlow.
    if not own and "keras" in pins and (newest_allowed(pins["keras"].specifier, KERAS_RELEASES) or (2, 4)) < (2, 4):
        return pins
    if last is None or asked is None or (newest_allowed(own, TENSORFLOW_RELEASES) or last) <= last:
        return pins
    bound = f"{own},<{last[0]}.{last[1] + 1}".lstrip(",")
    return {**pins, "tensorflow": Pin(bound, asked)} if newest_allowed(bound, TENSORFLOW_RELEASES) else pins


def _preferring_gpu(stated: Sequence[Stated]) -> list[Stated]:
    """Prefer bounds from files named for the GPU: other files with the same package are for machines without one."""
    named = [each for each in stated if is_named_for_gpu(each.path)]
    for_gpu = bounded(named)
    return [each for each in stated if each in named or package_of(each.name) not in for_gpu]


@dependencies.remembered
def _wants_cpu(folder: str) -> bool:
    files: dict[str, list[Stated]] = {}
    for each in stated_in(folder):
        if package_of(each.name) == "tensorflow" or normalized(each.name) == CONDA_SELECT:
            files.setdefault(each.path, []).append(each)
    parent = os.path.dirname(folder)
    if files or parent == folder or dependencies.exists(os.path.join(folder, ".git")):
        # Contradictory files leave the build unknown.
        return bool(files) and all(map(_is_of_cpu, files.values()))
    return _wants_cpu(parent)


def _is_of_cpu(stated: list[Stated]) -> bool:
    """Whether the requirements of one file select a build without GPU support."""
    if any(normalized(each.name) == CONDA_SELECT and re.match(r"==2\.[23]\.", each.specifier) for each in stated):
        return True
    builds = {normalized(each.name) for each in stated}
    # tensorflow-intel, for native Windows, has had no GPU support since its first release, 2.11. pip freeze lists it
    # next to the package itself.
    return "tensorflow-intel" in builds or builds == {"tensorflow-cpu"}


@dependencies.remembered
def _lets_memory_grow(folder: str) -> bool:
    try:
        names = names_in(folder)
    except OSError:
        names = []
    for name in names:
        if DOCKER_NAME.fullmatch(name) or ENVIRONMENT_NAME.fullmatch(name):
            try:
                said = read_bytes(Path(folder, name))
            except OSError:
                continue
            if _GROWTH.search(said):
                return True
    parent = os.path.dirname(folder)
    return parent != folder and ".git" not in names and _lets_memory_grow(parent)
