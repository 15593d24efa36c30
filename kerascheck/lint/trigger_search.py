"""A search of code for the triggers of rules, much faster than parsing with libcst."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from kerascheck.catalog import registry
from kerascheck.source.code import without_comments
from kerascheck.source.python import without_warnings
from kerascheck.syntax.search import Searched


def mentions_keras(data: bytes) -> bool:
    """Whether a file may use Keras. Every line counts, since modules may import a re-export.

    A star import may bring all of Keras; then names count that only Keras has.
    """
    return b"keras" in data or b"tensorflow" in data or b"import *" in data and _OF_KERAS.search(data) is not None


_OF_KERAS = re.compile(
    rb"\b(?:fit_generator|predict_generator|train_on_batch|ModelCheckpoint|EarlyStopping|ImageDataGenerator|GradientTape)\("
)


# A loop, a training, or a statement at module level that may call one. In a notebook the statement is a JSON string.
_RUNS = re.compile(
    rb"^[ \t]*\"?[ \t]*(?:for|while)\b|\.fit(?:_generator)?\(|^(?:if\b|(?:[\w., \t]+=[ \t]*)?[A-Za-z_]\w*(?:\.\w+)*\()",
    re.M,
)


@registry.remembered
def method_triggers() -> tuple[bytes, ...]:
    """The triggers that are calls of methods and need no further words: a text search decides them."""
    return tuple(
        trigger.encode()
        for trigger in sorted(registry.triggers())
        if re.fullmatch(r"\.\w+\(", trigger) and not registry.needed(trigger)
    )


def has_trigger(code: bytes) -> bool:
    """Whether a text contains a trigger, anywhere."""
    # Latin-1 decodes any bytes, and triggers are ASCII.
    return any(map(Searched(code.decode("latin-1")).has, registry.triggers()))


def triggers_in_code(code: str | bytes) -> frozenset[str]:
    """The triggers in the code itself; in library files, most occurrences are in docstrings.

    ``ast`` takes a third of libcst's time. Its errors for invalid code propagate.
    """
    tree = without_warnings(code)
    words: set[str] = set()
    layers: list[ast.ClassDef] = []
    for node in _nodes(tree):
        cls = node.__class__
        if cls is ast.Name:
            words.add(f"{node.id}(")
        elif cls is ast.Attribute:
            words.add(f".{node.attr}(")
            words.add(f"{_last_name(node.value)}.{node.attr}(")
        elif cls is ast.alias:
            # The code may use the original name or the alias.
            words.update((node.name, node.asname or "", f"{node.name.rpartition('.')[2]}("))
        elif cls is ast.ImportFrom:
            words.add(node.module or "")
        elif cls is ast.keyword:
            words.add(node.arg or "")
        elif cls is ast.ClassDef:
            if any(method.name == "call" for method in _methods(node)):
                layers.append(node)
        elif cls is ast.FunctionDef or cls is ast.AsyncFunctionDef:
            words.add(node.name)
        elif cls is ast.Constant and isinstance(node.value, str) and node.value.isidentifier():
            # Names of environment variables.
            words.add(node.value)
    helpers = _helpers(tree) if layers else frozenset()
    if any(_methods_matter(layer, helpers) for layer in layers):
        words.add("call(")
    joined = "\n".join(words)
    return frozenset(
        trigger
        for trigger in registry.triggers()
        if (trigger in words or f".{trigger}" in words if trigger.endswith("(") else trigger in joined)
    )


def _nodes(tree: ast.AST) -> Iterator[Any]:
    """All nodes and field values below ``tree``, unordered; ``ast.walk`` takes three times as long."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        yield node
        for field in _NODES_IN[node.__class__]:
            value = getattr(node, field)
            if value.__class__ is list:
                stack += value
            else:
                stack.append(value)


class _Fields(dict[type, tuple[str, ...]]):
    """The fields that may contain nodes, by node class; empty for other values."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        fields = () if cls is ast.Constant else getattr(cls, "_fields", ())
        self[cls] = tuple(field for field in fields if field not in _PLAIN_FIELDS)
        return self[cls]


# Fields without nodes, or with nodes that only describe their parent.
_PLAIN_FIELDS = frozenset("arg attr ctx id kind level module name op ops type_comment type_ignores".split())
_NODES_IN = _Fields()


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_NO_STATE = ("Error", "KerasTensor", "TensorShape", "Warning")
_PLAIN_METHODS = frozenset(
    "__init__ build compute_mask compute_output_shape compute_output_spec from_config get_config".split()
)


# Functions from these packages are not the project's; other checks look for names of Keras.
_ELSEWHERE = frozenset({"keras", "tensorflow", "tf_keras", "numpy", *sys.stdlib_module_names})


def _helpers(tree: ast.Module) -> frozenset[str]:
    """Names of the project's functions that matter to rules and that methods of layers may call."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(map(_matters, _nodes(node))):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level or (node.module or "").partition(".")[0] not in _ELSEWHERE:
                names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def _methods_matter(cls: ast.ClassDef, helpers: frozenset[str]) -> bool:
    """Whether a method of a layer creates objects, loops over a range or prints, which rules may report.

    Most layers do none of these, and libraries have many layers.
    """
    return any(
        _matters(node, helpers)
        for method in _methods(cls)
        if method.name not in _PLAIN_METHODS
        for node in _nodes(method)
    )


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [node for node in cls.body if isinstance(node, ast.FunctionDef)]


def _matters(node: Any, helpers: frozenset[str] = frozenset()) -> bool:
    if node.__class__ is not ast.Call:
        return False
    name = _last_name(node.func)
    return name[:1].isupper() and not name.endswith(_NO_STATE) or name in ("print", "range") or name in helpers


def has_any(code: bytes, words: Iterable[str]) -> bool:
    """Whether code contains any of some words."""
    return any(word.encode() in code for word in words)


@registry.remembered
def triggers_are_names() -> bool:
    """Whether every trigger is a name, a method or the start of a call, which a syntax tree shows.

    A third-party rule may have another trigger; then every file with a trigger is parsed.
    """
    return all(re.fullmatch(r"(?:\w*\.)?\w+\(?", trigger) for trigger in registry.triggers())


@functools.lru_cache(maxsize=1)
def code_without_comments(code: bytes) -> bytes:
    """Code with comments and docstrings blanked out; cached for the last code."""
    return without_comments(code.decode("latin-1")).encode("latin-1")


def has_words(code: bytes, calls: bool) -> bool:
    """Whether code has words that a rule needs or, if ``calls``, may run code of a file that it imports."""
    return mentions_keras(code) and has_trigger(code) or calls and _RUNS.search(code) is not None
