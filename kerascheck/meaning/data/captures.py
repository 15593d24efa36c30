"""Captures of a dataset operation's function: the values of its free names and of their attributes.

The function reads a captured ``tf.Variable`` in each run, and everything else once, when tf.data traces it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    UNKNOWN,
    Class,
    Constant,
    Dataset,
    DatasetOp,
    DictValue,
    External,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    LoopVariable,
    Method,
    ModuleLike,
    ModuleValue,
    Partial,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    external,
    flat,
)
from kerascheck.knowledge.callables import is_scalar
from kerascheck.knowledge.layers import LAYERS, Holds, holds
from kerascheck.knowledge.python import BUILTINS
from kerascheck.knowledge.stateless import is_constant, is_constant_result, is_stateless
from kerascheck.syntax.tree import Tree

_DEPTH = 6
"""Maximum nesting depth of containers to search."""
_PLAIN_BASES = frozenset(
    {"builtins.object", "abc.ABC", "enum.Enum", "typing.Generic", "typing.NamedTuple", "typing.Protocol"}
)
"""Library base classes that add no variables to their objects."""
_BY_NAME = frozenset("setattr delattr __dict__ globals locals vars exec eval".split())
"""Code that binds variables and attributes whose names are in strings."""
_HELD = frozenset({Holds.NOTHING, Holds.TABLE, Holds.SEED})
"""Layers without weights; those that draw random numbers are judged at their calls."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A captured expression that may be a variable, is unknown, or is a dataset.

    Attributes:
        module, node: the place where the function reads it.
        text: its code; empty for the function as a whole.
        value: its value.
    """

    module: ModuleLike
    node: cst.CSTNode
    text: str
    value: Value


def doubtful_captures(stage: DatasetOp) -> Iterator[Capture]:
    """Captures of an operation's function and its callees that may change, including datasets."""
    search = _Search()
    if not search.stays(stage.function, called=True):
        yield Capture(stage.module, stage.node, "", stage.function)
    for function in search.functions():
        for capture, stays in _captures(search, function):
            if not stays:
                yield capture
            while search.datasets:
                yield replace(capture, value=search.datasets.pop())


def functions_run(stage: DatasetOp) -> list[Function]:
    """The project functions that form an operation's function, or that it calls or may call; itself first."""
    return [function for function, _ in _captured_by_each(stage)]


def captured_arrays(stage: DatasetOp) -> Iterator[Capture]:
    """Captures and defaults of an operation's function that are, or may be, tensors or arrays."""
    for function, captures in _captured_by_each(stage):
        for capture in captures:
            if any(
                isinstance(each, (Tensor, IteratorValue)) or is_array(each) or each is UNKNOWN
                for each in flat(capture.value)
            ):
                yield capture
        for name, value in function.defaults.items():
            if not all(isinstance(each, (Constant, External)) for each in flat(value)):
                yield Capture(function.module, function.node, name, value)


def _captured_by_each(stage: DatasetOp) -> Iterator[tuple[Function, list[Capture]]]:
    search = _Search()
    search.stays(stage.function, called=True)
    for function in search.functions():
        yield function, [capture for capture, _ in _captures(search, function)]


def has_plain_settings(layer: ExternalInstance) -> bool:
    """Whether a layer has only number and string arguments, so its class alone determines its behaviour."""
    call = layer.call
    if call is None or call.arguments.unknown_keywords or call.arguments.unknown_positional:
        return False
    # A table copies its words; a user function would be called.
    settings = (
        [*call.arguments.positional[1:], *(call.keyword(name) or Constant(None) for name in ("standardize", "split"))]
        if holds(layer.name) is Holds.TABLE
        else call.arguments.values()
    )
    return all(map(_is_plain, settings))


def _is_plain(value: Value) -> bool:
    return all(
        isinstance(each, (Constant, LoopVariable, Tensor))
        or is_array(each)
        or isinstance(each, External)
        and (is_scalar(each.name) or is_stateless(each.name))
        for each in flat(value)
    )


