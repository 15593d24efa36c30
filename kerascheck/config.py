"""Settings: the defaults, ``[tool.kerascheck]`` of the nearest pyproject.toml, and the command line."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kerascheck.finding import Severity
from kerascheck.source import disk

DEFAULT_EXCLUDE = (
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "*.egg-info",
    "node_modules", "site-packages", "venv", "virtualenv",
)  # fmt: skip
"""Folders left out of discovery, beside hidden ones and virtual environments of any name."""

DOCS_URL = ""
"""The site with the pages of the rules, where no setting names one; empty as long as none is published."""
DOCS_URL_VARIABLE = "KERASCHECK_DOCS_URL"
"""The environment variable that names it instead of a configuration file."""

BACKENDS = ("tensorflow", "jax", "torch", "numpy", "openvino")


class ConfigError(Exception):
    """A setting that cannot be used; the message names its file, the setting and what to write."""


@dataclass(frozen=True)
class Selection:
    """What one level of configuration says about which rules run: codes, prefixes, names or ALL."""

    select: tuple[str, ...] | None = None
    """Replaces what earlier levels selected; None keeps it."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pattern:
    """A path pattern with the syntax of .gitignore, and the folder that it is relative to."""

    folder: str
    glob: str


@dataclass(frozen=True)
class Machine:
    """The machine that the code is to run on, where the user asked to look at it.

    Attributes:
        gpu: the name of its GPU, the poorest where there are several; None without one.
        half_types: 16-bit types that the GPU multiplies faster than float32, the one to prefer first.
    """

    gpu: str | None
    half_types: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """Everything that decides how one file is linted. Immutable, hashable and picklable."""

    origin: str | None = None
    """The configuration file; None where the defaults apply."""
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    exclude: tuple[Pattern, ...] = tuple(Pattern("", glob) for glob in DEFAULT_EXCLUDE)
    extend_exclude: tuple[Pattern, ...] = ()
    min_severity: Severity = Severity.INFO
    """Findings below are not reported."""
    fail_on: Severity = Severity.WARNING
    """Findings from here up make the exit code 1."""
    pedantic: bool = False
    """Whether findings that are known to cost nothing are reported."""
    target_tensorflow: str | None = None
    """``major.minor`` that the code runs on; None: what the project pins, or the newest known."""
    keras: str | None = None
    """Major version, "2" or "3"; None: inferred."""
    backend: str | None = None
    """One of :data:`BACKENDS`; None: inferred."""
    include_tests: bool = False
    """Whether discovery takes test files too."""
    respect_gitignore: bool = True
    docs_url: str = DOCS_URL
    """The address of the site with the pages of the rules; empty: findings have no addresses."""
    machine: Machine | None = None
    """None: any machine."""
    stated_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The files and options that state each setting, by its key in the configuration; a key that is not there has its default."""


@dataclass(frozen=True)
class Overrides:
    """What the command line says; None and empty leave the configuration as it is."""

    selection: Selection = field(default_factory=Selection)
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields of :class:`Settings` that replace the configured ones."""
    extend_exclude: tuple[Pattern, ...] = ()
    stated_in: Mapping[str, str] = field(default_factory=dict)
    """See :attr:`Settings.stated_in`."""


