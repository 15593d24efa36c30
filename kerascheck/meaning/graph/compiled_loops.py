"""Compiled functions in loops: their creation, and the arguments of each iteration."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Compilation,
    Constant,
    DatasetOp,
    DictValue,
    ExecutionPath,
    ExternalInstance,
    Function,
    IteratorValue,
    LoopVariable,
    SequenceValue,
    Value,
    constant,
    datasets_in,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import PY_FUNCTIONS, having
from kerascheck.knowledge.python import BUILTINS
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.data.mapped_functions import SIZING
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.graph.training_loops import counting_branch
from kerascheck.meaning.program.loops import loop_that_changes, most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.written import assignment, last_name

FEW_TRACES = 10
"""Up to this many traces are harmless: the loop is over configurations, devices or layers."""
# Functions that return a new Python number, not one of NumPy or TensorFlow, with every call.
_DRAWS = frozenset(
    {
        "random.random", "random.uniform", "random.randint", "random.randrange", "random.gauss", "random.normalvariate", "random.betavariate",
        "numpy.random.uniform", "numpy.random.rand", "numpy.random.randn", "numpy.random.random", "numpy.random.normal", "numpy.random.randint",
        "numpy.random.beta", "time.time", "time.perf_counter",
    }
)  # fmt: skip
# These take a size for each axis, and return an array in that case.
_OF_SIZES = frozenset({"numpy.random.rand", "numpy.random.randn"})
_KEEP_SHAPES = frozenset("prefetch cache take skip repeat shuffle with_options enumerate distribute shard".split())
_JOINING = having(Trait.JOINS) | {"numpy.concatenate", "numpy.append", "numpy.hstack", "numpy.vstack"}


class TurnKind(enum.Enum):
    """The kind of a Python value that differs between the iterations of a loop."""

    NUMBER = enum.auto()
    STRING = enum.auto()
    VALUE = enum.auto()
    """A number or a string."""
    STRINGS = enum.auto()
    """A list or tuple that contains strings."""
    VALUES = enum.auto()
    """A list or tuple that contains numbers or strings."""


@dataclass(frozen=True, slots=True)
class TurnArgument:
    """An argument that makes a compiled function retrace.

    Attributes:
        call: the call of the function, as Python makes it.
        arg: the syntax of the argument.
        loop: the loop whose iterations change its value or shape.
        cause: the place that changes it; None for the loop itself.
        kind: the kind of a Python value.
        is_constant: whether ``tf.constant`` can convert the whole argument to a tensor: a number or string, or a list
            of them.
    """

    call: Call
    arg: cst.Arg
    loop: ExecutionPath
    cause: Call | DatasetOp | None = None
    kind: TurnKind = TurnKind.NUMBER
    is_constant: bool = True


def compiled_in_iterations(module: Module) -> Iterator[tuple[Compilation, ExecutionPath, Call]]:
    """Functions that every iteration of a loop passes to tf.function and calls once: place, loop, and call.

    If an inner loop of the iteration calls the function repeatedly, the trace pays for itself.
    """
    for made in module.run.compilations:
        loop = made.path.innermost_loop(within="program", comprehensions=False)
        if loop is None or made.how != "tf.function" or most_iterations(made.path) <= FEW_TRACES:
            continue
        if any(made.path.conditions(within=loop)) or _is_kept(made):
            continue
        uses = [entry for entry in module.run.entries if _is_call_of(entry, made) and entry.path.is_in(loop)]
        if uses and all(entry.path.innermost_loop(within="program") is loop for entry in uses):
            yield made, loop, uses[0]


def _is_call_of(entry: Call, made: Compilation) -> bool:
    if isinstance(entry.receiver, Function) and isinstance(made.function, Function):
        return entry.receiver.node is made.function.node and entry.receiver.options is made.function.options
    return entry.receiver is made.function


def _is_kept(made: Compilation) -> bool:
    """Whether the result may outlive the iteration: in an attribute or item, or in a cache around its creator."""
    assigned = assignment(made.module.tree.parents.get(made.node))
    if assigned is not None and not all(isinstance(target, cst.Name) for target in assigned.targets):
        return True
    for frame in made.path.frames():
        node = frame.function.node if frame.function is not None else None
        for decorator in node.decorators if isinstance(node, cst.FunctionDef) else ():
            if any(
                isinstance(name, cst.Name) and "cache" in name.value for name in made.module.tree.descendants(decorator)
            ):
                return True
    return False


def changing_constants(module: Module) -> Iterator[TurnArgument]:
    """Python numbers and strings that change in each of many iterations and make a tf.function retrace each time.

    tf.function compares them by value, also inside lists and tuples (tested with TensorFlow 2.21: five lists of
    strings, five traces).
    """
    for entry in _loop_entries(module):
        if _option(entry, "input_signature") is not None:
            continue
        for key, arg in entry.arguments.nodes.items():
            value = entry.arguments.keywords[key] if isinstance(key, str) else entry.arguments.positional[key]
            loop = _turn_of(value, entry.path)
            # A loop variable restarts with its loop, but a counter continues.
            if loop is None:
                loop, values = _counted(arg.value, value, entry.path), most_iterations(entry.path)
            else:
                values = float("inf") if loop.trips is None else loop.trips
            if (
                loop is not None
                and values > FEW_TRACES
                and not _is_python(entry, key)
                and counting_branch(entry.path, loop) is None
            ):
                is_list = (
                    isinstance(value, SequenceValue)
                    and value.kind == "list"
                    and all(isinstance(item, (LoopVariable, Constant)) for item in value.items)
                )
                yield TurnArgument(
                    entry,
                    arg,
                    loop,
                    kind=_kind(value),
                    is_constant=is_list or not isinstance(value, (SequenceValue, DictValue)),
                )


def _kind(value: Value | None) -> TurnKind:
    kinds = {leaf.name for leaf in flat(value) if isinstance(leaf, LoopVariable)}
    if not kinds & {"builtins.str", "builtins.object"}:
        return TurnKind.NUMBER
    if "builtins.str" in kinds:
        return TurnKind.STRINGS if isinstance(value, SequenceValue) else TurnKind.STRING
    return TurnKind.VALUES if isinstance(value, SequenceValue) else TurnKind.VALUE


def changing_shapes(module: Module) -> Iterator[TurnArgument]:
    """Tensors and arrays whose shape changes in each of many iterations and makes a tf.function retrace each time."""
    for entry in _loop_entries(module):
        relaxed = [
            _option(entry, name)
            for name in ("reduce_retracing", "experimental_relax_shapes", "experimental_follow_type_hints")
        ]
        if (
            not _is_for_xla(entry)
            and _option(entry, "input_signature") is None
            and not any(constant(value, value is not None) for value in relaxed)
        ):
            yield from _first_reshaped(module, entry)


def shapes_for_xla(module: Module) -> Iterator[TurnArgument]:
    """The same arguments of functions with ``jit_compile=True``, which XLA compiles for each shape.

    A signature or ``reduce_retracing`` does not prevent that.
    """
    for entry in _loop_entries(module):
        if _is_for_xla(entry):
            yield from _first_reshaped(module, entry)


def _is_for_xla(entry: Call) -> bool:
    return any(constant(_option(entry, name)) is True for name in ("jit_compile", "experimental_compile"))


def _first_reshaped(module: Module, entry: Call) -> Iterator[TurnArgument]:
    for arg in entry.arguments.nodes.values():
        found = _reshaped(module, entry, arg)
        if (
            found is not None
            and most_iterations(entry.path) > FEW_TRACES
            and counting_branch(entry.path, found.loop) is None
        ):
            yield found
            break


def _loop_entries(module: Module) -> Iterator[Call]:
    if module.once(Program).runs_eagerly:
        return
    for entry in module.run.entries:
        how = entry.receiver.traced if isinstance(entry.receiver, Function) else "tf.function"
        if (
            how == "tf.function"
            and entry.path.innermost_loop(within="program") is not None
            and _option(entry, "autograph") is not UNKNOWN
        ):
            yield entry


def _option(entry: Call, name: str) -> Value | None:
    """An option passed to tf.function; None if it is absent or None."""
    receiver = entry.receiver
    options = (
        receiver.options
        if isinstance(receiver, Function)
        else receiver.call
        if isinstance(receiver, ExternalInstance)
        else None
    )
    value = options.given(name) if options is not None else None
    return None if isinstance(value, Constant) and value.value is None else value


def _is_python(entry: Call, key: int | str) -> bool:
    """Whether the function uses a parameter in Python while it is being traced.

    Such uses select an item, count iterations, or read a string.
    """
    function = entry.receiver
    if not isinstance(function, Function):
        return False
    parameters = [
        parameter.name.value for parameter in (*function.node.params.posonly_params, *function.node.params.params)
    ][function.receiver is not None :]
    name = key if isinstance(key, str) else parameters[key] if key < len(parameters) else None
    value = entry.arguments.get(None if isinstance(key, str) else key, key if isinstance(key, str) else None)
    return (
        name is not None
        and value is not None
        and _reads_in_python(
            function.module.tree, function.node, name, _kind(value) is not TurnKind.NUMBER, {function.node}
        )
    )


def _reads_in_python(
    tree: Tree, function: cst.FunctionDef | cst.Lambda, name: str, text: bool, seen: set[cst.CSTNode]
) -> bool:
    for node in tree.descendants(function.body):
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        holder = tree.parents.get(node)
        if isinstance(holder, cst.Index) or any(
            isinstance(outer, cst.Call) and isinstance(outer.func, cst.Name) and outer.func.value == "range"
            for outer in tree.ancestors(node)
        ):
            return True
        # A tensor is neither a string nor a dictionary key.
        if text and (
            isinstance(
                holder, (cst.Comparison, cst.ComparisonTarget, cst.BinaryOperation, cst.FormattedStringExpression)
            )
            or isinstance(holder, cst.Attribute)
            and holder.value is node
        ):
            return True
        if not text or not isinstance(holder, cst.Arg):
            continue
        call = tree.parents.get(holder)
        if not isinstance(call, cst.Call):
            continue
        called = last_name(call.func)
        builtin = isinstance(call.func, cst.Name) and called in BUILTINS
        if (
            holder.keyword is not None
            and holder.keyword.value == "name"
            or builtin
            or "summary" in tree.code_of(call.func)
        ):
            return True
        helper = next((each for each in tree.functions if each.name.value == called and each not in seen), None)
        if helper is not None and holder.keyword is None:
            seen.add(helper)
            given = [parameter.name.value for parameter in (*helper.params.posonly_params, *helper.params.params)]
            place = call.args.index(holder) + (given[:1] == ["self"])
            if place < len(given) and _reads_in_python(tree, helper, given[place], text, seen):
                return True
    return False


def _turn_of(value: Value, path: ExecutionPath) -> ExecutionPath | None:
    """The loop around ``path`` with a different Python number or string in each iteration; None if there is none.

    The value may be inside a structure.
    """
    around = set(path.loops(within="program"))
    for option in flat(value):
        if isinstance(option, LoopVariable):
            loop = option.loop
        elif (
            isinstance(option, ExternalInstance)
            and option.name in _DRAWS
            and option.call is not None
            and _is_number(option.call)
        ):
            loop = option.call.path.innermost_loop(within="program")
        else:
            continue
        if loop in around:
            return loop
    return None


def _is_number(call: Call) -> bool:
    if call.name in _OF_SIZES:
        return not call.arguments.positional
    return "size" not in call.signature or call.given("size") is None


def _counted(expression: cst.BaseExpression, value: Value, path: ExecutionPath) -> ExecutionPath | None:
    """The innermost loop of the function that increments the variable of an expression."""
    if not isinstance(expression, cst.Name) or not any(
        isinstance(constant(option), (int, float)) and not isinstance(constant(option), bool)
        for option in options_of(value)
    ):
        return None
    for loop in path.loops(within="function"):
        for node in path.module.tree.descendants(loop.node) if loop.module is path.module else ():
            # A product takes few values.
            if not isinstance(node, cst.AugAssign):
                continue
            counts = isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign))
            if counts and isinstance(node.target, cst.Name) and node.target.value == expression.value:
                return next(
                    (
                        inner
                        for inner in path.loops(within="function")
                        if any(node is each for each in inner.module.tree.descendants(inner.node))
                    ),
                    loop,
                )
    return None


def _reshaped(module: Module, entry: Call, arg: cst.Arg) -> TurnArgument | None:
    loop = loop_that_changes(arg.value, entry.path)
    if loop is None:
        return None
    for dataset in datasets_in(loop.value):
        stage = open_padding(dataset.stage)
        if stage is not None and not _is_padded_alike(stage, arg.value, loop.node):
            return TurnArgument(entry, arg, loop, stage)
    if _is_growing_slice(arg.value, entry.path):
        return TurnArgument(entry, arg, loop)
    growing = _growing(module, arg.value, loop)
    return TurnArgument(entry, arg, loop, growing) if growing is not None else None


def open_padding(stage: DatasetOp) -> DatasetOp | None:
    """The operation that pads each batch to its longest element; None for fixed or unknown shapes."""
    for current in stage.upstream():
        if current.name == "padded_batch":
            shapes = current.given("padded_shapes")
            # Python in an earlier map may have made all lengths equal.
            before = {
                call.name for stage in current.upstream() if stage.facts is not None for call in stage.facts.calls
            }
            # TensorFlow may have done so too, if no shape has an open axis.
            hidden = not before.isdisjoint(PY_FUNCTIONS) or shapes is None and not before.isdisjoint(SIZING)
            return current if not hidden and (shapes is None or _holds_none(shapes)) else None
        if current.name == "bucket_by_sequence_length":
            to_boundary = current.given("pad_to_bucket_boundary")
            return current if constant(to_boundary or Constant(False)) is False else None
        if current.name not in _KEEP_SHAPES:
            return None
    return None


def _is_padded_alike(stage: DatasetOp, expression: cst.BaseExpression, loop: cst.CSTNode) -> bool:
    """Whether an expression is a part of each batch that a loop unpacks, and its padded shape has no open axis."""
    targets, shape = getattr(loop, "target", None), stage.given("padded_shapes")
    if (
        not isinstance(targets, cst.Tuple)
        or not isinstance(shape, SequenceValue)
        or shape.open
        or len(shape.items) != len(targets.elements)
    ):
        return False
    return any(
        alike(element.value, expression) and not _holds_none(part)
        for element, part in zip(targets.elements, shape.items)
    )


def _holds_none(value: Value) -> bool:
    if isinstance(value, SequenceValue):
        return any(_holds_none(item) for item in value.items)
    return isinstance(value, Constant) and value.value in (None, -1)


def _is_growing_slice(expression: cst.BaseExpression, path: ExecutionPath) -> bool:
    """``x[:, :i]`` where ``i`` counts the iterations."""
    if not isinstance(expression, cst.Subscript):
        return False
    for loop in path.loops(within="function"):
        if not (
            isinstance(loop.node, cst.For)
            and isinstance(loop.node.target, cst.Name)
            and isinstance(loop.value, IteratorValue)
            and loop.value.kind == "range"
        ):
            continue
        for element in expression.slice:
            cut = element.slice
            if isinstance(cut, cst.Slice) and cut.lower is None and cut.upper is not None:
                if any(
                    isinstance(node, cst.Name) and node.value == loop.node.target.value
                    for node in path.module.tree.descendants(cut.upper)
                ):
                    return True
    return False


def _growing(module: Module, expression: cst.BaseExpression, loop: ExecutionPath) -> Call | None:
    """Match ``x = tf.concat([x, y], 0)`` in the same loop, if no other statement there sets ``x``."""
    if not isinstance(expression, cst.Name):
        return None
    tree = loop.module.tree
    setting = [
        node.target
        for node in tree.descendants(loop.node)
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign))
        and isinstance(node.target, cst.Name)
        and node.target.value == expression.value
    ]
    for call in module.once(Pipelines).calls_in(loop):
        assigned = assignment(tree.parents.get(call.node)) if call.module is loop.module else None
        if (
            call.name not in _JOINING
            or assigned is None
            or len(setting) != 1
            or setting[0] not in assigned.targets
            or any(call.path.conditions(within=loop))
        ):
            continue
        if (
            not isinstance(call.node, cst.Call)
            or not call.node.args
            or call.path.innermost_loop(within="program") is not loop
        ):
            continue
        pieces = call.node.args[0].value
        parts = (
            [element.value for element in pieces.elements] if isinstance(pieces, (cst.List, cst.Tuple)) else [pieces]
        )
        if any(isinstance(part, cst.Name) and part.value == expression.value for part in parts):
            return call
    return None