class _Search:
    """Judges values, and collects the functions in them for further search."""

    def __init__(self) -> None:
        self.pending: list[Function] = []
        self.datasets: list[Dataset] = []

    def functions(self) -> Iterator[Function]:
        """The functions found, each once; search each for captures before requesting the next."""
        seen: set[tuple[int, int, int]] = set()
        while self.pending:
            function = self.pending.pop()
            key = id(function.node), id(function.receiver), id(function.scope)
            if key not in seen:
                seen.add(key)
                yield function

    def stays(self, value: Value, depth: int = _DEPTH, called: bool = False) -> bool:
        """Whether a value certainly neither is nor contains a variable.

        Args:
            called: whether the function only calls the value.
        """
        if depth == 0:
            return False
        if isinstance(value, UnionValue):
            return all(self.stays(each, depth, called) for each in value.options)
        if isinstance(value, SequenceValue):
            return self._stay(value.items, depth)
        if isinstance(value, DictValue):
            return not value.open and self._stay(value.items.values(), depth)
        if isinstance(value, IteratorValue):
            return self._stay(value.over, depth)
        if isinstance(value, (Constant, LoopVariable, Tensor)) or is_array(value):
            return True
        if isinstance(value, Function):
            self.pending.append(value)
            return not value.opaque and self._stay(value.defaults.values(), depth)
        if isinstance(value, Partial):
            given = value.arguments
            known = not (given.unknown_keywords or given.unknown_positional)
            return known and self.stays(value.target, depth - 1, called) and self._stay(given.values(), depth)
        if isinstance(value, Method):
            return not isinstance(value.receiver, Instance) and self.stays(value.receiver, depth - 1)
        if isinstance(value, Dataset):
            self.datasets.append(value)
            return True
        if isinstance(value, External):
            return is_constant(value.name) and (called or _is_plain_symbol(value.name))
        if isinstance(value, ExternalInstance):
            return self._made_stays(value, depth)
        if isinstance(value, Class):
            return self._class_stays(value, depth)
        return isinstance(value, Instance) and self._instance_stays(value, depth, called)

    def _stay(self, values: Iterable[Value], depth: int) -> bool:
        # Judge every value, to find the functions in all of them.
        judged = [self.stays(each, depth - 1) for each in values]
        return all(judged)

    def _made_stays(self, value: ExternalInstance, depth: int) -> bool:
        if value.name.startswith(LAYERS):
            given = value.call.arguments if value.call is not None else None
            if given is None or given.unknown_keywords or given.unknown_positional or holds(value.name) not in _HELD:
                return False
            return holds(value.name) is Holds.TABLE or self._stay(given.values(), depth)
        return is_constant_result(value.name) and self._stay(value.attributes.values(), depth)

    def _class_stays(self, value: Class, depth: int) -> bool:
        members = [member for base in value.ancestry() if isinstance(base, Class) for member in base.members.values()]
        return value.external_bases() <= _PLAIN_BASES and self._stay(members, depth)

    def _instance_stays(self, value: Instance, depth: int, called: bool) -> bool:
        if called:
            found = value.cls.member("__call__") or value.cls.member("call")
            return isinstance(found, Function) and self.stays(replace(found, receiver=value), depth)
        return self._class_stays(value.cls, depth) and self._stay(value.attributes.values(), depth)


def _is_plain_symbol(name: str) -> bool:
    """Whether a library symbol is a type, a constant, or a function without state."""
    return name.rpartition(".")[2][:1].isupper() or name.endswith(".newaxis") or is_scalar(name) or is_stateless(name)


