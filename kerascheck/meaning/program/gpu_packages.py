"""TensorFlow packages in requirements: whether they use a GPU, and which package would."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

from kerascheck.knowledge import packages
from kerascheck.knowledge.name_heuristics import CI_NAMES
from kerascheck.knowledge.runtime import TENSORFLOW_RELEASES
from kerascheck.project.requirements import Requirement, RequirementsFile, is_named_for_gpu

_ASIDE = frozenset("doc docs readthedocs rtd test tests ci dev lint cpu".split())
_ENVIRONMENT = re.compile(r"(?m)^name:[ \t]*(\S+)")
# An image that only displays recordings of other programs.
_SHOWS = re.compile(r"^\s*(?:CMD|ENTRYPOINT)\b.*\btensorboard\b", re.M)
_ON_WINDOWS = re.compile(r"win32|Windows")


class Shortfall(enum.Enum):
    """Reasons why the installed packages use no GPU."""

    WINDOWS = enum.auto()
    """The release has no GPU support on native Windows."""
    CPU_PACKAGE = enum.auto()
    """The package is built without CUDA."""
    CPU_BUILD = enum.auto()
    """The conda build is built without CUDA."""
    NO_PACKAGE = enum.auto()
    """The package cannot be installed in this release."""
    NO_CUDA = enum.auto()
    """It would use a GPU, but its container image has no CUDA."""


class WithCuda(enum.Enum):
    """Ways in which the releases that a requirement allows get CUDA."""

    EXTRA = enum.auto()
    """Through ``tensorflow[and-cuda]``."""
    BESIDE = enum.auto()
    """``tensorflow`` finds an existing CUDA installation."""
    PACKAGE = enum.auto()
    """Through ``tensorflow-gpu``, which also needs an existing installation."""


def newest_tensorflow(requirement: Requirement) -> tuple[int, int] | None:
    """(major, minor) of the newest TensorFlow that a requirement allows; None if it allows none or is unreadable."""
    return requirement.newest(TENSORFLOW_RELEASES)


def cuda_for(requirement: Requirement) -> WithCuda:
    """How the newest TensorFlow that a requirement allows gets CUDA; if unknown, the way of the newest release."""
    newest = newest_tensorflow(requirement)
    if newest is None or newest >= packages.CUDA_EXTRA_SINCE:
        return WithCuda.EXTRA
    return WithCuda.BESIDE if newest >= packages.ONE_PACKAGE_SINCE else WithCuda.PACKAGE


def gpu_shortfall(file: RequirementsFile, requirement: Requirement) -> Shortfall | None:
    """Why a requirement of TensorFlow leaves a GPU unused, or cannot be installed; None if neither is known.

    A requirement under a marker may be meant for a machine without a GPU, except on Windows.
    """
    if requirement.marker:
        return Shortfall.WINDOWS if _is_late_for_windows(requirement) else None
    if requirement.name == packages.TENSORFLOW_CPU:
        return None if _goes_without_cuda(file) or brings_gpu(file) else Shortfall.CPU_PACKAGE
    if requirement.name == packages.TENSORFLOW_GPU and requirement.by != "conda":
        return Shortfall.NO_PACKAGE if _allows(requirement, packages.GPU_PACKAGE_GONE) else None
    if requirement.name != packages.TENSORFLOW:
        return None
    if requirement.by == "conda" and packages.CPU_BUILD.search(requirement.specifier):
        return None if brings_gpu(file) else Shortfall.CPU_BUILD
    return Shortfall.NO_CUDA if requirement.by == "pip" and _lacks_cuda(file, requirement) else None


def is_without_gpu_on_purpose(file: RequirementsFile, requirement: Requirement) -> bool:
    """Whether names mention documentation, tests, CI or CPU.

    The names are those of the file, its folder, its environment and the group.
    """
    *folders, name = re.split(r"[/\\]", file.source.path.lower())
    folder = folders[-1] if folders else ""
    environment = _ENVIRONMENT.search(file.source.text) if file.kind == "conda" else None
    words = f"{name} {environment[1].lower() if environment else ''} {requirement.group.lower()}"
    purposes = {"ci" if CI_NAMES.fullmatch(folder) else folder, *re.split(r"[\W_]+", words)}
    return not purposes.isdisjoint(_ASIDE)


def only_shows_recordings(file: RequirementsFile) -> bool:
    """Whether a Dockerfile builds an image that only runs TensorBoard."""
    return bool(file.images) and _SHOWS.search(file.source.text) is not None


def brings_gpu(file: RequirementsFile) -> bool:
    """Whether this file or another in its folder installs a TensorFlow that uses GPUs, so users can choose."""
    return any(map(_uses_gpu, _with_neighbors(file)))


def _with_neighbors(file: RequirementsFile) -> Iterator[Requirement]:
    yield from file.requirements
    for other in file.beside():
        yield from other.requirements


def _uses_gpu(requirement: Requirement) -> bool:
    if requirement.name == packages.TENSORFLOW:
        return packages.CUDA_EXTRA in requirement.extras or (
            is_named_for_gpu(requirement.module.source.path) and not packages.CPU_BUILD.search(requirement.specifier)
        )
    if requirement.name != packages.TENSORFLOW_GPU:
        return False
    newest = newest_tensorflow(requirement)
    return requirement.by == "conda" or newest is not None and newest < packages.GPU_PACKAGE_GONE


def _allows(requirement: Requirement, release: tuple[int, int]) -> bool:
    """Whether a requirement certainly allows a release, or a newer one."""
    newest = newest_tensorflow(requirement)
    return newest is not None and newest >= release


def _is_late_for_windows(requirement: Requirement) -> bool:
    newest = newest_tensorflow(requirement)
    return (
        requirement.name == packages.TENSORFLOW
        and _ON_WINDOWS.search(requirement.marker) is not None
        and "!=" not in requirement.marker
        and newest is not None
        and newest > packages.LAST_ON_WINDOWS
    )


def _goes_without_cuda(file: RequirementsFile) -> bool:
    """Whether a TensorFlow without CUDA makes sense.

    It is for serving, used with another GPU library or a plug-in, or one of several.
    """
    named = {each.name for each in file.requirements}
    if not named.isdisjoint(packages.SERVERS | packages.OTHERS_ON_GPU | {packages.TENSORFLOW}):
        return True
    return any(packages.PLUGIN.match(each.name) for each in _with_neighbors(file))


def _lacks_cuda(file: RequirementsFile, requirement: Requirement) -> bool:
    """Whether an image without CUDA installs a TensorFlow that could use it, but no NVIDIA packages."""
    if requirement.extras or not file.images or not _allows(requirement, packages.ONE_PACKAGE_SINCE):
        return False
    if any(packages.OF_NVIDIA.search(each.name) for each in file.requirements) or packages.OF_NVIDIA.search(file.code):
        return False
    # A release that the image's Python cannot install is no solution.
    possible = file.newest_for_image
    if cuda_for(requirement) is WithCuda.EXTRA and possible is not None and possible < packages.CUDA_EXTRA_SINCE:
        return False
    return all(map(packages.PLAIN_IMAGE.match, file.images))
