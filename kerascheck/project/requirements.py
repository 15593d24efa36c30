"""The files that say what is to be installed: the versions that they pin, and the requirements themselves."""

from __future__ import annotations

import ast
import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kerascheck.source import dependencies
from kerascheck.source.python import without_warnings
from kerascheck.source.reading import read, read_bytes
from kerascheck.source.text import Source, Unreadable

_PACKAGES = {
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-macos": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "tensorflow-base": "tensorflow",
    "tensorflow-mkl": "tensorflow",
    "tf-nightly": "tensorflow",
    "tf-nightly-gpu": "tensorflow",
    "keras": "keras",
    "keras-gpu": "keras",
    "keras-base": "keras",
    "tf-keras": "tf-keras",
}
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)@]*)")
_CONDA = re.compile(r"\s*(?:[\w-]+::)?([A-Za-z_][\w.-]*)\s*([^#]*)")
# What conda chooses the build of TensorFlow by: 2.1.0 has GPUs, 2.2.0 (Eigen) and 2.3.0 (MKL) have none.
_CONDA_SELECT = "-tflow-select"
_CONDA_OF_CPU = re.compile(r"=\s*(?:eigen|mkl)_")
# What "conda list --export" writes, often into a requirements.txt: name=version=build; and what conda takes there, name=version.
_EXPORTED = re.compile(r"[A-Za-z][\w.-]*=\d[^=\s]*(?:=[^=\s]+)?")
_UPPER = re.compile(r"(?:===?|~=|<=?)\s*\d")
_SCRIPT = re.compile(r"(?m)^# /// script[ \t]*\r?\n((?:#(?: .*)?\r?\n)+?)# ///[ \t\r]*$")
# The magic by which notebooks on Colab chose TensorFlow 1, as long as it was there.
_COLAB_1 = re.compile(r"(?m)^[ \t]*%tensorflow_version[ \t]+1\b")
_GROWTH = re.compile(rb"(?m)^[^#\r\n]*\bTF_FORCE_GPU_ALLOW_GROWTH\b")
_ASIDE = re.compile(r"\..*|docs?|tests?|examples?|benchmarks?|tools?|scripts?", re.I)
_OF_GPU = re.compile(r"(?:\b|_)(?:gpu|cuda)(?:\b|_|\d)", re.I)
_FOLDERS = frozenset({"requirements", "docker", ".docker", "conda"})
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class Stated(NamedTuple):
    """A requirement as it is written somewhere."""

    name: str
    specifier: str
    path: str = ""
    """The file that states it; empty where that is the linted file itself."""

    @property
    def line(self) -> int | None:
        """The line of the file that states it, counted from 1; None where none holds its name. It is looked for by what the reader has kept."""
        version = _VERSION.search(self.specifier)
        name = re.compile(rf"(?<![\w.-]){re.escape(self.name)}(?![\w.-])")
        number = re.compile(rf"(?<![\d.]){re.escape(version[0])}(?!\d)" if version else "(?!)")

        def likeness(line: str) -> tuple[bool, ...]:
            named = self.name in line and not line.lstrip().startswith("#")
            return named, named and bool(name.search(line)), named and bool(number.search(line))

        alike = list(map(likeness, _text(Path(self.path)).splitlines())) if self.path else []
        best = max(alike, default=(False,))
        return alike.index(best) + 1 if best[0] else None


@dataclass(frozen=True, slots=True)
class Pin:
    """An exact or upper bound of a package's version.

    Attributes:
        specifier: such as ``==2.15.0``, ``>=2.8,<2.11`` or ``~=3.0``.
        stated: the requirement that says so; for TensorFlow perhaps one of Python or of NumPy, which newer releases do not work with.
    """

    specifier: str
    stated: Stated