def _captures(search: _Search, function: Function) -> Iterator[tuple[Capture, bool]]:
    """The captures of a function, each with whether it certainly stays constant."""
    module, tree, scopes = function.module, function.module.tree, _Scopes(function.module.tree)
    own = _own_parameter(function)
    by_name = any(isinstance(each, cst.Name) and each.value in _BY_NAME for each in tree.parents)
    for node in tree.descendants(function.node.body):
        if isinstance(node, cst.ImportAlias) and not is_constant(_imported(tree, node)):
            yield Capture(module, node, tree.code_of(node), UNKNOWN), False
        if not isinstance(node, cst.Name) or not _is_read(tree, node):
            continue
        scope = scopes.binding(node, function.node)
        if scope is None:
            value = function.scope.lookup(node.value)
            if value is None:
                value = External(f"builtins.{node.value}") if node.value in BUILTINS else UNKNOWN
            stays = scopes.times_bound(node.value, function.node) < 2
        elif scope is function.node and node.value == own and function.receiver is not None:
            value, stays = function.receiver, True
        else:
            continue
        outer, value, owners = _with_attributes(tree, node, value)
        parent = tree.parents.get(outer)
        called = isinstance(parent, cst.Call) and parent.func is outer
        # An attribute of a library is never assigned, and an attribute of an object is assigned once.
        stays = stays and all(
            scopes.times_assigned(name) <= (not isinstance(owner, External)) for owner, name in owners
        )
        stays = stays and (not by_name or isinstance(value, (External, Class, ModuleValue, Function)))
        yield Capture(module, outer, tree.code_of(outer), value), search.stays(value, called=called) and stays


def _imported(tree: Tree, alias: cst.ImportAlias) -> str:
    """The canonical name of a function's import; empty for a relative import."""
    statement = tree.parents.get(alias)
    if not isinstance(statement, cst.ImportFrom):
        return external(alias.evaluated_name).name
    if statement.relative or statement.module is None:
        return ""
    return external(f"{tree.code_of(statement.module)}.{alias.evaluated_name}").name


def _own_parameter(function: Function) -> str:
    params = function.node.params
    first = [*params.posonly_params, *params.params][:1]
    return first[0].name.value if first and function.kind != "staticmethod" else ""


def _with_attributes(tree: Tree, node: cst.Name, value: Value) -> tuple[cst.CSTNode, Value, list[tuple[Value, str]]]:
    """The longest dotted name from ``node`` with a known value, that value, and the attributes on the way."""
    outer: cst.CSTNode = node
    owners: list[tuple[Value, str]] = []
    while isinstance(value, (Instance, ModuleValue, Class, External, Function)):
        parent = tree.parents.get(outer)
        if not isinstance(parent, cst.Attribute) or parent.value is not outer:
            break
        owners.append((value, parent.attr.value))
        outer, value = parent, _attribute(value, parent.attr.value)
    return outer, value, owners


def _attribute(owner: Value, name: str) -> Value:
    if isinstance(owner, External):
        return external(f"{owner.name}.{name}")
    if isinstance(owner, Instance) and name in owner.attributes:
        return owner.attributes[name]
    if isinstance(owner, (Instance, Class)):
        cls = owner.cls if isinstance(owner, Instance) else owner
        member = cls.member(name)
        if isinstance(member, Function) and (isinstance(owner, Instance) or member.kind == "classmethod"):
            return replace(member, receiver=owner if member.kind != "classmethod" else cls)
        return member or UNKNOWN
    # Only the run that followed another module knows its globals; here, only its functions know them.
    return UNKNOWN


def _is_read(tree: Tree, node: cst.Name) -> bool:
    parent = tree.parents.get(node)
    if isinstance(parent, (cst.Attribute, cst.Arg)):
        return parent.value is node
    if isinstance(parent, cst.Param):
        return parent.default is node
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef, cst.NamedExpr, cst.CompFor, cst.For)):
        return getattr(parent, "name", None) is not node and getattr(parent, "target", None) is not node
    return not isinstance(
        parent, (cst.AssignTarget, cst.Annotation, cst.NameItem, cst.AsName, cst.ImportAlias, cst.ImportFrom)
    )


