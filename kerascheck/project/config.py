"""Settings: the defaults, the nearest configuration file, and the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import kerascheck
from kerascheck.finding import Severity
from kerascheck.project.toml import excerpt, parse_toml
from kerascheck.source import dependencies
from kerascheck.source.escape import escaped
from kerascheck.source.patterns import BadPattern, spec

DEFAULT_EXCLUDE = (
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "*.egg-info",
    "node_modules", "site-packages", "venv", "virtualenv",
)  # fmt: skip
"""Folders excluded from discovery, besides hidden folders and virtual environments of any name."""

DOCS_URL = f"{kerascheck.SITE}/{kerascheck.__version__.rpartition('.')[0]}/" if kerascheck.SITE else ""
"""The default site with the rule pages, those of this version; empty until one is published."""
DOCS_URL_VARIABLE = "KERASCHECK_DOCS_URL"
"""The environment variable that overrides the site in configuration files."""

OWN_FILES = (".kerascheck.toml", "kerascheck.toml")
"""Files with the settings at top level; a pyproject.toml has them under ``[tool.kerascheck]``."""
_SHARED_FILE = "pyproject.toml"
CONFIG_OPTION = "--config"
"""The option that names a configuration file, or states settings."""

BACKENDS = ("tensorflow", "jax", "torch", "numpy", "openvino")


class ConfigError(Exception):
    """An invalid setting; the message names the file, the setting and a valid value.

    Attributes:
        origin: the configuration file; None if the setting comes from elsewhere.
        excerpt: the line of the file and a caret below the column; empty if they are unknown.
    """

    origin: str | None = None
    excerpt: str = ""

    def __str__(self) -> str:
        return escaped(super().__str__())

    @property
    def reason(self) -> str:
        """The message without the file."""
        return str(self).removeprefix(f"{escaped(self.origin or '')}:").strip()


@dataclass(frozen=True)
class Selection:
    """The rules that one level of configuration selects or ignores: codes, prefixes, names or ALL."""

    select: tuple[str, ...] | None = None
    """Replaces the selection of earlier levels; None keeps it."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pattern:
    """A path pattern in .gitignore syntax, and its base folder."""

    folder: str
    glob: str


@dataclass(frozen=True)
class HardwareProfile:
    """The machine that the code runs on, if the user asked to inspect it.

    Attributes:
        gpu: the name of its GPU, the weakest one if there are several; None without a GPU.
        half_types: 16-bit types that the GPU multiplies faster than float32, the preferred one first.
    """

    gpu: str | None
    half_types: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """All settings for linting one file. Immutable, hashable and picklable."""

    origin: str | None = None
    """The configuration file; None if the defaults apply."""
    extend: str | None = None
    """The configuration file whose settings hold unless ``origin`` states them."""
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    """Rules whose unsafe fixes are applied like safe ones."""
    extend_unsafe_fixes: tuple[str, ...] = ()
    """Rules whose safe fixes are applied like unsafe ones; stronger than :attr:`extend_safe_fixes`."""
    exclude: tuple[Pattern, ...] = tuple(Pattern("", glob) for glob in DEFAULT_EXCLUDE)
    extend_exclude: tuple[Pattern, ...] = ()
    min_severity: Severity = Severity.INFO
    """Findings of lower severity are not reported."""
    fail_on: Severity = Severity.WARNING
    """Findings of at least this severity make the exit code 1."""
    pedantic: bool = False
    """Whether to report findings that are known to cost nothing."""
    target_tensorflow: str | None = None
    """The TensorFlow release (``major.minor``) that the code runs on; None: the project's pin, or the newest known."""
    keras: str | None = None
    """Major version, "2" or "3"; None: inferred."""
    backend: str | None = None
    """One of :data:`BACKENDS`; None: inferred."""
    include_tests: bool = False
    """Whether discovery includes test files."""
    respect_gitignore: bool = True
    baseline: str | None = None
    """The baseline file, whose findings are not reported."""
    docs_url: str = DOCS_URL
    """The address of the site with the rule pages; empty: findings have no addresses."""
    machine: HardwareProfile | None = None
    """None: any machine."""
    obeys_comments: bool = True
    """Whether comments suppress findings."""
    stated_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The files and options that state each setting, by configuration key; missing keys have their defaults."""


@dataclass(frozen=True)
class Overrides:
    """The settings from the command line; None and empty values keep the configuration."""

    selection: Selection = field(default_factory=Selection)
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields of :class:`Settings` that replace the configured ones."""
    extend_exclude: tuple[Pattern, ...] = ()
    stated_in: Mapping[str, str] = field(default_factory=dict)
    """See :attr:`Settings.stated_in`."""
    tables: tuple[Mapping[str, Any], ...] = ()
    """Tables of ``--config 'key = value'``: each takes precedence over the configuration files and earlier ones."""


