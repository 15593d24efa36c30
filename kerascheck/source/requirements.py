"""Versions of TensorFlow and Keras that a project's requirement files pin."""

from __future__ import annotations

import configparser
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGES = {
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-macos": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "keras": "keras",
    "tf-keras": "tf-keras",
}
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)@]*)")
_CONDA = re.compile(r"\s*(?:[\w-]+::)?([A-Za-z][\w.-]*)\s*([^#]*)")
_UPPER = re.compile(r"(?:===?|~=|<=?)\s*\d")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


def pinned_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Version specifiers with an exact or upper bound that apply to the script at ``path``.

    The nearest folder upwards whose requirements*.txt, pyproject.toml, setup.cfg or
    environment.yml names a bounded version decides. A package that two files of that
    folder bound differently is left out, as is what cannot be read: no pin is better
    than a wrong one.

    Returns:
        ``tensorflow``, ``keras`` and ``tf-keras`` to specifiers such as ``==2.15.0``,
        ``>=2.8,<2.11`` or ``~=3.0``. ``tensorflow-gpu`` and its like count as ``tensorflow``.
    """
    return dict(_pins(os.path.dirname(os.path.abspath(path))))


@functools.lru_cache(maxsize=None)
def _pins(folder: str) -> tuple[tuple[str, str], ...]:
    found: dict[str, set[str]] = {}
    for name, specifier in _requirements(Path(folder)):
        package = _PACKAGES.get(re.sub(r"[-_.]+", "-", name).lower())
        specifier = re.sub(r"\s+", "", specifier).strip(",")
        if package and _UPPER.search(specifier):
            found.setdefault(package, set()).add(specifier)
    if found:
        return tuple((package, pins.pop()) for package, pins in sorted(found.items()) if len(pins) == 1)
    parent = os.path.dirname(folder)
    if parent == folder or os.path.exists(os.path.join(folder, ".git")):
        return ()
    return _pins(parent)


def _requirements(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and specifier of every requirement that the files of ``folder`` state."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return
    for entry in entries:
        if re.fullmatch(r"requirements.*\.txt", entry):
            for line in _text(folder / entry).splitlines():
                yield from _requirement(line)
        elif entry == "pyproject.toml":
            yield from _from_pyproject(_text(folder / entry))
        elif entry == "setup.cfg":
            yield from _from_setup_cfg(_text(folder / entry))
        elif entry in ("environment.yml", "environment.yaml"):
            yield from _from_conda(_text(folder / entry))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""


def _requirement(line: Any) -> Iterator[tuple[str, str]]:
    # A requirement with a marker holds on some machines only.
    if isinstance(line, str) and ";" not in line and (match := _REQUIREMENT.match(line)):
        yield match[1], match[2]


def _from_pyproject(text: str) -> Iterator[tuple[str, str]]:
    from kerascheck.config import parse_toml

    if "keras" not in text and "tensorflow" not in text:
        return
    try:
        table = parse_toml(text)
    except ValueError:
        return
    project = table.get("project")
    dependencies = project.get("dependencies") if isinstance(project, dict) else None
    for line in dependencies if isinstance(dependencies, list) else ():
        yield from _requirement(line)
    poetry = table.get("tool", {}).get("poetry") if isinstance(table.get("tool"), dict) else None
    dependencies = poetry.get("dependencies") if isinstance(poetry, dict) else None
    for name, version in dependencies.items() if isinstance(dependencies, dict) else ():
        if isinstance(version, dict) and "markers" not in version and "platform" not in version:
            version = version.get("version")
        if isinstance(version, str):
            yield name, _from_poetry(version)


def _from_poetry(version: str) -> str:
    """A PEP 440 specifier for poetry's caret, tilde and bare versions."""
    number = _VERSION.fullmatch(version.lstrip("^~ "))
    if number is None:
        return version
    parts = [int(part) for part in number[0].split(".")]
    if version.startswith("^"):
        place = next((index for index, part in enumerate(parts) if part), len(parts) - 1)
        upper = [*parts[:place], parts[place] + 1]
    elif version.startswith("~"):
        upper = [parts[0], parts[1] + 1] if len(parts) > 1 else [parts[0] + 1]
    else:
        return f"=={number[0]}"
    return f">={number[0]},<{'.'.join(map(str, upper))}"


def _from_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for line in parser.get("options", "install_requires", fallback="").splitlines():
        yield from _requirement(line)


def _from_conda(text: str) -> Iterator[tuple[str, str]]:
    # The list items of the file are all that matters: YAML itself is not needed for them.
    for line in text.splitlines():
        item = re.match(r"\s*-\s+['\"]?([^'\"]*)", line)
        match = _CONDA.match(item[1]) if item else None
        if match:
            # conda writes one '=' for a version that may have more parts.
            fuzzy = re.match(r"\s*=\s*(\d+(?:\.\d+)*)(?:\.\*)?(?:=\S*)?\s*$", match[2])
            yield match[1], f"=={fuzzy[1]}.*" if fuzzy else match[2]