def pinned_versions(path: str | os.PathLike[str]) -> dict[str, Pin]:
    """The exact and upper bounds of versions that apply to the script at ``path``.

    The nearest folder upwards whose requirements files, pyproject.toml, Pipfile, setup.cfg, setup.py,
    conda environments or Dockerfile name a bounded version decides; where its own files do not
    name TensorFlow, also those in a folder of it named requirements, docker or conda, and for a
    repository those in the only other folder of it that has some. Of two
    bounds in one folder that of a file named for the GPU counts, or else the newer one, under which TensorFlow repairs more by itself. TensorFlow
    is not newer than its last release for the newest Python, and for the newest NumPy, that such a file
    allows. What cannot be read is left out.

    Returns:
        ``tensorflow``, ``keras`` and ``tf-keras`` to their bounds. ``tensorflow-gpu`` and its like count as ``tensorflow``.
    """
    with dependencies.on_behalf_of(path):
        return dict(_pins(os.path.dirname(os.path.abspath(path))))


def wants_cpu(path: str | os.PathLike[str]) -> bool:
    """Whether the nearest requirements that name TensorFlow, each file of them, ask for a build without GPUs: tensorflow-cpu, tensorflow-intel, or one of conda's with MKL or Eigen."""
    with dependencies.on_behalf_of(path):
        return _wants_cpu(os.path.dirname(os.path.abspath(path)))


def lets_memory_grow(path: str | os.PathLike[str]) -> bool:
    """Whether the image or environment that a project is run in says ``TF_FORCE_GPU_ALLOW_GROWTH``."""
    with dependencies.on_behalf_of(path):
        return _lets_memory_grow(os.path.dirname(os.path.abspath(path)))


def forget() -> None:
    """Read the files again that the functions above have read: they may have changed."""
    dependencies.forget()


def script_versions(text: str) -> dict[str, Pin]:
    """The same for what a script says of itself, in the comment of PEP 723 that starts with ``# /// script``."""
    block = _SCRIPT.search(text)
    if block is None:
        return {}
    from kerascheck.project.config import parse_toml

    try:
        dependencies = parse_toml(re.sub(r"(?m)^# ?", "", block[1])).get("dependencies")
    except ValueError:
        return {}
    return _pinned(
        Stated(*pair)
        for line in (dependencies if isinstance(dependencies, list) else ())
        for pair in _requirement(line)
    )


def command_versions(commands: str) -> dict[str, Pin]:
    """The same for what the commands of a notebook or a Dockerfile install."""
    chosen = [("tensorflow", "<2")] if _COLAB_1.search(commands) else []
    return _pinned(Stated(*pair) for pair in (*chosen, *_installed(commands)))


def _installed(commands: str) -> Iterator[tuple[str, str]]:
    for start, end, by, _ in _installs(commands):
        word = commands[start:end]
        yield from _from_conda(f"- {word}") if by == "conda" else _requirement(word)


def _pinned(requirements: Iterable[Stated]) -> dict[str, Pin]:
    """The bound of each package that matters here."""
    return {package: _newest(package, pins) for package, pins in _bounded(requirements).items()}


def _newest(package: str, pins: list[Pin]) -> Pin:
    from kerascheck.knowledge.runtime import KERAS_RELEASES, TENSORFLOW_RELEASES, newest_allowed

    releases = TENSORFLOW_RELEASES if package == "tensorflow" else KERAS_RELEASES
    return max(
        sorted(pins, key=lambda pin: pin.specifier), key=lambda pin: newest_allowed(pin.specifier, releases) or (0, 0)
    )


def _bounded(requirements: Iterable[Stated]) -> dict[str, list[Pin]]:
    """All bounds of each package that matters here."""
    found: dict[str, list[Pin]] = {}
    for stated in requirements:
        package = _package(stated.name)
        specifier = re.sub(r"\s+", "", stated.specifier).strip(",")
        if package and _UPPER.search(specifier):
            found.setdefault(package, []).append(Pin(specifier, stated))
    return found


def _package(name: str) -> str | None:
    return _PACKAGES.get(_normalized(name))


