"""The registry of rules: finds them as folders, loads them by path, and selects them by code, prefix or name.

Nothing imports ``kerascheck.rules``: the folder is next to the package in a checkout, and inside it in an installed
wheel. For third-party rules, see :mod:`kerascheck.catalog.third_party`.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import kerascheck
from kerascheck.catalog import third_party
from kerascheck.catalog.applies import Applies
from kerascheck.catalog.rule import KINDS, AnyRule, Rule
from kerascheck.finding import Severity
from kerascheck.project.config import ConfigError, Selection, Settings, did_you_mean

_Kind = TypeVar("_Kind", bound=AnyRule)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_OWN_CODE, _THIRD_PARTY_CODE = re.compile(r"KC\d{3}"), re.compile(r"KC[A-Z]\d{3}")

_remembered: list[Any] = []
_named_folders: tuple[str, ...] = ()


def remembered(function: _Function) -> _Function:
    """:func:`functools.cache` for results that depend on the set of rules; see :func:`invalidate`."""
    cached = functools.cache(function)
    _remembered.append(cached)
    return cast(_Function, cached)


def invalidate() -> None:
    """Drop all cached results, so that the next query searches for rules again."""
    for each in _remembered:
        each.cache_clear()


def use_folders(folders: Sequence[str]) -> None:
    """Use the rules of exactly these folders, besides kerascheck's own and those of installed packages.

    Pass only folders from the command line: their rules are executed.
    """
    global _named_folders
    if tuple(folders) != _named_folders:
        _named_folders = tuple(folders)
        invalidate()


def used_folders() -> tuple[str, ...]:
    """The folders of :func:`use_folders`, for other processes."""
    return _named_folders


def rules_folder() -> Path:
    """The folder of the rules that ship with kerascheck."""
    here = Path(kerascheck.__file__).resolve().parent
    installed = here / "rules"
    return installed if installed.is_dir() else here.parent / "rules"


@dataclass(frozen=True)
class RuleSpec:
    """The metadata of a rule, and the folder with its code and examples.

    The metadata is read from the rule's file without running it: rules import the meaning layer and thereby libcst,
    which most commands and most files never need.
    """

    folder: Path
    code: str
    name: str
    summary: str
    severity: Severity
    triggers: tuple[str, ...]
    on_by_default: bool
    docstring: str
    kind: type[AnyRule] = Rule
    """The base class of the rule."""
    applies: Applies = Rule.applies
    """See :attr:`Rule.applies`; unused for other kinds."""
    fixed_by_default: bool = Rule.fixed_by_default
    evidence_note: str = Rule.evidence_note
    speed: bool = Rule.speed
    needs: tuple[str, ...] = Rule.needs
    proves: tuple[str, ...] = Rule.proves
    measured: str = Rule.measured
    by: str | None = None
    """The origin of the rule for messages, such as "the package acme-rules"; None for kerascheck's own."""

    @functools.cached_property
    def documentation(self) -> str:
        """The rule's page: the docstring of its class without indentation."""
        return inspect.cleandoc(self.docstring)

    @functools.cached_property
    def rule(self) -> AnyRule:
        """An instance of the rule; the first access runs its file."""
        return _load(self)

    def rule_as(self, kind: type[_Kind]) -> _Kind:
        """The rule as an instance of ``kind``; raises TypeError if it is of another kind."""
        rule = self.rule
        if not isinstance(rule, kind):
            raise TypeError(f"{self.folder}: the rule is a {self.kind.__name__}, not a {kind.__name__}")
        return rule


@remembered
def rule_specs() -> tuple[RuleSpec, ...]:
    """All rules, sorted by code: kerascheck's own, those of installed packages, and those of named folders.

    A rule is a file ``<family>/<slug>/rule.py``.

    Raises:
        ConfigError: third-party rules are invalid, or share a code or name with another rule.
        TypeError: the same for kerascheck's own rules.
    """
    found = [_read_spec(path) for path in _rule_files(rules_folder())]
    shipments = [*third_party.packaged(), *map(third_party.named, _named_folders)]
    # A package in development may be both installed and named.
    for shipment in {each.folder: each for each in shipments}.values():
        found += _shipped(shipment)
    for attribute in ("code", "name"):
        seen: dict[str, RuleSpec] = {}
        for spec in found:
            other = seen.setdefault(getattr(spec, attribute), spec)
            if other is not spec:
                problem = f"{other.folder} and {spec.folder} have the same {attribute}, {getattr(spec, attribute)}"
                raise ConfigError(f"rules of {spec.by}: {problem}") if spec.by else TypeError(problem)
    return tuple(sorted(found, key=lambda spec: spec.code))


@remembered
def triggers() -> frozenset[str]:
    """The triggers of all rules about code, selected or not: findings in one module may depend on another."""
    return frozenset(trigger for spec in rule_specs() if spec.kind is Rule for trigger in spec.triggers)