def overrides_from(options: Mapping[str, Any], prefix: str = "--") -> Overrides:
    """The overrides that options of a program state, and the environment; what is missing, None or empty states nothing.

    Args:
        options: names as in :class:`Settings` and :class:`Selection` to words, lists of words and flags.
        prefix: what stands before an option's name where the user writes it.

    Raises:
        ConfigError: an option cannot be used.
    """

    def words(name: str) -> tuple[str, ...]:
        return tuple(word for text in options.get(name) or () for word in text.replace(",", " ").split())

    here, values = os.getcwd(), {}
    for name in (
        "min_severity",
        "fail_on",
        "pedantic",
        "target_tensorflow",
        "include_tests",
        "exclude",
        "extend_exclude",
        "docs_url",
    ):
        if options.get(name):
            key, value = name.replace("_", "-"), options[name]
            try:
                values[name] = _KEYS[key](list(value) if isinstance(value, tuple) else value, here)
            except ConfigError as problem:
                raise ConfigError(f"{prefix}{key} {problem}") from None
    selection = Selection(words("select") or None, words("extend_select"), words("ignore") + words("extend_ignore"))
    stated_in = {key: f"{prefix}{key}" for key in _KEYS if options.get(key.replace("-", "_"))}
    if "docs_url" not in values and (site := os.environ.get(DOCS_URL_VARIABLE)):
        try:
            values["docs_url"], stated_in["docs-url"] = _address(site, here), DOCS_URL_VARIABLE
        except ConfigError as problem:
            raise ConfigError(f"{DOCS_URL_VARIABLE} {problem}") from None
    return Overrides(selection, values, values.pop("extend_exclude", ()), stated_in)


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document; raises ValueError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    document: dict[str, Any] = tomllib.loads(text)
    return document


def did_you_mean(word: str, known: Any) -> str:
    """``; did you mean '...'?`` for the nearest of ``known``, or nothing."""
    nearest = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


# Parsers of settings: the value as TOML gives it, and the folder that its paths are relative to.