def _normalized(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dependencies.remembered
def _pins(folder: str) -> tuple[tuple[str, Pin], ...]:
    stated = _stated(folder)
    pins = _pinned(_preferring_gpu(stated))
    parent = os.path.dirname(folder)
    # A nearer file that asks for TensorFlow without a bound wants the newest.
    if (
        not pins
        and not any(_package(each.name) == "tensorflow" for each in stated)
        and parent != folder
        and not dependencies.exists(os.path.join(folder, ".git"))
    ):
        pins = dict(_pins(parent))
    return tuple(_for_python(pins, stated).items())


def _for_python(pins: dict[str, Pin], stated: Sequence[Stated]) -> dict[str, Pin]:
    """Pins with a TensorFlow that is there for the Python, and works with the NumPy, that requirements ask for, where there is one."""
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
            re.sub(r"\s+", "", each.specifier): each for each in reversed(stated) if _normalized(each.name) == package
        }
        found = newest(specifiers)
        if found is not None and (last is None or found < last):
            last, asked = found, next(each for specifier, each in specifiers.items() if newest([specifier]) == found)
    own = pins["tensorflow"].specifier if "tensorflow" in pins else ""
    # A Keras that is a package of its own says more of its TensorFlow: it is an older one.
    if not own and "keras" in pins and (newest_allowed(pins["keras"].specifier, KERAS_RELEASES) or (2, 4)) < (2, 4):
        return pins
    if last is None or asked is None or (newest_allowed(own, TENSORFLOW_RELEASES) or last) <= last:
        return pins
    bound = f"{own},<{last[0]}.{last[1] + 1}".lstrip(",")
    return {**pins, "tensorflow": Pin(bound, asked)} if newest_allowed(bound, TENSORFLOW_RELEASES) else pins


def _preferring_gpu(stated: Sequence[Stated]) -> list[Stated]:
    """Requirements without those of packages that a file named for the GPU bounds: a project that has such a file has others for machines without."""
    named = [each for each in stated if is_named_for_gpu(each.path)]
    bounded = _bounded(named)
    return [each for each in stated if each in named or _package(each.name) not in bounded]