@remembered
def needed(trigger: str) -> frozenset[str]:
    """The words that rules need besides a trigger (:attr:`Rule.needs`); empty if one of these rules needs none."""
    needs = [spec.needs for spec in rule_specs() if spec.kind is Rule and trigger in spec.triggers]
    return frozenset().union(*needs) if all(needs) else frozenset()


def _rule_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*/rule.py"))


def _shipped(shipment: third_party.Shipment) -> list[RuleSpec]:
    files = _rule_files(shipment.folder)
    if not files:
        raise ConfigError(f"rules of {shipment.by}: there are none; each is a folder FAMILY/NAME with a rule.py")
    return [_read_shipped_spec(path, shipment.by) for path in files]


def _read_shipped_spec(path: Path, by: str) -> RuleSpec:
    try:
        spec = replace(_read_spec(path), by=by)
    except (OSError, SyntaxError, TypeError, ValueError) as problem:
        where = "" if str(path) in str(problem) else f"{path}: "
        raise ConfigError(f"rules of {by}: {where}{problem}") from None
    if not _THIRD_PARTY_CODE.fullmatch(str(spec.code)):
        raise ConfigError(
            f"rules of {by}: {path}: the code {spec.code} "
            + ("is one of kerascheck's own" if _OWN_CODE.fullmatch(str(spec.code)) else "is none that others may use")
            + "; write KC, a letter and three digits, such as KCX101"
        )
    return spec


def _read_spec(path: Path) -> RuleSpec:
    rule, kind = _rule_in(path)
    attributes = _attributes(rule)

    def literal(name: str, default: Any = None) -> Any:
        if name not in attributes and default is not None:
            return default
        try:
            value = attributes[name]
            return Severity[value.attr] if isinstance(value, ast.Attribute) else ast.literal_eval(value)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise TypeError(
                f"{path}: '{name}' must be written as a literal, since it is read without running the file"
            ) from None

    return RuleSpec(
        path.parent,
        literal("code"),
        literal("name"),
        literal("summary"),
        literal("severity"),
        literal("triggers"),
        literal("on_by_default", Rule.on_by_default),
        ast.get_docstring(rule, clean=False) or "",
        kind,
        _applies(path, attributes.get("applies")),
        literal("fixed_by_default", Rule.fixed_by_default),
        literal("evidence_note", Rule.evidence_note),
        literal("speed", Rule.speed),
        literal("needs", Rule.needs),
        literal("proves", Rule.proves),
        literal("measured", Rule.measured),
    )


# Searching for the end of a line is faster than for its start.
_IN_CLASS = re.compile(r"\n    \w[\w, ]*[=:]")
_CLASS_END = re.compile(r"\n\w|\Z")


def _parsed(path: Path) -> ast.Module:
    """The syntax tree of the part of a rule's file that holds its metadata.

    Parses from the only class to its first method, if only methods follow. Parsing all rules completely would take as
    long as linting a short script.
    """
    text = path.read_text(encoding="utf-8")
    start = text.rfind("\nclass ") + 1
    end = text.find("\n    def ", start)
    behind = _CLASS_END.search(text, end)
    if end >= 0 and behind and not _IN_CLASS.search(text, end, behind.start()):
        if "class " in text[:start]:
            start = 0
        # Parsing fails if "class" was in a docstring, or below a decorator.
        with contextlib.suppress(SyntaxError):
            return ast.parse(text[start : end + 1], str(path))
    return ast.parse(text, str(path))


def _rule_in(path: Path) -> tuple[ast.ClassDef, type[Any]]:
    """The one rule that a file defines, and its kind."""
    rules = [
        (node, kind)
        for node in _parsed(path).body
        if isinstance(node, ast.ClassDef)
        for kind in KINDS
        if any(_is_named(base, kind.__name__) for base in node.bases)
    ]
    if len(rules) != 1:
        raise TypeError(f"{path} must define exactly one rule, not {len(rules)}")
    return rules[0]


def _attributes(rule: ast.ClassDef) -> dict[str, ast.expr]:
    """The expressions that a class body assigns to names."""
    attributes: dict[str, ast.expr] = {}
    for node in rule.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                names = zip(target.elts, node.value.elts)
                attributes.update((name.id, value) for name, value in names if isinstance(name, ast.Name))
            elif isinstance(target, ast.Name) and node.value is not None:
                attributes[target.id] = node.value
    return attributes


def _applies(path: Path, value: ast.expr | None) -> Applies:
    if value is None:
        return Rule.applies
    try:
        if not isinstance(value, ast.Call) or value.args or not _is_named(value.func, Applies.__name__):
            raise ValueError("write it as Applies(name=..., ...)")
        return Applies(**{each.arg or "**": ast.literal_eval(each.value) for each in value.keywords})
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{path}: 'applies' is read without running the file: {problem}") from None


