"""Readers of the file formats: each yields the name and specifier of every requirement in a text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kerascheck.knowledge.runtime import released_from
from kerascheck.project.requirements.commands import (
    CLOUD_IMAGE,
    LIBRARY_IMAGE,
    NVIDIA_IMAGE,
    base_images,
    installs,
    pythons,
)
from kerascheck.project.requirements.packages import CONDA_SELECT, UPPER_BOUND, VERSION, package_of
from kerascheck.source.python import without_warnings

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)@]*)")
_LOCKED = re.compile(r'(?m)^name = "([\w.-]+)"\r?\nversion = "([^"\n]+)"')
_CONDA = re.compile(r"\s*(?:[\w-]+::)?([A-Za-z_][\w.-]*)\s*([^#]*)")
_CONDA_OF_CPU = re.compile(r"=\s*(?:eigen|mkl)_")
# The output of "conda list --export", name=version=build, and conda's own name=version; both occur in requirements.txt.
_EXPORTED = re.compile(r"[A-Za-z][\w.-]*=\d[^=\s]*(?:=[^=\s]+)?")


def requirement(line: Any) -> Iterator[tuple[str, str]]:
    # A requirement with a marker applies on some machines only.
    if isinstance(line, str) and ";" not in line and (match := _REQUIREMENT.match(line)):
        yield match[1], match[2]


def from_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        yield from from_conda(f"- {line}") if _EXPORTED.fullmatch(line.strip()) else requirement(line)


def from_docker(text: str) -> Iterator[tuple[str, str]]:
    yield from installed(text)
    for image in base_images(text):
        if tag := LIBRARY_IMAGE.match(image):
            yield tag["package"] or "tensorflow", f"=={tag['version']}"
        elif tag := NVIDIA_IMAGE.match(image):
            if (tag["version"] or ("1" if int(tag["year"]) < 20 else "2")) == "1":
                yield "tensorflow", "<2"
            elif (later := released_from(2000 + int(tag["year"]), int(tag["month"]))) is not None:
                yield "tensorflow", "<{}.{}".format(*later)
        elif tag := CLOUD_IMAGE.match(image):
            yield "tensorflow", f"=={tag['version'] or '{}.{}'.format(tag['major'], tag['minor'])}.*"
    yield from (("python", f"=={python}.*") for python in pythons(text))


def installed(commands: str) -> Iterator[tuple[str, str]]:
    for start, end, by, _ in installs(commands):
        word = commands[start:end]
        yield from from_conda(f"- {word}") if by == "conda" else requirement(word)


def from_pyproject(text: str) -> Iterator[tuple[str, str]]:
    from kerascheck.project.toml import parse_toml

    if not any(word in text for word in ("keras", "tensorflow", "python")):
        return
    try:
        table = parse_toml(text)
    except ValueError:
        return
    project = table.get("project")
    project = project if isinstance(project, dict) else {}
    yield from _of_python(project.get("requires-python"))
    extras = project.get("optional-dependencies")
    yield from _needed_or_extra([project.get("dependencies")], extras.values() if isinstance(extras, dict) else ())
    poetry = table.get("tool", {}).get("poetry") if isinstance(table.get("tool"), dict) else None
    dependencies = poetry.get("dependencies") if isinstance(poetry, dict) else None
    for name, version in dependencies.items() if isinstance(dependencies, dict) else ():
        if isinstance(version, dict) and "markers" not in version and "platform" not in version:
            version = version.get("version")
        if isinstance(version, str):
            yield name, poetry_specifier(version)


def from_pipfile(text: str) -> Iterator[tuple[str, str]]:
    from kerascheck.project.toml import parse_toml

    try:
        table = parse_toml(text)
    except ValueError:
        return
    packages, requires = table.get("packages"), table.get("requires")
    for name, version in packages.items() if isinstance(packages, dict) else ():
        if isinstance(version, dict) and not {"markers", "sys_platform", "platform_machine"} & version.keys():
            version = version.get("version")
        if isinstance(version, str):
            yield name, version
    python = requires.get("python_version") if isinstance(requires, dict) else None
    yield from _of_python(f"=={python}.*" if isinstance(python, str) and python else None)


def from_lock(text: str) -> Iterator[tuple[str, str]]:
    """The locked versions of poetry, uv and pdm, without a full TOML parser: lock files are long."""
    yield from ((name, f"=={version}") for name, version in _LOCKED.findall(text))


def from_pipfile_lock(text: str) -> Iterator[tuple[str, str]]:
    try:
        packages = json.loads(text)["default"]
        for name, locked in packages.items():
            yield name, str(locked["version"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return


def _of_python(versions: object) -> Iterator[tuple[str, str]]:
    if isinstance(versions, str) and versions.strip():
        yield "python", versions


def _needed_or_extra(needed: Iterable[object], extras: Iterable[object]) -> Iterator[tuple[str, str]]:
    """The requirements of a package; if TensorFlow is not among them, also those of its extras.

    Extras are alternatives: a package without an upper bound in one of them gets no bound from another.
    """
    stated = [
        pair for lines in needed for line in (lines if isinstance(lines, list) else ()) for pair in requirement(line)
    ]
    yield from stated
    if not any(package_of(name) for name, _ in stated):
        either = [
            pair
            for lines in extras
            for line in (lines if isinstance(lines, list) else ())
            for pair in requirement(line)
        ]
        free = {package_of(name) for name, specifier in either if not UPPER_BOUND.search(specifier)}
        yield from (
            (name, specifier)
            for name, specifier in either
            if package_of(name) not in free or not UPPER_BOUND.search(specifier)
        )


def poetry_specifier(version: str) -> str:
    """A PEP 440 specifier for poetry's caret, tilde and bare versions."""
    from kerascheck.knowledge.runtime import LONG_NUMBER

    number = VERSION.fullmatch(version.lstrip("^~ "))
    if number is None or LONG_NUMBER.search(version):
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