def is_named_for_gpu(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a requirements file or a conda environment says that it is for machines with a GPU; images install others upon their own."""
    return kind_of(path) in ("pip", "conda") and _OF_GPU.search(os.path.basename(path)) is not None


@dependencies.remembered
def _wants_cpu(folder: str) -> bool:
    files: dict[str, list[Stated]] = {}
    for each in _stated(folder):
        if _package(each.name) == "tensorflow" or _normalized(each.name) == _CONDA_SELECT:
            files.setdefault(each.path, []).append(each)
    parent = os.path.dirname(folder)
    if files or parent == folder or dependencies.exists(os.path.join(folder, ".git")):
        # Where they contradict each other, it is not known.
        return bool(files) and all(map(_is_of_cpu, files.values()))
    return _wants_cpu(parent)


def _is_of_cpu(stated: list[Stated]) -> bool:
    """Whether what one file says of TensorFlow asks for a build without GPUs."""
    if any(_normalized(each.name) == _CONDA_SELECT and re.match(r"==2\.[23]\.", each.specifier) for each in stated):
        return True
    builds = {_normalized(each.name) for each in stated}
    # That for native Windows, which a freeze lists beside the package itself, knows no GPU since 2.11, its first release.
    return "tensorflow-intel" in builds or builds == {"tensorflow-cpu"}


@dependencies.remembered
def _lets_memory_grow(folder: str) -> bool:
    try:
        names = _names_in(folder)
    except OSError:
        names = []
    for name in names:
        if _DOCKER_NAME.fullmatch(name) or _ENVIRONMENT_NAME.fullmatch(name):
            try:
                said = read_bytes(Path(folder, name))
            except OSError:
                continue
            if _GROWTH.search(said):
                return True
    parent = os.path.dirname(folder)
    return parent != folder and ".git" not in names and _lets_memory_grow(parent)


@dependencies.remembered
def _stated(folder: str) -> tuple[Stated, ...]:
    """The requirements of a folder's own files, or where these do not name TensorFlow, of its folders that projects keep them in."""
    stated = list(_requirements(Path(folder)))
    if not any(_package(each.name) for each in stated):
        stated += (each for kept in _kept_in(folder) for each in _requirements(kept))
    # What a project's only part needs is what its notebooks beside it are for.
    if not any(_package(each.name) for each in stated) and dependencies.exists(os.path.join(folder, ".git")):
        parts = [list(_requirements(part)) for part in _folders_in(folder)]
        named = [part for part in parts if any(_package(each.name) for each in part)]
        stated += named[0] if len(named) == 1 else []
    return tuple(stated)


def _kept_in(folder: str) -> list[Path]:
    try:
        return [Path(folder, name) for name in _names_in(folder) if name.lower() in _FOLDERS]
    except OSError:
        return []


def _folders_in(folder: str) -> list[Path]:
    names = _subfolders(folder)
    dependencies.note(parts.__name__, folder, dependencies.digest_of(names))
    return [Path(folder, name) for name in names]


@dependencies.tracked
def parts(folder: str) -> str:
    """Which folders of a folder may be parts of a project."""
    return dependencies.digest_of(_subfolders(folder))


def _subfolders(folder: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not _ASIDE.fullmatch(entry.name))
    except OSError:
        return []


def _names_in(folder: str | os.PathLike[str]) -> list[str]:
    """The names in a folder that say something about requirements, sorted; raises OSError."""
    try:
        names = _told_names(folder)
    except OSError:
        dependencies.note(stating.__name__, str(folder), None)
        raise
    dependencies.note(stating.__name__, str(folder), dependencies.digest_of(names))
    return names


@dependencies.tracked
def stating(folder: str) -> str | None:
    """Which names of a folder say something about requirements; None where they cannot be listed."""
    try:
        return dependencies.digest_of(_told_names(folder))
    except OSError:
        return None


def _told_names(folder: str | os.PathLike[str]) -> list[str]:
    return sorted(name for name in os.listdir(folder) if _tells(os.path.join(folder, name), name))


def _tells(path: str, name: str) -> bool:
    return (
        kind_of(path) is not None
        or name in _READERS_BY_NAME
        or name.lower() in _FOLDERS
        or name == ".git"
        or _ENVIRONMENT_NAME.fullmatch(name) is not None
    )


def _requirements(folder: Path) -> Iterator[Stated]:
    """Every requirement that the files of ``folder`` state."""
    try:
        entries = _names_in(folder)
    except OSError:
        return
    for entry in entries:
        reader = _READERS.get(kind_of(folder / entry)) or _READERS_BY_NAME.get(entry)
        for name, specifier in reader(_text(folder / entry)) if reader else ():
            yield Stated(name, specifier, str(folder / entry))


def _from_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        yield from _from_conda(f"- {line}") if _EXPORTED.fullmatch(line.strip()) else _requirement(line)


def _from_docker(text: str) -> Iterator[tuple[str, str]]:
    yield from _installed(text)
    for image in _base_images(text):
        if tag := _LIBRARY_IMAGE.match(image):
            yield tag["package"] or "tensorflow", f"=={tag['version']}"
        elif tag := _NVIDIA_IMAGE.match(image):
            if (tag["version"] or ("1" if int(tag["year"]) < 20 else "2")) == "1":
                yield "tensorflow", "<2"
            elif int(tag["year"]) < 24:
                yield "tensorflow", "<2.16"
    yield from (("python", f"=={python}.*") for python in _pythons(text))


def _text(path: Path) -> str:
    try:
        data = read_bytes(path)
        # PowerShell's ">" writes UTF-16, which pip reads by its mark, too (pip/_internal/utils/encoding.py).
        return data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")
    except (OSError, ValueError):
        return ""


def _requirement(line: Any) -> Iterator[tuple[str, str]]:
    # A requirement with a marker holds on some machines only.
    if isinstance(line, str) and ";" not in line and (match := _REQUIREMENT.match(line)):
        yield match[1], match[2]


def _from_pyproject(text: str) -> Iterator[tuple[str, str]]:
    from kerascheck.project.config import parse_toml

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
            yield name, _from_poetry(version)


def _from_pipfile(text: str) -> Iterator[tuple[str, str]]:
    from kerascheck.project.config import parse_toml

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


def _of_python(versions: object) -> Iterator[tuple[str, str]]:
    if isinstance(versions, str) and versions.strip():
        yield "python", versions


def _needed_or_extra(needed: Iterable[object], extras: Iterable[object]) -> Iterator[tuple[str, str]]:
    """The requirements of lists of what a package needs; if TensorFlow is not among them, also those that an extra of it asks for.

    Extras are alternatives: what one of them leaves open is not bounded by another.
    """
    stated = [
        pair for lines in needed for line in (lines if isinstance(lines, list) else ()) for pair in _requirement(line)
    ]
    yield from stated
    if not any(_package(name) for name, _ in stated):
        either = [
            pair
            for lines in extras
            for line in (lines if isinstance(lines, list) else ())
            for pair in _requirement(line)
        ]
        free = {_package(name) for name, specifier in either if not _UPPER.search(specifier)}
        yield from (
            (name, specifier)
            for name, specifier in either
            if _package(name) not in free or not _UPPER.search(specifier)
        )


def _from_poetry(version: str) -> str:
    """A PEP 440 specifier for poetry's caret, tilde and bare versions."""
    from kerascheck.knowledge.runtime import LONG_NUMBER

    number = _VERSION.fullmatch(version.lstrip("^~ "))
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


def _from_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
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


def _from_setup_py(text: str) -> Iterator[tuple[str, str]]:
    # Read, never run: only lists that are written out count.
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
    """The texts in a list as far as it is written out: in pieces put together by ``+`` and ``*``, in names, in dictionaries.

    Args:
        held: what is assigned to each name anywhere.
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
            # What a name is made of may name it again.
            others = {name: values for name, values in held.items() if name != named.id}
            for value in held.get(named.id, ()):
                for part in [value] if key is None else _items(value, key):
                    yield from _written_out(part, others)


def _items(table: ast.expr, key: object) -> list[ast.expr]:
    """What a dictionary that is written out has under a key."""
    if not isinstance(table, ast.Dict):
        return []
    return [
        value for each, value in zip(table.keys, table.values) if isinstance(each, ast.Constant) and each.value == key
    ]


def _from_conda(text: str) -> Iterator[tuple[str, str]]:
    # The list items of the file are all that matters: YAML itself is not needed for them.
    for line in text.splitlines():
        item = re.match(r"\s*-\s+['\"]?([^'\"]*)", line)
        match = _CONDA.match(item[1]) if item else None
        if match:
            # conda writes one '=' for a version that may have more parts.
            fuzzy = re.match(r"\s*=\s*(\d+(?:\.\d+)*)(?:\.\*)?(?:=\S*)?\s*$", match[2])
            yield match[1], f"=={fuzzy[1]}.*" if fuzzy else match[2]
            if _package(match[1]) == "tensorflow" and _CONDA_OF_CPU.search(match[2]):
                yield _CONDA_SELECT, "==2.3.0.*"


_Reader = Callable[[str], Iterator[tuple[str, str]]]
"""Gives name and specifier of every requirement in a text."""
_READERS: dict[str | None, _Reader] = {
    "pip": _from_lines,
    "pyproject": _from_pyproject,
    "conda": _from_conda,
    "docker": _from_docker,
}
_READERS_BY_NAME: dict[str, _Reader] = {
    "Pipfile": _from_pipfile,
    "setup.cfg": _from_setup_cfg,
    "setup.py": _from_setup_py,
}


# --- the files themselves, for rules that read them ----------------------------------------------------


_REQUIREMENTS_NAME = re.compile(r"[\w.-]*requirements[\w.-]*\.(?:txt|in)", re.I)
_CONDA_NAME = re.compile(r"(?:env|[\w.-]*environment[\w.-]*|[\w.-]*conda[\w.-]*)\.ya?ml", re.I)
_ENVIRONMENT_NAME = re.compile(r"(?:docker-)?compose[\w.-]*\.ya?ml|\.env(?:rc|\.[\w.-]+)?", re.I)
_DOCKER_NAME = re.compile(r"(?:Dockerfile|Containerfile)(?:[._-][\w.-]+)?|[\w.-]+\.(?:docker|container)file", re.I)
_LINE = re.compile(r"(?m)^[^\r\n]*")
_COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t]))#[^\r\n]*")
_NAMED = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)[ \t]*(?:\[(?P<extras>[^\]\r\n]*)\])?[ \t]*(?P<specifier>[^;#\r\n\"']*)(?:;[ \t]*(?P<marker>[^#\r\n]*))?"
)
_TOML_PIECE = re.compile(
    r"#[^\r\n]*|\"[^\"\r\n]*\"|'[^'\r\n]*'|^[ \t]*\[(?P<table>[^\[\]\r\n]+)\][ \t]*(?=#|$)|^[ \t]*(?P<key>[\w-]+)[ \t]*=|[\[\]]",
    re.M,
)
_UNCOMMENTED = re.compile(r"(?:[^#\"']|\"[^\"]*\"|'[^']*')*")
_TOML_TABLES = ("project", "project.optional-dependencies", "dependency-groups")
# Images have a variable for the command with its options.
_INSTALL = re.compile(
    r"(?:\b(?:pip3?|uv|conda|mamba|micromamba)\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|add|create)\b|\$\{?\w*(?:PIP|CONDA)_?INSTALL\w*\}?)(?P<words>(?:[^\r\n;&|#\\]|\\r?\n|\.)*)"
)
_WORD = re.compile(r"[^\s\"'\\]+")
# Of TensorFlow itself, and those that others name by its packages, or by Keras, and their versions.
_LIBRARY_IMAGE = re.compile(
    r"/?(?:[\w.-]+/)*(?:tensorflow(?:-gpu|-cpu)?|(?P<package>keras)):(?P<version>[123]\.\d+(?:\.\d+)?)(?:$|-)"
)
# Until 2019 they hold TensorFlow 1, later those that say so (release notes of the images). They are named by year and month,
# and TensorFlow 2.16 is of March 2024.
_NVIDIA_IMAGE = re.compile(r"nvcr\.io/nvidia/tensorflow:(?P<year>\d\d)\.\d\d(?:-tf(?P<version>\d))?")
_PYTHON_IMAGE = re.compile(r"(?:docker\.io/)?(?:library/)?python:(?P<version>\d+\.\d+)(?![\d])")
_FROM = re.compile(r"(?mi)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)")
_ARGUMENT = re.compile(r"(?mi)^[ \t]*ARG[ \t]+(?P<name>\w+)=[\"']?(?P<default>[^\s\"']*)")
_USED = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")


def _base_images(text: str) -> Iterator[str]:
    """The base images of a Dockerfile, with the defaults of its arguments filled in."""
    defaults = {match["name"]: match["default"] for match in _ARGUMENT.finditer(text)}
    for image in _FROM.finditer(text):
        yield _USED.sub(
            lambda used: defaults.get(used["bare"] or used["name"]) or used["default"] or used[0], image["image"]
        )


def _pythons(text: str) -> Iterator[str]:
    """The versions of Python whose own images a Dockerfile starts from."""
    for image in _base_images(text):
        if match := _PYTHON_IMAGE.match(image):
            yield match["version"]


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The kind "pip", "pyproject", "conda" or "docker" for a file that says what is to be installed, by its name; else None."""
    name = os.path.basename(path)
    if name == "pyproject.toml":
        return "pyproject"
    if _REQUIREMENTS_NAME.fullmatch(name) or (
        name.endswith(".txt") and os.path.basename(os.path.dirname(path)) == "requirements"
    ):
        return "pip"
    if _CONDA_NAME.fullmatch(name):
        return "conda"
    return "docker" if _DOCKER_NAME.fullmatch(name) else None


def is_about_tensorflow(data: bytes) -> bool:
    """Whether the content of such a file mentions TensorFlow: all others are none of kerascheck's business."""
    return b"tensorflow" in data.lower()


@dataclass(frozen=True)
class Requirement:
    """A package that a file asks for: ``module`` and ``node`` make it a place of a finding.

    Attributes:
        module: the file.
        name: normalized, as ``tensorflow-cpu``.
        extras: what stands in brackets, as ``{"and-cuda"}``.
        specifier: of the version, as written.
        marker: the environment marker behind ``;``, or "".
        by: "pip", "conda" or "poetry".
        group: the optional group of pyproject.toml that it belongs to, or "".
        start, end: where it is written, version included.
        name_end: the end of its name and extras.

    Example:
        >>> [(each.name, each.specifier) for each in file("tensorflow-gpu==2.4").requirements]
        [('tensorflow-gpu', '==2.4')]
    """

    module: RequirementsFile
    name: str
    extras: frozenset[str]
    specifier: str
    marker: str
    by: str
    group: str
    start: int
    end: int
    name_end: int

    @property
    def node(self) -> Requirement:
        return self

    def newest(self, releases: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
        """The newest of some releases that its specifier allows; None where it allows none or cannot be read."""
        from kerascheck.knowledge.runtime import newest_allowed

        specifier = re.sub(r"\s+", "", self.specifier)
        return newest_allowed(specifier, releases) if specifier else releases[-1]


class RequirementsFile:
    """A file that says what is to be installed: a requirements file, pyproject.toml, a conda environment or a Dockerfile.

    Attributes:
        source: its text.
        kind: see :func:`kind_of`.
        requirements: what it asks for, in the order of the text.
        images: base images of a Dockerfile.
        comments: the text of its comments.
        code: its text without them.

    Example:
        >>> [each.name for each in file("tensorflow[and-cuda]").requirements]
        ['tensorflow']
    """

    def __init__(self, source: Source):
        self.source, self.kind = source, kind_of(source.path)
        text = source.text
        self.images = [match["image"] for match in _FROM.finditer(text)] if self.kind == "docker" else []
        self.comments = "\n".join(_COMMENT.findall(text))
        self.code = _COMMENT.sub("", text)
        read = {"pip": self._pip, "pyproject": self._pyproject, "conda": self._conda, "docker": _installs}[
            self.kind or "pip"
        ]
        self.requirements = [
            each for start, end, by, group in read(text) if (each := self._at(start, end, by, group)) is not None
        ]

    @property
    def newest_for_image(self) -> tuple[int, int] | None:
        """The newest TensorFlow for the Python that a Dockerfile starts from; None where that is not known, or is the newest of all."""
        from kerascheck.knowledge.runtime import newest_for_python

        return (
            newest_for_python(f"=={python}.*" for python in _pythons(self.source.text))
            if self.kind == "docker"
            else None
        )

    def beside(self) -> Iterator[RequirementsFile]:
        """The other files of this sort in the same folder, as far as they can be read."""
        folder, own = os.path.split(os.path.abspath(self.source.path))
        try:
            names = _names_in(folder) if dependencies.is_folder(folder) else []
        except OSError:
            return
        for name in names:
            path = os.path.join(folder, name)
            if name != own and kind_of(path) is not None:
                try:
                    yield RequirementsFile(read(path))
                except Unreadable:
                    continue

    def range_of(self, node: Requirement) -> tuple[int, int]:
        """Where a finding about a requirement stands."""
        return node.start, node.end

    def statement_range(self, node: Requirement) -> tuple[int, int]:
        """The same: a requirement is no part of a larger statement."""
        return node.start, node.end

    def _at(self, start: int, end: int, by: str, group: str) -> Requirement | None:
        match = _NAMED.match(self.source.text, start, end)
        if match is None:
            return None
        if by == "poetry":
            value = self.source.line_text(end)[end - self.source.line_starts[self.source.line_of(end) - 1] :]
            uncommented = _UNCOMMENTED.match(value)
            value = uncommented[0] if uncommented else ""
            given = (
                dict(re.findall(r"(\w+)\s*=\s*[\[\"']+([^\"'\]]*)", value))
                if "{" in value
                else {"version": value.strip("= \t\"'").partition('"')[0]}
            )
            extras = frozenset(filter(None, [given.get("extras", "").lower()]))
            marker = given.get("markers", "") or given.get("platform", "")
            version = given.get("version", "?")
            specifier = "" if version == "*" else _from_poetry(version)
            return Requirement(
                self,
                re.sub(r"[-_.]+", "-", match["name"]).lower(),
                extras,
                specifier,
                marker,
                by,
                group,
                start,
                end,
                end,
            )
        extras = frozenset(part.strip().lower() for part in (match["extras"] or "").split(",") if part.strip())
        name_end = match.end("extras") + 1 if match["extras"] is not None else match.end("name")
        specifier = match["specifier"].strip()
        last = match.start("specifier") + len(match["specifier"].rstrip()) if specifier else name_end
        name = re.sub(r"[-_.]+", "-", match["name"]).lower()
        return Requirement(
            self, name, extras, specifier, (match["marker"] or "").strip(), by, group, start, last, name_end
        )

    @staticmethod
    def _pip(text: str) -> Iterator[tuple[int, int, str, str]]:
        for line in _LINE.finditer(text):
            start = line.start() + len(line[0]) - len(line[0].lstrip())
            if line[0].strip() and line[0].lstrip()[0].isalnum() and "://" not in line[0] and " @ " not in line[0]:
                yield start, line.end(), "pip", ""

    @staticmethod
    def _conda(text: str) -> Iterator[tuple[int, int, str, str]]:
        pip_indent = None
        for line in _LINE.finditer(text):
            item = re.match(r"([ \t]*)-[ \t]+['\"]?(?:[\w-]+::)?", line[0])
            if item is None:
                continue
            indent = len(item[1])
            if pip_indent is not None and indent <= pip_indent:
                pip_indent = None
            rest = line[0][item.end() :]
            if re.match(r"pip[ \t]*:", rest):
                pip_indent = indent
            elif rest[:1].isalnum():
                yield line.start() + item.end(), line.end(), "conda" if pip_indent is None else "pip", ""

    @staticmethod
    def _pyproject(text: str) -> Iterator[tuple[int, int, str, str]]:
        table, key, depth = "", "", 0
        for piece in _TOML_PIECE.finditer(text):
            if piece["table"] is not None and not depth:
                table = piece["table"].strip()
            elif piece["key"] is not None and not depth:
                key = piece["key"]
                if poetry := re.fullmatch(r"tool\.poetry\.(?:group\.([\w-]+)\.)?(dev-)?dependencies", table):
                    yield piece.start("key"), piece.end("key"), "poetry", poetry[1] or poetry[2] or ""
            elif piece[0] == "[":
                depth += 1
            elif piece[0] == "]":
                depth = max(depth - 1, 0)
            elif (
                piece[0][0] in "\"'"
                and depth
                and table in _TOML_TABLES
                and (table != "project" or key == "dependencies")
            ):
                yield piece.start() + 1, piece.end() - 1, "pip", "" if table == "project" else key


def _installs(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Where commands of a Dockerfile or a shell name what they install: start, end, "pip" or "conda", and no group."""
    commented = [match.span() for match in re.finditer(r"(?m)^[ \t]*#[^\r\n]*", text)]
    for install in _INSTALL.finditer(text):
        by = "conda" if re.match(r"[$\w{]*(?:conda|mamba)", install[0], re.I) else "pip"
        for word in _WORD.finditer(text, install.start("words"), install.end("words")):
            if word[0][0].isalpha() and not any(start <= word.start() < end for start, end in commented):
                yield word.start(), word.end(), by, ""