def _is_named(base: ast.expr, name: str) -> bool:
    return (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")) == name


def _load(spec: RuleSpec) -> AnyRule:
    path, name = spec.folder / "rule.py", f"kerascheck.rules.{spec.code}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    assert module_spec is not None and module_spec.loader is not None, "its name ends in .py"
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    module_spec.loader.exec_module(module)
    (defined,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, AnyRule) and value.__module__ == name
    )
    return defined()


_PREFIX = re.compile(r"KC[A-Z]?\d{0,3}", re.IGNORECASE)
_OF_NO_RULE = {"KC999": "a file that cannot be read or parsed", "KC998": "a fault of kerascheck itself"}


def find(word: str) -> RuleSpec:
    """Find a rule by code or name; raises :class:`ConfigError` that suggests the nearest one."""
    for spec in rule_specs():
        if word.upper() == spec.code or word == spec.name:
            return spec
    if word.upper() in _OF_NO_RULE:
        raise ConfigError(f"there is no rule '{word}': this code stands for {_OF_NO_RULE[word.upper()]}")
    begun = sum(spec.code.startswith(word.upper()) for spec in rule_specs()) if _PREFIX.fullmatch(word) else 0
    if begun > 1:
        raise ConfigError(f"there is no rule '{word}': {begun} codes begin so; 'kerascheck rule' lists all rules")
    known = [text for spec in rule_specs() for text in (spec.code, spec.name)]
    raise ConfigError(f"there is no rule '{word}'{did_you_mean(word, known)}")


def _specificity(selector: str, rule: RuleSpec) -> int:
    """The specificity of ``selector`` for ``rule``: 0 for no match, more for longer prefixes, most for its name."""
    if selector == "ALL":
        return 1
    if selector == rule.name:
        return 10
    return 2 + len(selector) if _PREFIX.fullmatch(selector) and rule.code.startswith(selector.upper()) else 0


def _chosen(rule: RuleSpec, selections: Iterable[Selection]) -> bool:
    chosen = rule.on_by_default
    for level in selections:
        wanted = max((_specificity(s, rule) for s in (level.select or ()) + level.extend_select), default=0)
        refused = max((_specificity(s, rule) for s in level.ignore), default=0)
        if level.select is not None:
            chosen = False
        # Within a level the more specific selector wins, so that "ignore KC1, select KC101" selects KC101.
        if wanted or refused:
            chosen = wanted > refused
    return chosen


@remembered
def enabled(selections: tuple[Selection, ...]) -> tuple[RuleSpec, ...]:
    """Select the rules to run, sorted by code; ``selections`` go from the outermost level to the innermost."""
    return tuple(spec for spec in rule_specs() if _chosen(spec, selections))


@remembered
def fixed_on_request(selections: tuple[Selection, ...]) -> frozenset[str]:
    """The codes of the rules whose fixes are shown but not applied, because no selection names the rule itself."""
    return frozenset(spec.code for spec in rule_specs() if not spec.fixed_by_default) - named(selections)


def named(selections: tuple[Selection, ...]) -> frozenset[str]:
    """The codes of the rules that a selection names, by code or name rather than by a prefix."""
    return frozenset(spec.code for spec in rule_specs() if _named(spec, selections))


def _named(rule: RuleSpec, selections: Iterable[Selection]) -> bool:
    named = False
    for level in selections:
        here = any(
            selector == rule.name or selector.upper() == rule.code
            for selector in (level.select or ()) + level.extend_select
        )
        named = here or named and level.select is None
    return named


def check_selector(selector: str) -> None:
    """Raise :class:`ConfigError` if ``selector`` matches no rule."""
    if not any(_specificity(selector, spec) for spec in rule_specs()):
        known = [text for spec in rule_specs() for text in (spec.code, spec.name)]
        raise ConfigError(f"no rule matches '{selector}'{did_you_mean(selector, [*known, 'ALL'])}")


def validate_selection(level: Selection) -> None:
    """Raise :class:`ConfigError` for a selector that matches no rule; free without selectors."""
    for selector in (*(level.select or ()), *level.extend_select, *level.ignore):
        check_selector(selector)


def validate(settings: Settings) -> None:
    """Raise :class:`ConfigError` with the configuration file for a selector of ``settings`` that matches no rule."""
    try:
        for level in settings.selections:
            validate_selection(level)
        ignored = [selector for _, selectors in settings.per_file_ignores for selector in selectors]
        for selector in (*ignored, *settings.extend_safe_fixes, *settings.extend_unsafe_fixes):
            check_selector(selector)
    except ConfigError as problem:
        raise ConfigError(f"{settings.origin}: {problem}" if settings.origin else str(problem)) from None


def ignored_by(selectors: Iterable[str], code: str, name: str) -> bool:
    """Whether one of ``selectors`` matches the rule with this code and name."""
    return any(
        selector in ("ALL", name) or (_PREFIX.fullmatch(selector) and code.startswith(selector.upper()))
        for selector in selectors
    )