def from_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    yield from _of_python(parser.get("options", "python_requires", fallback=""))
    extras = parser["options.extras_require"].values() if parser.has_section("options.extras_require") else ()
    yield from _needed_or_extra(
        [parser.get("options", "install_requires", fallback="").splitlines()], [lines.splitlines() for lines in extras]
    )


def from_setup_py(text: str) -> Iterator[tuple[str, str]]:
    # The script is parsed, never run: only literal lists count.
    if not any(word in text for word in ("keras", "tensorflow", "python_requires")):
        return
    try:
        nodes = list(ast.walk(without_warnings(text)))
        held: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        held.setdefault(target.id, []).append(node.value)
        keywords = [keyword for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords]
        needed, extras, pythons = (
            [list(_written_out(keyword.value, held)) for keyword in keywords if keyword.arg == argument]
            for argument in ("install_requires", "extras_require", "python_requires")
        )
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (pair for versions in pythons for version in versions for pair in _of_python(version))
    yield from _needed_or_extra(needed, extras)


def _written_out(node: ast.expr, held: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The string literals in a list, resolving ``+``, ``*``, names and dictionaries.

    Args:
        held: the values assigned to each name.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _written_out(item.value if isinstance(item, ast.Starred) else item, held)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _written_out(value, held)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _written_out(node.left, held)
        yield from _written_out(node.right, held)
    else:
        key, named = None, node
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key, named = node.slice.value, node.value
        if isinstance(named, ast.Name):
            # Drop the name itself, so that recursive definitions end.
            others = {name: values for name, values in held.items() if name != named.id}
            for value in held.get(named.id, ()):
                for part in [value] if key is None else _items(value, key):
                    yield from _written_out(part, others)


def _items(table: ast.expr, key: object) -> list[ast.expr]:
    """The values of a literal dictionary under a key."""
    if not isinstance(table, ast.Dict):
        return []
    return [
        value for each, value in zip(table.keys, table.values) if isinstance(each, ast.Constant) and each.value == key
    ]


def from_conda(text: str) -> Iterator[tuple[str, str]]:
    # Only list items matter, so no YAML parser is needed.
    for line in text.splitlines():
        item = re.match(r"\s*-\s+['\"]?([^'\"]*)", line)
        match = _CONDA.match(item[1]) if item else None
        if match:
            # For conda, one '=' matches versions with further parts.
            fuzzy = re.match(r"\s*=\s*(\d+(?:\.\d+)*)(?:\.\*)?(?:=\S*)?\s*$", match[2])
            yield match[1], f"=={fuzzy[1]}.*" if fuzzy else match[2]
            if package_of(match[1]) == "tensorflow" and _CONDA_OF_CPU.search(match[2]):
                yield CONDA_SELECT, "==2.3.0.*"


Reader = Callable[[str], Iterator[tuple[str, str]]]
"""A function from a text to the name and specifier of every requirement."""
READERS: dict[str | None, Reader] = {
    "pip": from_lines,
    "pyproject": from_pyproject,
    "conda": from_conda,
    "docker": from_docker,
}
READERS_BY_NAME: dict[str, Reader] = {
    "Pipfile": from_pipfile,
    "Pipfile.lock": from_pipfile_lock,
    "pdm.lock": from_lock,
    "poetry.lock": from_lock,
    "uv.lock": from_lock,
    "setup.cfg": from_setup_cfg,
    "setup.py": from_setup_py,
}
LOCKS = {"Pipfile.lock": "Pipfile", **dict.fromkeys(("pdm.lock", "poetry.lock", "uv.lock"), "pyproject.toml")}
"""Lock files, each with the file whose requirements it resolves."""
