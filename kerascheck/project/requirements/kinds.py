"""The kinds of requirements files, by their names."""

from __future__ import annotations

import os
import re

_REQUIREMENTS_NAME = re.compile(r"[\w.-]*requirements[\w.-]*\.(?:txt|in)", re.I)
_CONDA_NAME = re.compile(r"(?:env|[\w.-]*environment[\w.-]*|[\w.-]*conda[\w.-]*)\.ya?ml", re.I)
ENVIRONMENT_NAME = re.compile(r"(?:docker-)?compose[\w.-]*\.ya?ml|\.env(?:rc|\.[\w.-]+)?", re.I)
DOCKER_NAME = re.compile(r"(?:Dockerfile|Containerfile)(?:[._-][\w.-]+)?|[\w.-]+\.(?:docker|container)file", re.I)
_OF_GPU = re.compile(r"(?:\b|_)(?:gpu|cuda)(?:\b|_|\d)", re.I)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The kind of a requirements file by its name: "pip", "pyproject", "conda" or "docker"; None for other files."""
    name = os.path.basename(path)
    if name == "pyproject.toml":
        return "pyproject"
    if _REQUIREMENTS_NAME.fullmatch(name) or (
        name.endswith(".txt") and os.path.basename(os.path.dirname(path)) == "requirements"
    ):
        return "pip"
    if _CONDA_NAME.fullmatch(name):
        return "conda"
    return "docker" if DOCKER_NAME.fullmatch(name) else None


def is_about_tensorflow(data: bytes) -> bool:
    """Whether a requirements file mentions TensorFlow; rules ignore all others."""
    return b"tensorflow" in data.lower()


def is_named_for_gpu(path: str | os.PathLike[str]) -> bool:
    """Whether a requirements file or conda environment is named for machines with a GPU.

    The name of a Dockerfile does not count: its base image brings its own packages.
    """
    return kind_of(path) in ("pip", "conda") and _OF_GPU.search(os.path.basename(path)) is not None