class _Scopes:
    """The names that the scopes of a module bind, according to Python's rules."""

    def __init__(self, tree: Tree):
        self._tree = tree
        self._bound: dict[cst.CSTNode, Counter[str]] = {}
        self._assigned: Counter[str] | None = None

    def binding(self, node: cst.Name, function: cst.CSTNode) -> cst.CSTNode | None:
        """The scope, from that of ``function`` inwards, that binds a name; None for a free name."""
        return next((scope for scope in self._around(node, function) if node.value in self._names(scope)), None)

    def times_bound(self, name: str, function: cst.CSTNode) -> int:
        """Bindings of a name in the nearest scope around a function that has one; 0 for a builtin."""
        # Methods do not see the names of their class.
        around = [
            each
            for each in self._tree.ancestors(function)
            if isinstance(each, (*_SCOPES, cst.Module)) and not isinstance(each, cst.ClassDef)
        ]
        counts = (self._names(scope)[name] for scope in around)
        local = next((count for count in counts if count), 0)
        declared = sum(
            1
            for each in self._tree.parents
            if isinstance(each, cst.NameItem)
            and isinstance(self._tree.parents.get(each), (cst.Global, cst.Nonlocal))
            and isinstance(each.name, cst.Name)
            and each.name.value == name
        )
        return local + declared

    def times_assigned(self, attribute: str) -> int:
        """Assignments to attributes of this name in the module."""
        if self._assigned is None:
            targets = (each.target for each in self._tree.parents if isinstance(each, _ASSIGNS))
            self._assigned = Counter(each.attr.value for each in targets if isinstance(each, cst.Attribute))
        return self._assigned[attribute]

    def _around(self, node: cst.CSTNode, function: cst.CSTNode) -> Iterator[cst.CSTNode]:
        child, passes = node, False
        for each in self._tree.ancestors(node):
            # Defaults and decorators run outside of their function.
            if isinstance(each, cst.Param) and each.default is child or isinstance(each, cst.Decorator):
                passes = True
            elif isinstance(each, _SCOPES):
                if not passes and not isinstance(each, cst.ClassDef):
                    yield each
                passes = False
            if each is function:
                return
            child = each

    def _names(self, scope: cst.CSTNode) -> Counter[str]:
        if scope not in self._bound:
            found: Counter[str] = Counter()
            outside: set[str] = set()
            self._collect(scope, scope, found, outside)
            for name in outside:
                del found[name]
            self._bound[scope] = found
        return self._bound[scope]

    def _collect(self, node: cst.CSTNode, scope: cst.CSTNode, found: Counter[str], outside: set[str]) -> None:
        for child in self._tree.children(node):
            if isinstance(child, cst.Param):
                found[child.name.value] += 1
            elif isinstance(child, (cst.AssignTarget, cst.For, cst.NamedExpr, cst.AnnAssign, cst.AugAssign)):
                found.update(_targets(child.target))
            elif isinstance(child, cst.CompFor) and not isinstance(scope, _WITHOUT_COMPREHENSIONS):
                found.update(_targets(child.target))
            elif isinstance(child, cst.ImportAlias):
                found[child.evaluated_alias or child.evaluated_name.partition(".")[0]] += 1
            elif isinstance(child, cst.AsName) and not isinstance(self._tree.parents.get(child), cst.ImportAlias):
                found.update(_targets(child.name))
            elif isinstance(child, cst.NameItem) and isinstance(child.name, cst.Name):
                outside.add(child.name.value)
            if isinstance(child, (cst.FunctionDef, cst.ClassDef)):
                found[child.name.value] += 1
            elif not isinstance(child, cst.Lambda) and not (isinstance(child, _COMPREHENSIONS) and child is not scope):
                self._collect(child, scope, found, outside)


_ASSIGNS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)
_COMPREHENSIONS = (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)
_WITHOUT_COMPREHENSIONS = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, *_COMPREHENSIONS)


def _targets(target: cst.CSTNode) -> list[str]:
    """The names that an assignment to a target binds."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in _targets(element.value)]
    return []