def overrides_from(options: Mapping[str, Any], prefix: str = "--") -> Overrides:
    """The overrides from a program's options and the environment; missing, None and empty options override nothing.

    Args:
        options: words, lists of words and flags by the names in :class:`Settings` and :class:`Selection`.
        prefix: the prefix of an option's name in the user's notation.

    Raises:
        ConfigError: an option is invalid.
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
        "per_file_ignores",
    ):
        if options.get(name):
            key, value = name.replace("_", "-"), options[name]
            try:
                values[name] = SETTINGS[key].parse(list(value) if isinstance(value, tuple) else value, here)
            except ConfigError as problem:
                raise ConfigError(f"{prefix}{key} {problem}") from None
    selection = Selection(words("select") or None, words("extend_select"), words("ignore") + words("extend_ignore"))
    # A baseline only filters reports; it does not influence findings.
    stated_in = {key: f"{prefix}{key}" for key in SETTINGS if key != "baseline" and options.get(key.replace("-", "_"))}
    if "docs_url" not in values and (site := os.environ.get(DOCS_URL_VARIABLE)):
        try:
            values["docs_url"], stated_in["docs-url"] = _address(site, here), DOCS_URL_VARIABLE
        except ConfigError as problem:
            raise ConfigError(f"{DOCS_URL_VARIABLE} {problem}") from None
    return Overrides(selection, values, values.pop("extend_exclude", ()), stated_in)


def table_of_option(text: str) -> dict[str, Any]:
    """The settings that ``--config 'key = value'`` states, as a TOML table; raises :class:`ConfigError`."""
    try:
        table = parse_toml(text)
    except ValueError as problem:
        refused = ConfigError(f"{CONFIG_OPTION}: {problem}")
        refused.excerpt = excerpt(str(problem), text)
        raise refused from None
    if "extend" in table:
        raise ConfigError(f"{CONFIG_OPTION}: 'extend' belongs in a configuration file; name the file by --config FILE")
    from_table(table, CONFIG_OPTION)
    return table


def did_you_mean(word: str, known: Any) -> str:
    """``; did you mean '...'?`` for the nearest of ``known``, or nothing."""
    import difflib

    # A code with the letter O for a zero is not the nearest one.
    zeros = word.upper().replace("O", "0")
    nearest = [zeros] if zeros in known else difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


# Parsers of settings take the value from TOML and the base folder of its paths.


def _strings(value: Any, folder: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError("must be a list of strings")
    return tuple(value)


def _patterns(value: Any, folder: str) -> tuple[Pattern, ...]:
    return tuple(_pattern(glob, folder) for glob in _strings(value, folder))


# Every bracket must belong to a set such as [a-z]. A lone bracket is literal in older versions of pathspec; in git and
# newer versions, the pattern matches nothing.
_CLOSED = re.compile(r"(?:\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|[^\[\\])+", re.S)


def _pattern(glob: str, folder: str) -> Pattern:
    try:
        read = spec(glob).patterns if _CLOSED.fullmatch(glob) else ()
    except BadPattern as problem:
        raise ConfigError(f"has the pattern {problem}; write it as in .gitignore") from None
    if not any(pattern.include for pattern in read):
        raise ConfigError(f"has the pattern '{glob}', which matches nothing; write it as in .gitignore")
    return Pattern(folder, glob)


def _per_file(value: Any, folder: str) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ConfigError("must be a table of path patterns to lists of rules")
    read = []
    for glob, rules in value.items():
        pattern = _pattern(glob, folder)
        try:
            read.append((pattern, _strings(rules, folder)))
        except ConfigError:
            raise ConfigError(f"must have a list of strings for '{glob}'") from None
    return tuple(read)


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
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,4}\.\d{1,4}(\.\d{1,9})?", value):
        raise ConfigError('must be a version as a string, such as "2.21"')
    return value


def _address(value: Any, folder: str) -> str:
    # The address reaches terminals and other programs' pages, so control characters and markup are rejected.
    if not isinstance(value, str) or not re.fullmatch(r"(https?://[!-~]+)?", value) or set(value) & set('"<>\\^`{|}'):
        raise ConfigError('must be an address such as "https://example.org/kerascheck/", or empty')
    return value


def _file(example: str) -> Callable[[Any, str], str]:
    def parse(value: Any, folder: str) -> str:
        if not isinstance(value, str) or not value or "\0" in value:
            raise ConfigError(f'must be the path of a file, such as "{example}"')
        return os.path.join(folder, os.path.expanduser(value))

    return parse


@dataclass(frozen=True)
class Setting:
    """A key of the configuration.

    Attributes:
        parse: called with the TOML value and the base folder of its paths; returns the value in :class:`Settings`
            or raises :class:`ConfigError`.
        kind: the type of the value, for the documentation.
        meaning: the effect of the key, for the documentation.
        unset: the behaviour without the key, if its default value does not show it.
    """

    parse: Callable[[Any, str], Any]
    kind: str
    meaning: str
    unset: str = ""


_RULES = "list of codes, prefixes (KC1), names or ALL"
_PATHS = "list of patterns as in .gitignore"
_SEVERITIES = '"info", "warning" or "error"'
_FLAG = "true or false"

SETTINGS: dict[str, Setting] = {
    "extend": Setting(
        _file("../pyproject.toml"),
        "path of a file",
        "The configuration file whose settings hold unless this one states them.",
        "none",
    ),
    "select": Setting(
        _strings, _RULES, "The rules to run, instead of the default ones.", "the rules that are on by default"
    ),
    "ignore": Setting(_strings, _RULES, "Rules to leave out. The closer selector wins: ignore KC1, select KC101."),
    "extend-select": Setting(_strings, _RULES, "Rules to run beside the selected ones."),
    "extend-ignore": Setting(_strings, _RULES, "Rules to leave out beside the ignored ones."),
    "per-file-ignores": Setting(
        _per_file, "table of path patterns to lists of rules", "Rules to leave out in some files."
    ),
    "extend-safe-fixes": Setting(
        _strings, _RULES, "Rules whose unsafe fixes --fix applies too. Reports still say what is not proven."
    ),
    "extend-unsafe-fixes": Setting(
        _strings, _RULES, "Rules whose safe fixes need --unsafe-fixes; stronger than extend-safe-fixes."
    ),
    "exclude": Setting(
        _patterns,
        _PATHS,
        "Paths to leave out, instead of the default ones. Hidden folders and virtual environments are left out anyway.",
    ),
    "extend-exclude": Setting(_patterns, _PATHS, "Paths to leave out beside the excluded ones."),
    "min-severity": Setting(_severity, _SEVERITIES, "Findings below are not reported."),
    "fail-on": Setting(_severity, _SEVERITIES, "Findings from here up make the exit code 1."),
    "pedantic": Setting(_flag, _FLAG, "Whether findings that are known to cost nothing are reported."),
    "target-tensorflow": Setting(
        _tensorflow_version,
        'version such as "2.21"',
        "The TensorFlow that the code runs on.",
        "what the project requires, or the newest version known",
    ),
    "keras": Setting(_choice("2", "3"), '"2" or "3"', "The major version of Keras that the code runs on.", "inferred"),
    "backend": Setting(
        _choice(*BACKENDS),
        ", ".join(f'"{backend}"' for backend in BACKENDS),
        "The backend of Keras 3 that the code runs on.",
        "inferred",
    ),
    "include-tests": Setting(_flag, _FLAG, "Whether test files found in folders are linted too."),
    "respect-gitignore": Setting(_flag, _FLAG, "Whether what git ignores is left out."),
    "baseline": Setting(
        _file("kerascheck-baseline.json"),
        "path of a file",
        "The findings that this file has are not reported; --write-baseline writes it.",
        "none",
    ),
    "docs-url": Setting(
        _address,
        "address",
        "Where the documentation site is published: findings then have the address of their rule's page.",
        "none",
    ),
}
"""All configuration keys, in the order of the documentation."""
_SELECTION_KEYS = ("select", "extend-select", "ignore", "extend-ignore")
_LIST_KEYS = ("extend-exclude", "extend-safe-fixes", "extend-unsafe-fixes")
_ADDING_KEYS = ("extend-select", "ignore", "extend-ignore", *_LIST_KEYS)
"""Keys whose values add to those of the level below."""


def from_table(table: Any, origin: str, default: Settings | None = None, folder: str | None = None) -> Settings:
    """The settings of a TOML table on top of others; raises :class:`ConfigError`.

    Args:
        table: the parsed table.
        origin: the file that contains it, or the option.
        default: the settings below it; selectors and excluded paths of the table add to theirs.
        folder: the base folder of its paths; None: the folder of ``origin``.
    """
    own = os.path.basename(origin) != _SHARED_FILE
    where = f"{origin}:" if own else f"{origin}: [tool.kerascheck]"
    if not isinstance(table, dict):
        raise ConfigError(f"{where} must be a table")
    home = os.path.dirname(os.path.abspath(origin))
    values = {}
    for key, value in table.items():
        if own and key == "tool":
            raise ConfigError(f"{where} the settings stand by themselves here, without [tool.kerascheck]")
        if key not in SETTINGS:
            raise ConfigError(f"{where} has no setting '{key}'{did_you_mean(key, SETTINGS)}")
        try:
            values[key] = SETTINGS[key].parse(value, home if key == "extend" else folder or home)
        except ConfigError as problem:
            raise ConfigError(f"{where} '{key}' {problem}") from None
    selection = Selection(
        values.get("select"),
        values.get("extend-select", ()),
        values.get("ignore", ()) + values.get("extend-ignore", ()),
    )
    default = default or Settings()
    stated_in = _stated_in(default.stated_in, dict.fromkeys(values, origin))
    fields = {key.replace("-", "_"): value for key, value in values.items() if key not in _SELECTION_KEYS}
    for name in (key.replace("-", "_") for key in _LIST_KEYS):
        fields[name] = getattr(default, name) + fields.get(name, ())
    return replace(default, origin=origin, selections=(*default.selections, selection), stated_in=stated_in, **fields)


def _stated_in(below: Mapping[str, tuple[str, ...]], stated: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The places that state each setting, when another level with one place for each of its keys is added."""
    replaced = set(_SELECTION_KEYS) if "select" in stated else set()
    places = {key: where for key, where in below.items() if key not in replaced}
    for key, place in stated.items():
        places[key] = (*(places.get(key, ()) if key in _ADDING_KEYS else ()), place)
    return places


