"""Stated requirements, and the version bounds of relevant packages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kerascheck.source.reading import read_bytes

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
UPPER_BOUND = re.compile(r"(?:===?|~=|<=?)\s*\d")
VERSION = re.compile(r"\d+(?:\.\d+)*")
# conda selects the build of TensorFlow by this package: 2.1.0 has GPUs, 2.2.0 (Eigen) and 2.3.0 (MKL) have none.
CONDA_SELECT = "-tflow-select"


class Stated(NamedTuple):
    """A requirement as a file or script states it."""

    name: str
    specifier: str
    path: str = ""
    """The file that states it; empty for the linted file itself."""

    @property
    def line(self) -> int | None:
        """The 1-based line most similar to the requirement, since readers keep no lines; None without the name."""
        version = VERSION.search(self.specifier)
        name = re.compile(rf"(?<![\w.-]){re.escape(self.name)}(?![\w.-])")
        number = re.compile(rf"(?<![\d.]){re.escape(version[0])}(?!\d)" if version else "(?!)")

        def likeness(line: str) -> tuple[bool, ...]:
            named = self.name in line and not line.lstrip().startswith("#")
            return named, named and bool(name.search(line)), named and bool(number.search(line))

        alike = list(map(likeness, text_of(Path(self.path)).splitlines())) if self.path else []
        best = max(alike, default=(False,))
        return alike.index(best) + 1 if best[0] else None


@dataclass(frozen=True, slots=True)
class Pin:
    """An exact or upper bound of a package's version.

    Attributes:
        specifier: such as ``==2.15.0``, ``>=2.8,<2.11`` or ``~=3.0``.
        stated: the requirement; TensorFlow may be bounded by a Python or NumPy that newer releases do not support.
    """

    specifier: str
    stated: Stated


def text_of(path: Path) -> str:
    """The text of a file; empty if it is unreadable."""
    try:
        data = read_bytes(path)
        # PowerShell's ">" writes UTF-16; pip too reads it by its byte-order mark (pip/_internal/utils/encoding.py).
        return data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")
    except (OSError, ValueError):
        return ""


def package_of(name: str) -> str | None:
    """The package that a distribution name provides, if relevant: "tensorflow", "keras" or "tf-keras"."""
    return _PACKAGES.get(normalized(name))


def normalized(name: str) -> str:
    """The name of a package, normalized as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def bounded(requirements: Iterable[Stated]) -> dict[str, list[Pin]]:
    """All version bounds of relevant packages, by package."""
    found: dict[str, list[Pin]] = {}
    for stated in requirements:
        package = package_of(stated.name)
        specifier = re.sub(r"\s+", "", stated.specifier).strip(",")
        if package and UPPER_BOUND.search(specifier):
            found.setdefault(package, []).append(Pin(specifier, stated))
    return found


def pinned(requirements: Iterable[Stated]) -> dict[str, Pin]:
    """The effective bound of each relevant package."""
    return {package: _newest(package, pins) for package, pins in bounded(requirements).items()}


def _newest(package: str, pins: list[Pin]) -> Pin:
    from kerascheck.knowledge.runtime import KERAS_RELEASES, TENSORFLOW_RELEASES, newest_allowed

    releases = TENSORFLOW_RELEASES if package == "tensorflow" else KERAS_RELEASES
    return max(
        sorted(pins, key=lambda pin: pin.specifier), key=lambda pin: newest_allowed(pin.specifier, releases) or (0, 0)
    )