def _strings(value: Any, folder: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError("must be a list of strings")
    return tuple(value)


def _patterns(value: Any, folder: str) -> tuple[Pattern, ...]:
    return tuple(_pattern(glob, folder) for glob in _strings(value, folder))


# Outside of sets such as [a-z] no bracket stands by itself: older versions of pathspec take it for a letter, git and newer ones for nothing.
_CLOSED = re.compile(r"(?:\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|[^\[\\])+", re.S)


def _pattern(glob: str, folder: str) -> Pattern:
    # Imported here because it takes as long as everything else of a run without Keras; who has patterns needs it anyway.
    import pathspec

    try:
        read = list(pathspec.GitIgnoreSpec.from_lines([glob] * bool(_CLOSED.fullmatch(glob))).patterns)
    except ValueError:
        read = []
    if not any(pattern.include for pattern in read):
        raise ConfigError(f"has the pattern '{glob}', which matches nothing; write it as in .gitignore")
    return Pattern(folder, glob)


def _per_file(value: Any, folder: str) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ConfigError("must be a table of path patterns to lists of rules")
    return tuple((_pattern(glob, folder), _strings(rules, folder)) for glob, rules in value.items())


def _flag(value: Any, folder: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError("must be true or false")
    return value


def _choice(*words: str) -> Callable[[Any, str], str]:
    def parse(value: Any, folder: str) -> str:
        if not isinstance(value, str) or value not in words:
            listed = ", ".join(f'"{word}"' for word in words)
            raise ConfigError(f"must be one of {listed}" + did_you_mean(str(value), words))
        return value

    return parse


def _severity(value: Any, folder: str) -> Severity:
    return Severity[_choice("info", "warning", "error")(value, folder).upper()]


def _tensorflow_version(value: Any, folder: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\d+\.\d+(\.\d+)?", value):
        raise ConfigError('must be a version as a string, such as "2.21"')
    return value


def _address(value: Any, folder: str) -> str:
    # It reaches terminals and other programs' pages: nothing in it may steer them.
    if not isinstance(value, str) or not re.fullmatch(r"(https?://[!-~]+)?", value) or set(value) & set('"<>\\^`{|}'):
        raise ConfigError('must be an address such as "https://example.org/kerascheck/", or empty')
    return value


_KEYS: dict[str, Callable[[Any, str], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "extend-ignore": _strings,
    "per-file-ignores": _per_file,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "min-severity": _severity,
    "fail-on": _severity,
    "pedantic": _flag,
    "target-tensorflow": _tensorflow_version,
    "keras": _choice("2", "3"),
    "backend": _choice(*BACKENDS),
    "include-tests": _flag,
    "respect-gitignore": _flag,
    "docs-url": _address,
}
_SELECTION_KEYS = ("select", "extend-select", "ignore", "extend-ignore")
_ADDING_KEYS = ("extend-select", "ignore", "extend-ignore", "extend-exclude")
"""Keys whose values on the command line add to those of the configuration."""


def from_table(table: Any, origin: str, default: Settings | None = None) -> Settings:
    """The settings that a ``[tool.kerascheck]`` table states, and for others the default; raises :class:`ConfigError`."""
    where = f"{origin}: [tool.kerascheck]"
    if not isinstance(table, dict):
        raise ConfigError(f"{where} must be a table")
    folder, values = os.path.dirname(os.path.abspath(origin)), {}
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigError(f"{where} has no setting '{key}'{did_you_mean(key, _KEYS)}")
        try:
            values[key] = _KEYS[key](value, folder)
        except ConfigError as problem:
            raise ConfigError(f"{where} '{key}' {problem}") from None
    selection = Selection(
        values.get("select"),
        values.get("extend-select", ()),
        values.get("ignore", ()) + values.get("extend-ignore", ()),
    )
    others = {key.replace("-", "_"): value for key, value in values.items() if key not in _SELECTION_KEYS}
    return replace(
        default or Settings(),
        origin=origin,
        selections=(selection,),
        stated_in=dict.fromkeys(values, (origin,)),
        **others,
    )


class Configuration:
    """Finds the settings of every file: those of the nearest pyproject.toml that has the table.

    Args:
        overrides: what the command line says.
        isolated: whether configuration files are left unread.
        default: what applies where neither says something.
    """

    def __init__(self, overrides: Overrides | None = None, *, isolated: bool = False, default: Settings | None = None):
        self._overrides = overrides or Overrides()
        self._isolated = isolated
        self._base = default or Settings()
        self._default = self._override(self._base)
        self._by_folder: dict[str, Settings] = {}

    def for_file(self, path: str | os.PathLike[str]) -> Settings:
        """The settings of the file at ``path``; raises :class:`ConfigError`."""
        return self.for_folder(os.path.dirname(os.path.abspath(path)))

    def for_folder(self, folder: str) -> Settings:
        """The settings of files directly in the absolute path ``folder``; raises :class:`ConfigError`."""
        if self._isolated:
            return self._default
        with disk.asking(("settings", folder)):
            return self._for_folder(folder)

    def _for_folder(self, folder: str) -> Settings:
        known = self._by_folder.get(folder)
        if known is None:
            parent = os.path.dirname(folder)
            known = self._read(os.path.join(folder, "pyproject.toml"))
            if known is None:
                known = self._default if parent == folder else self.for_folder(parent)
            self._by_folder[folder] = known
        return known

    def _read(self, path: str) -> Settings | None:
        from kerascheck.source.reading import display_path, read_bytes

        try:
            data = read_bytes(path)
        except OSError:
            return None
        # Other tools' files are neither parsed nor judged.
        if b"kerascheck" not in data:
            return None
        shown = display_path(path)
        try:
            tool = parse_toml(data.decode("utf-8")).get("tool")
        except ValueError as problem:
            raise ConfigError(f"{shown}: {problem}") from None
        table = tool.get("kerascheck") if isinstance(tool, dict) else None
        return None if table is None else self._override(from_table(table, shown, self._base))

    def _override(self, settings: Settings) -> Settings:
        overrides = self._overrides
        return replace(
            settings,
            selections=(*settings.selections, overrides.selection),
            extend_exclude=settings.extend_exclude + overrides.extend_exclude,
            stated_in=self._stated_in(settings.stated_in),
            **overrides.values,
        )

    def _stated_in(self, configured: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        overrides = self._overrides
        replaced = set() if overrides.selection.select is None else set(_SELECTION_KEYS)
        stated = {key: places for key, places in configured.items() if key not in replaced}
        for key, option in overrides.stated_in.items():
            stated[key] = (*(stated.get(key, ()) if key in _ADDING_KEYS else ()), option)
        return stated
