"""A requirements file with the locations of its requirements, for rules that report and edit them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.project.requirements.commands import FROM_IMAGE, installs, pythons
from kerascheck.project.requirements.folders import names_in
from kerascheck.project.requirements.kinds import kind_of
from kerascheck.project.requirements.readers import poetry_specifier
from kerascheck.source import dependencies
from kerascheck.source.reading import read
from kerascheck.source.text import Source, Unreadable

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


@dataclass(frozen=True)
class Requirement:
    """A required package; ``module`` and ``node`` let a finding refer to it.

    Attributes:
        module: the file.
        name: normalized, such as ``tensorflow-cpu``.
        extras: the extras in brackets, such as ``{"and-cuda"}``.
        specifier: the version specifier, as written.
        marker: the environment marker after ``;``, or "".
        by: "pip", "conda" or "poetry".
        group: its optional group in pyproject.toml, or "".
        start, end: its range in the text, version included.
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
        """The newest release that its specifier allows; None if there is none or the specifier is invalid."""
        from kerascheck.knowledge.runtime import newest_allowed

        specifier = re.sub(r"\s+", "", self.specifier)
        return newest_allowed(specifier, releases) if specifier else releases[-1]


class RequirementsFile:
    """A requirements file, pyproject.toml, conda environment or Dockerfile.

    Attributes:
        source: its text.
        kind: see :func:`kind_of`.
        requirements: its requirements, in the order of the text.
        images: base images of a Dockerfile.
        code: its text without them.

    Example:
        >>> [each.name for each in file("tensorflow[and-cuda]").requirements]
        ['tensorflow']
    """

    def __init__(self, source: Source):
        self.source, self.kind = source, kind_of(source.path)
        text = source.text
        self.images = [match["image"] for match in FROM_IMAGE.finditer(text)] if self.kind == "docker" else []
        self.code = _COMMENT.sub("", text)
        read = {"pip": self._pip, "pyproject": self._pyproject, "conda": self._conda, "docker": installs}[
            self.kind or "pip"
        ]
        self.requirements = [
            each for start, end, by, group in read(text) if (each := self._at(start, end, by, group)) is not None
        ]

    @property
    def newest_for_image(self) -> tuple[int, int] | None:
        """The newest TensorFlow for the Python of a Dockerfile's base image; None if unknown or unbounded."""
        from kerascheck.knowledge.runtime import newest_for_python

        return (
            newest_for_python(f"=={python}.*" for python in pythons(self.source.text))
            if self.kind == "docker"
            else None
        )

    def beside(self) -> Iterator[RequirementsFile]:
        """The other readable requirements files in the same folder."""
        folder, own = os.path.split(os.path.abspath(self.source.path))
        try:
            names = names_in(folder) if dependencies.is_folder(folder) else []
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
        """The range of a finding about a requirement."""
        return node.start, node.end

    def statement_range(self, node: Requirement) -> tuple[int, int]:
        """The same range: a requirement is not part of a larger statement."""
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
            specifier = "" if version == "*" else poetry_specifier(version)
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