class Configuration:
    """Finds the settings of each file: from the nearest configuration file, or from one for all files.

    The search goes upwards. In each folder, the first of ``.kerascheck.toml``, ``kerascheck.toml`` and a
    ``pyproject.toml`` with ``[tool.kerascheck]`` counts.

    Args:
        overrides: the settings from the command line.
        isolated: whether to ignore configuration files.
        file: a configuration file for all files; its paths are relative to the current folder.
        default: the settings without overrides and configuration files.
        validate: raises :class:`ConfigError` for settings of a file that name something unknown, such as a rule.
    """

    def __init__(
        self,
        overrides: Overrides | None = None,
        *,
        isolated: bool = False,
        file: str | None = None,
        default: Settings | None = None,
        validate: Callable[[Settings], None] | None = None,
    ):
        self._overrides = overrides or Overrides()
        self._isolated = isolated
        self._file = file
        self._validate = validate
        self._base = default or Settings()
        self._default = self._override(self._base)
        self._by_folder: dict[str, Settings] = {}
        self._named: Settings | None = None

    def for_file(self, path: str | os.PathLike[str]) -> Settings:
        """The settings of the file at ``path``; raises :class:`ConfigError`."""
        return self.for_folder(os.path.dirname(os.path.abspath(path)))

    def for_folder(self, folder: str) -> Settings:
        """The settings of the files directly in ``folder``, an absolute path; raises :class:`ConfigError`."""
        if self._isolated:
            return self._default
        if self._file is not None:
            with dependencies.asking(("settings", self._file)):
                if self._named is None:
                    self._named = self._read_named(self._file)
                return self._named
        with dependencies.asking(("settings", folder)):
            return self._for_folder(folder)

    def _for_folder(self, folder: str) -> Settings:
        known = self._by_folder.get(folder)
        if known is None:
            parent = os.path.dirname(folder)
            read = (self._read(os.path.join(folder, name)) for name in (*OWN_FILES, _SHARED_FILE))
            stated = next((each for each in read if each is not None), None)
            if stated is not None:
                known = self._override(stated)
            else:
                known = self._default if parent == folder else self.for_folder(parent)
            self._by_folder[folder] = known
        return known

    def _read_named(self, path: str) -> Settings:
        settings = self._read(path, folder=os.getcwd())
        if settings is None:
            raise ConfigError(f"{path}: {_missing(path)}")
        return self._override(settings)

    def _read(self, path: str, folder: str | None = None, extending: tuple[str, ...] = ()) -> Settings | None:
        """The settings of a configuration file and of those that it extends.

        Args:
            folder: the base folder of the paths in all of them; None: the folder of each.
            extending: the absolute paths of the files that lead to this one by ``extend``.

        Returns:
            None if the file is missing or has no settings for kerascheck.
        """
        from kerascheck.source.reading import display_path

        shown = display_path(path)
        try:
            table = _table_in(path, shown)
            if table is None:
                return None
            settings = from_table(table, shown, self._base, folder)
            if settings.extend is not None:
                below = self._extended(settings.extend, shown, folder, (*extending, os.path.abspath(path)))
                settings = from_table(table, shown, below, folder)
            if self._validate is not None:
                self._validate(settings)
        except ConfigError as problem:
            problem.origin = problem.origin or shown
            raise
        return settings

    def _extended(self, path: str, by: str, folder: str | None, extending: tuple[str, ...]) -> Settings:
        """The settings of the file that another one extends; ``by`` is the name of that one."""
        from kerascheck.source.reading import display_path

        if dependencies.real(path) in map(dependencies.real, extending):
            chain = " -> ".join(map(display_path, (*extending, path)))
            raise ConfigError(f"{by}: 'extend' goes round in a circle: {chain}; remove one of them")
        settings = self._read(path, folder, extending)
        if settings is None:
            raise ConfigError(f"{by}: 'extend' names {display_path(path)}: {_missing(path)}")
        return settings

    def _override(self, settings: Settings) -> Settings:
        overrides = self._overrides
        for table in overrides.tables:
            settings = replace(from_table(table, CONFIG_OPTION, settings), origin=settings.origin)
        return replace(
            settings,
            selections=(*settings.selections, overrides.selection),
            extend_exclude=settings.extend_exclude + overrides.extend_exclude,
            stated_in=_stated_in(settings.stated_in, overrides.stated_in),
            **overrides.values,
        )


def _missing(path: str) -> str:
    """Why a configuration file that is named has no settings."""
    return "has no [tool.kerascheck]" if dependencies.exists(path) else "no such configuration file"


def _table_in(path: str, shown: str) -> Any:
    """The settings in a configuration file as TOML; None if the file is missing or has none for kerascheck."""
    from kerascheck.source.reading import read_bytes

    own = os.path.basename(path) != _SHARED_FILE
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as problem:
        # An unreadable pyproject.toml may belong to other tools only.
        if own and dependencies.exists(path):
            raise ConfigError(f"{shown}: cannot be read: {problem.strerror or problem}") from None
        return None
    if not own and b"kerascheck" not in data:
        return None
    try:
        text = data.decode("utf-8")
        table: Any = parse_toml(text)
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{shown}: {problem}") from None
    except ValueError as problem:
        refused = ConfigError(f"{shown}: {problem}")
        refused.excerpt = excerpt(str(problem), text)
        raise refused from None
    if own:
        return table
    tool = table.get("tool")
    return tool.get("kerascheck") if isinstance(tool, dict) else None
