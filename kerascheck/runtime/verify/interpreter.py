"""The interpreter that runs a script: that of its project, if it can be found."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

_FRAMEWORKS = ("keras", "tensorflow", "tf_keras", "torch", "jax")
_FOLDERS = (".venv", "venv", "env", ".env")
_TOPS = (".git", "pyproject.toml", "setup.py", "requirements.txt", "environment.yml")
_POETRY_SECONDS = 20.0


def of_project(script: str, environment: Mapping[str, str] = os.environ) -> tuple[str, str | None]:
    """The interpreter of the project of a script.

    Takes the first of these that has a framework: the activated environment (``VIRTUAL_ENV``, ``CONDA_PREFIX``), that
    of uv (``UV_PROJECT_ENVIRONMENT``), a folder ``.venv``, ``venv``, ``env`` or ``.env`` beside the script or above it in its project,
    and that of poetry.

    Returns:
        Its path and its origin. If there is none or it is kerascheck's own, returns that one and None.
    """
    for prefix, found_by in _candidates(os.path.abspath(script), environment):
        python = os.path.join(prefix, "bin", "python")
        if not os.path.exists(python) or not _has_framework(prefix):
            continue
        if os.path.realpath(prefix) == os.path.realpath(sys.prefix):
            break
        return python, found_by
    return sys.executable, None


def _candidates(script: str, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := environment.get(variable):
            yield prefix, variable
    top = os.path.dirname(script)
    while True:
        named = environment.get("UV_PROJECT_ENVIRONMENT")
        for folder in (*([named] if named else ()), *_FOLDERS):
            yield os.path.join(top, folder), folder
        above = os.path.dirname(top)
        if above == top or any(os.path.exists(os.path.join(top, name)) for name in _TOPS):
            break
        top = above
    if os.path.exists(os.path.join(top, "poetry.lock")):
        if prefix := _of_poetry(top):
            yield prefix, "poetry"


def _of_poetry(top: str) -> str | None:
    """The environment that poetry created for a project; None if there is none or poetry does not answer."""
    poetry = shutil.which("poetry")
    if poetry is None:
        return None
    command = [poetry, "env", "info", "--path", "--no-interaction"]
    try:
        ran = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=_POETRY_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() or None


def _has_framework(prefix: str) -> bool:
    """Whether an environment contains a framework, judged by its folders, because running it would take seconds."""
    libraries = glob.glob(os.path.join(glob.escape(prefix), "lib", "python*", "site-packages"))
    return any(os.path.isdir(os.path.join(library, name)) for library in libraries for name in _FRAMEWORKS)
