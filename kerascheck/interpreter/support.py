"""What the parts of the interpreter share: limits, values of its own, and the joining of ways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

import libcst as cst

from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Class,
    Const,
    Counter,
    Dataset,
    Function,
    Group,
    Made,
    Mapping,
    Method,
    Scope,
    SeenModule,
    Stage,
    Tensor,
    Union,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import ARRAY_MAKERS
from kerascheck.knowledge.classes import KERAS_TENSOR, MODEL, MODEL_GET_LAYER, class_of
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.python import CLOCKS, LISTS_OF_TEXTS, TEXTS

MAX_DEPTH = 24
MAX_VISITS = 24
MAX_CALLS = 2500
MAX_OPTIONS = 8
# Short ones count by their length: projects with a file for each function are no larger than others.
MAX_MODULES = 32
A_WHOLE_MODULE = 6000
MAX_ALIKE = 64
MAX_IMPORT_DEPTH = 5
_DERIVATIVES = frozenset({"gradient", "jacobian", "batch_jacobian"})
Node = TypeVar("Node", bound=cst.CSTNode)
Found = TypeVar("Found")

_SCALES = frozenset({"get_scaled_loss", "scale_loss"})


class _Missing(Value):
    """What a variable is that has no value."""

    __slots__ = ()


MISSING = _Missing()


class Imported(Value):
    """``from module import name`` of the tree, looked up when it is first used."""

    __slots__ = ("module", "name")

    def __init__(self, module: SeenModule, name: str):
        self.module, self.name = module, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imported) and (self.module, self.name) == (other.module, other.name)


class SuperValue(Value):
    """``super()`` inside a method."""

    __slots__ = ("cls", "instance")

    def __init__(self, instance: Value, cls: Class):
        self.instance, self.cls = instance, cls


def join(first: Value, second: Value) -> Value:
    """What a variable may be after two ways of the program meet."""
    if first is second or first == second:
        return first
    options: list[Value] = []
    for option in options_of(first) + options_of(second):
        for place, other in enumerate(options):
            if option == other:
                break
            if isinstance(option, Dataset) and isinstance(other, Dataset):
                longer = _extension(option.stage, other.stage) or _extension(other.stage, option.stage)
                if longer is not None:
                    options[place] = Dataset(longer)
                    break
        else:
            options.append(option)
    if len(options) == 1:
        return options[0]
    return Union(tuple(options)) if len(options) <= MAX_OPTIONS else UNKNOWN


def _extension(base: Stage, longer: Stage) -> Stage | None:
    """``longer`` with the operations that it adds to ``base`` marked as maybe applied; None if it does not extend it."""
    added: list[Stage] = []
    for stage in longer.upstream():
        if stage is base or (stage.identity is base.identity and stage.input is base.input):
            result = base
            for extra in reversed(added):
                result = Stage(
                    extra.module,
                    extra.node,
                    extra.name,
                    extra.call,
                    (result, *extra.inputs[1:]),
                    extra.scope,
                    maybe=True,
                    facts=extra.facts,
                    function=extra.function,
                    origin=extra.identity,
                )
            return result
        added.append(stage)
    return None


def dotted_name(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def is_test(function: Function) -> bool:
    """A unit test: nothing in it trains for its results."""
    if function.name.startswith("test_") or function.name in ("setUp", "setUpClass"):
        return True
    owner = function.owner
    return owner is not None and any(name.rpartition(".")[2] == "TestCase" for name in owner.external_bases())


def any_of(values: Iterable[Value]) -> Value:
    """What one of several values may be; UNKNOWN where there are none."""
    merged: Value | None = None
    for value in values:
        merged = value if merged is None else join(merged, value)
    return UNKNOWN if merged is None else merged


def literal_of(node: cst.BaseExpression) -> Const | None:
    """The constant that an expression spells out."""
    if isinstance(node, cst.Name):
        return {"True": Const(True), "False": Const(False), "None": Const(None)}.get(node.value)
    if isinstance(node, cst.Integer):
        return Const(node.evaluated_value)
    value = text_of(node) if isinstance(node, cst.SimpleString) else None
    return None if value is None else Const(value)


def text_of(node: cst.SimpleString | cst.ConcatenatedString) -> str | bytes | None:
    """The value of a literal; None where an expression stands in it, or where Python refuses what libcst reads, such as ``"\\U"``."""
    try:
        return node.evaluated_value
    except SyntaxError:
        return None


def fields_of(cls: Class) -> list[str]:
    """The annotated fields of a class and its bases in the tree, in the order of a generated constructor."""
    names: dict[str, None] = {}
    for base in reversed([base for base in cls.ancestry() if isinstance(base, Class)]):
        for line in base.node.body.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                    names[statement.target.value] = None
    return list(names)


def reading_of(value: Value | None) -> Value | None:
    """The reading of a clock that a value is, or the last one of a list or an array of them; None for all other values."""
    if isinstance(value, Made) and value.name in ("numpy.array", "numpy.asarray") and value.call is not None:
        value = value.call.first
    items = value.items if isinstance(value, Group) else [value]
    return items[-1] if items and all(isinstance(item, Made) and item.name in CLOCKS for item in items) else None


def is_number(value: Value) -> bool:
    """A Python number, known or not."""
    return isinstance(value, Const) or (isinstance(value, Made) and value.name in ("builtins.int", "builtins.float"))


def is_text(value: Value) -> bool:
    """A Python text, known or not; also one of several."""
    return all(
        isinstance(constant(option), str) or isinstance(option, Made) and option.name == "builtins.str"
        for option in options_of(value)
    )


def computed(name: str, *values: Value) -> Made:
    """A Python number or text that is computed from values, which it remembers: another one in each turn of the innermost loop that changes one of these."""
    loops = [
        option.loop
        for value in values
        for option in flat(value)
        if isinstance(option, Counter) and option.loop is not None
    ]
    operands: dict[str, Value] = {"operands": Group("tuple", list(values))}
    return Counter(name, None, operands, max(loops, key=_depth)) if loops else Made(name, None, operands)


def _depth(scope: Scope) -> int:
    return sum(1 for _ in scope.chain())


def item_of_turn(items: list[Value], loop: Scope) -> Value:
    """What a loop over a list gets in each turn: another text, or another of so many numbers, where it is no more than that."""
    item = any_of(items)
    kinds = {
        "builtins.str" if is_text(each) else "builtins.float" if type(constant(each)) in (int, float) else None
        for each in items
    }
    written = all(isinstance(option, Const) for option in options_of(item))
    kind = kinds.pop() if len(kinds) == 1 else None
    return item if kind is None or written else Counter(kind, loop=loop)


def differentiated(module: SeenModule, node: cst.FunctionDef | cst.Lambda | cst.Module) -> set[str]:
    """The names in a function, or module, that a tape made there is asked for the gradients of: whatever made them, they are tensors.

    With a loss that is scaled for that also the loss itself.
    """
    nodes = list(
        module.tree.descendants(node.body) if isinstance(node, cst.FunctionDef) else module.tree.descendants(node)
    )
    entered = [item for each in nodes if isinstance(each, cst.With) for item in each.items]
    tapes = {
        dotted_name(item.asname.name)
        for item in entered
        if item.asname is not None
        and isinstance(item.item, cst.Call)
        and dotted_name(item.item.func).endswith("GradientTape")
    }
    calls = [
        (each, each.func)
        for each in nodes
        if isinstance(each, cst.Call) and isinstance(each.func, cst.Attribute) and each.args
    ]
    found: set[str] = set()
    for call, function in calls:
        if function.attr.value in _DERIVATIVES and dotted_name(function.value) in tapes:
            target = next(
                (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "target"),
                call.args[0].value,
            )
            found |= (
                {dotted_name(each.value) for each in target.elements}
                if isinstance(target, (cst.List, cst.Tuple))
                else {dotted_name(target)}
            )
    for call, function in calls:
        holder = module.tree.parents.get(call)
        if (
            function.attr.value in _SCALES
            and isinstance(holder, cst.Assign)
            and dotted_name(holder.targets[0].target) in found
        ):
            found.add(dotted_name(call.args[0].value))
    return found


def is_array(value: Value) -> bool:
    """Whether a value comes out of NumPy, OpenCV, or a function of Keras that gives arrays, or may."""
    return any(
        isinstance(option, Made) and (option.name.startswith(("numpy.", "cv2.")) or option.name in ARRAY_MAKERS)
        for option in options_of(value)
    )


def derived(*values: Value) -> Made:
    """An array computed from others, which it remembers."""
    return Made("numpy.ndarray", None, {"operands": Group("tuple", list(values))})


def is_symbolic(value: Value, depth: int = 2) -> bool:
    """Whether a value is, or holds, what functional models are built from: the output of a layer called on ``keras.Input``."""
    for option in options_of(value):
        if isinstance(option, Made) and option.name == KERAS_TENSOR:
            return True
        if isinstance(option, Method) and option.name in ("output", "outputs", "input", "inputs"):
            inner = option.receiver
            if isinstance(inner, Made) and (
                class_of(inner.name) == MODEL or inner.name.startswith((LAYERS, MODEL_GET_LAYER))
            ):
                return True
        if depth and isinstance(option, Group) and any(is_symbolic(item, depth - 1) for item in option.items):
            return True
        if (
            depth
            and isinstance(option, Mapping)
            and any(is_symbolic(item, depth - 1) for item in option.items.values())
        ):
            return True
    return False


def parameters_of(parameters: cst.Parameters) -> Iterator[cst.Param]:
    yield from (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)


def spread(function: Function, tensors: bool, bound: Collection[str] = ()) -> Arguments:
    """One argument for every parameter that has no default and is not bound by its name, as a library would pass them."""
    parameters = [*function.node.params.posonly_params, *function.node.params.params]
    if function.receiver is not None:
        parameters = parameters[1:]
    count = sum(parameter.default is None and parameter.name.value not in bound for parameter in parameters)
    return Arguments(
        [Tensor("parameter") if tensors else UNKNOWN for _ in range(count)], unknown_positional=not tensors
    )


def bound_arguments(bound: Arguments, passed: Arguments) -> Arguments:
    return Arguments(
        [*bound.positional, *passed.positional],
        {**bound.keywords, **passed.keywords},
        passed.nodes
        if not bound.positional
        else {key: node for key, node in passed.nodes.items() if isinstance(key, str)},
        bound.unknown_positional or passed.unknown_positional,
        bound.unknown_keywords or passed.unknown_keywords,
    )


def traced_arguments(arguments: Arguments) -> Arguments:
    """What ``call`` gets when its layer is called on the symbols of a functional model: the tensors of a trace."""

    def traced(value: Value) -> Value:
        if isinstance(value, Made) and value.name == KERAS_TENSOR:
            return Tensor("parameter")
        if isinstance(value, Group):
            return Group(value.kind, [traced(item) for item in value.items], value.open)
        if isinstance(value, Mapping):
            return Mapping({key: traced(item) for key, item in value.items.items()}, value.open)
        return value

    return Arguments(
        [traced(value) for value in arguments.positional],
        {key: traced(value) for key, value in arguments.keywords.items()},
        arguments.nodes,
        arguments.unknown_positional,
        arguments.unknown_keywords,
    )


def without_first(arguments: Arguments) -> Arguments:
    """What is left for a function that gets the first argument in another way."""
    return replace(arguments, positional=arguments.positional[1:], keywords=dict(arguments.keywords), nodes={})


def as_texts(name: str, given: Iterable[Value]) -> Value | None:
    """The text, or the list of texts, that Python makes of what a function of this name is given.

    None where it makes something else.
    """
    if name in TEXTS:
        return computed("builtins.str", *given)
    # The methods, which take a text apart; what a file or folder holds does not depend on what is given.
    takes_apart = name in LISTS_OF_TEXTS and name.startswith("builtins.str.")
    return Group("list", [computed("builtins.str", *given)], open=True) if takes_apart else None


def remembered(module: SeenModule, node: Node, find: Callable[[SeenModule, Node], Found]) -> Found:
    """What ``find`` says of a node, found once: the same loop is met on many ways."""
    key = (find.__name__, node)
    if key not in module.memory:
        module.memory[key] = find(module, node)
    found: Found = module.memory[key]
    return found
