"""Generates rule-api.md from the docstrings of kerascheck.api: ``python docs/rule_api.py``."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from kerascheck import api
from kerascheck.catalog.registry import rules_folder
from kerascheck.catalog.rule import AnyRule
from kerascheck.fixes.proofs import Obligation

PAGE = Path(__file__).parent / "rule-api.md"

HEAD = """\
# What a rule may ask

<!-- Written by `python docs/rule_api.py`: change the docstrings, and run it again. -->

A rule imports `kerascheck.api` and nothing else of kerascheck: `from kerascheck.api import Rule, Severity, constant, data`.
[CONTRIBUTING.md](../CONTRIBUTING.md) says how to write one. This page lists the API by question: every function, and every attribute that
a rule of kerascheck reads.

In the examples, `module(text)` is a script that has imported tensorflow as `tf`, and keras; `call(text)` is the last
call of such a script, `file(text)` a requirements file, and `comments(text)` the comments of a script. They run as
tests (`tests/test_api.py`).
"""

SECTIONS = {
    "The contract": "What a rule is, what it is given, and what it yields.",
    "Values": "What the interpreter knows of what stands in the code, and the places where findings go.",
    "Questions to values": "",
}


def page() -> str:
    """Text of rule-api.md."""
    parts = [HEAD]
    names: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for name in api.__all__:
        if (section := _section_of(getattr(api, name))) is not None:
            names[section].append(name)
    for section, about in SECTIONS.items():
        parts.append(
            "\n".join(filter(None, (f"## {section}\n", about and f"{about}\n", *map(_first_level, names[section]))))
        )
    for name in api.__all__:
        if isinstance(getattr(api, name), ModuleType):
            parts.append(_topic(name))
    return "\n".join(parts)


def _section_of(thing: Any) -> str | None:
    """Section of a top-level name; None for a topic, which has a separate section."""
    if isinstance(thing, ModuleType):
        return None
    if isinstance(thing, FunctionType):
        return "Questions to values"
    made = thing if isinstance(thing, type) else type(thing)
    return "Values" if made.__module__.startswith(("kerascheck.interpreter", "kerascheck.meaning")) else "The contract"


def _first_level(name: str) -> str:
    thing = getattr(api, name)
    shown = _signature(thing, name) if isinstance(thing, FunctionType) else name
    members = list(_members(thing)) if isinstance(thing, type) else []
    return "\n".join(
        (f"### `{shown}`\n", _sentence(inspect.getdoc(thing)), _example(thing), *members, *[""] * bool(members))
    )


def _topic(name: str) -> str:
    topic = getattr(api, name)
    lines = [f"## `{name}`\n", _sentence(topic.__doc__), _example(topic)]
    if name == "names":
        return "\n".join((*lines, *_of_names(topic)))
    lines.append("I want to\n" if name == "fixes" else "I want to know\n")
    types = []
    for each in topic.__all__:
        thing = getattr(topic, each)
        if isinstance(thing, type):
            types.append(each)
        elif isinstance(thing, FunctionType):
            lines.append(_line(f"{name}.{_signature(thing, each)}", _sentence(inspect.getdoc(thing))))
        elif isinstance(thing, Obligation):
            lines.append(_line(f"{name}.{each}", f"{thing.statement[0].upper()}{thing.statement[1:]}."))
        else:
            lines.append(_line(f"{name}.{each}", _sentence(_documented(_origin(topic, each)).get(each))))
    for each in types:
        thing = getattr(topic, each)
        lines += ["", f"### `{name}.{each}`\n", _sentence(inspect.getdoc(thing)), "", *_members(thing)]
    return "\n".join((*lines, ""))


def _of_names(topic: ModuleType) -> Iterator[str]:
    yield "Which constant a name has, `grep -rn '\"keras.layers.Dense\"' kerascheck/knowledge` tells.\n"
    for each in topic.__all__:
        module = getattr(topic, each)
        yield f"- `names.{each}`: {_sentence(module.__doc__)}"
        for name, thing in vars(module).items():
            own = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
            if own and callable(thing) and hasattr(thing, "__name__"):
                function = inspect.unwrap(thing)
                shown = _signature(function, name) if isinstance(function, FunctionType) else name
                yield f"  - `names.{each}.{shown}`: {_sentence(inspect.getdoc(thing))}"
    yield ""


def _line(call: str, sentence: str) -> str:
    return f"- {sentence}\n  `{call}`"


def _members(cls: type) -> Iterator[str]:
    """A line for each documented public attribute, the class before its bases; attributes of all rules appear once."""
    seen = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("kerascheck.") or base is AnyRule and cls is not api.Rule:
            continue
        told = _documented(base)
        for node in _tree(base).body:
            if isinstance(node, ast.FunctionDef):
                name, shown = node.name, _shown(node, node.name, skip=1)
                if any(
                    getattr(each, "attr", getattr(each, "id", "")).endswith("property") for each in node.decorator_list
                ):
                    shown = f"{name}: {ast.unparse(node.returns)}" if node.returns else name
                sentence = ast.get_docstring(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, shown = node.target.id, f"{node.target.id}: {ast.unparse(node.annotation)}"
                sentence = told.get(name)
            else:
                continue
            is_listed = sentence or isinstance(node, ast.AnnAssign)
            if not name.startswith("_") and name in _read_by_rules() and name not in seen and is_listed:
                seen.add(name)
                yield f"- `.{shown}`" + (f": {_sentence(sentence)}" if sentence else "")
        for name, sentence in told.items():
            if name not in seen and not name.startswith("_") and name in _read_by_rules():
                seen.add(name)
                yield f"- `.{name}`: {_sentence(sentence)}"
    if issubclass(cls, Enum):
        yield from (f"- `.{each.name}`: {each.value}" for each in cls if each.name not in seen)


@functools.cache
def _read_by_rules() -> frozenset[str]:
    """Names that the rules read or define: attributes and arguments that no rule needs are not part of the API."""
    found = set()
    for path in rules_folder().glob("*/*/rule.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, (ast.Name, ast.FunctionDef, ast.keyword)):
                found.add(str(getattr(node, "id", None) or getattr(node, "name", None) or getattr(node, "arg", None)))
    return frozenset(found)


def _documented(holder: type | ModuleType) -> dict[str, str]:
    """Docstrings below assignments, and the section "Attributes" of a docstring."""
    found, body = {}, _tree(holder).body
    for node, below in zip(body, body[1:]):
        if (
            isinstance(node, (ast.Assign, ast.AnnAssign))
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(
                (each.id, inspect.cleandoc(below.value.value)) for each in targets if isinstance(each, ast.Name)
            )
    attributes = re.search(r"^Attributes:\n((?: .*\n?|\n)+)", inspect.getdoc(holder) or "", re.MULTILINE)
    if attributes and isinstance(holder, type):
        for names, text in re.findall(r"^ {4}([\w, ]+): ((?:.+\n?)(?: {8}.*\n?)*)", attributes[1], re.MULTILINE):
            found.update((name, text) for name in names.split(", "))
    return found


@functools.cache
def _tree(holder: type | ModuleType) -> Any:
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(holder)))
    return tree if isinstance(holder, ModuleType) else tree.body[0]


def _origin(topic: ModuleType, name: str) -> ModuleType:
    """Module that defines a constant that the topic imports."""
    for node in _tree(topic).body:
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            return sys.modules[node.module]
    raise LookupError(f"{topic.__name__} imports no {name}")


def _signature(function: FunctionType, name: str) -> str:
    node = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return _shown(node, name)


def _shown(node: ast.FunctionDef, name: str, skip: int = 0) -> str:
    parameters = ast.unparse(node.args)
    is_static = any(ast.unparse(decorator) == "staticmethod" for decorator in node.decorator_list)
    if skip and not is_static:
        parameters = parameters.partition(", ")[2]
    return f"{name}({parameters})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def _sentence(docstring: str | None) -> str:
    """First sentence, in Markdown."""
    text = " ".join((docstring or "").split())
    found = re.match(r".*?\.(?=\s|$)(?!\s[a-z])", text)
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"``\1``", found[0] if found else text)
    return text.replace("``", "`")


def _example(thing: Any) -> str:
    found = re.search(r"^Example:\n((?: {4}.*\n?|\n)+)", inspect.getdoc(thing) or "", re.MULTILINE)
    return f"\n```python\n{inspect.cleandoc(found[1])}\n```\n" if found else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
