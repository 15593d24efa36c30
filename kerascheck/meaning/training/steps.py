"""Hand-written training steps: the tape of an update, the loop around it, and reasons against compiling it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    Method,
    ModuleLike,
    Value,
    flat,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.callables import COMPILED_LOADERS, TENSOR_LIBRARIES, VARIABLE
from kerascheck.knowledge.classes import CLONE_MODEL, GRADIENT_TAPE_GRADIENT, GRADIENT_TAPE_WATCH, MODEL_CALL
from kerascheck.knowledge.name_heuristics import EAGER_NAMES, ENVIRONMENTS
from kerascheck.knowledge.namespaces import (
    KERAS_BACKEND,
    KERAS_OPS,
    OF_KERAS_LOSSES,
    OF_KERAS_OPTIMIZER,
    OF_KERAS_OPTIMIZERS,
    TENSORFLOW,
)
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.games import steps_environment
from kerascheck.meaning.data.mapped_functions import Created, creates_state
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.graph.compiled_twins import CompiledTwins
from kerascheck.meaning.graph.trace_state import is_captured
from kerascheck.meaning.graph.traced_code import asks_for_mode
from kerascheck.meaning.program.lent_gradients import is_part_of_steps, lent_gradients
from kerascheck.meaning.program.loops import A_FEW_STEPS, SHORT_LOOP, most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.program.tapes import Tape, seen_from, tape_of
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import last_name

# Redrawing a window takes longer than a step whose progress a person watches.
_SHOWING = frozenset({"matplotlib.pyplot.pause", "matplotlib.pyplot.show", "matplotlib.pyplot.draw"})
# Keras' names for the variables of a layer or model.
_WEIGHTS = re.compile(r"\.(?:trainable_)?(?:variables|weights)\b")
_OPERATIONS = (
    TENSORFLOW,
    "numpy.",
    "math.",
    "builtins.",
    KERAS_BACKEND,
    OF_KERAS_LOSSES,
    KERAS_OPS,
    OF_KERAS_OPTIMIZERS,
    OF_KERAS_OPTIMIZER,
)


@dataclass(frozen=True, slots=True)
class EagerStep:
    """A training step that runs operation by operation.

    Attributes:
        module, node: the ``def`` of the step. For a step inside the loop, the ``with tf.GradientTape()`` or the
            statement that calls its function.
        is_function: whether the node is the ``def``.
        lending: the tape of a function whose caller passes its gradients to another function, which applies them; None
            if the step updates the weights itself.
        update: the call that updates the weights.
        loop: the loop that runs the step.
        turns: the maximum number of runs; infinite if unknown.
        needs_python: whether its function also does something that a graph cannot do, such as drawing with NumPy or
            playing a game.
        is_compiled_in_part: whether it calls a tf.function under its tape, or a model whose ``call`` is one.
        takes_optimizers: whether its function receives different optimizers. Each creates its variables in its first
            step, but a tf.function may create them only in its first call.
        may_be_meant: whether the code shows a reason for eager execution. Reasons are its name, a condition on the
            mode, the same lines in a tf.function of the file, or a library with unknown code that calls the model.
            Further reasons are ``variable.assign_sub(rate * gradient)`` instead of
            an optimizer, updates of the model's inputs instead of its weights, and a number for the optimizer in each
            iteration that a trace would freeze.
        makes: the object with variables that its function or iteration creates each time, which a tf.function forbids.
        computes_outside: the call that takes tensors out of the graph under its tape (a function of NumPy or
            ``.numpy()``), or the one with which a model's ``call`` draws: "np.unique", ...
        reads: the first call in the step that reads a tensor's values, under its tape or beside it, which raises an
            error in a tf.function.
    """

    module: ModuleLike
    node: cst.CSTNode
    is_function: bool
    lending: CodeLocation | None
    update: Call
    loop: ExecutionPath
    turns: float
    needs_python: bool
    is_compiled_in_part: bool
    takes_optimizers: bool
    may_be_meant: bool
    makes: Created | None
    computes_outside: str | None
    reads: Call | None


def eager_steps(module: Module) -> Iterator[EagerStep]:
    """The distinct hand-written steps that a loop runs and nothing on the path compiles.

    Excludes steps that are compiled somewhere, steps with an unknown decorator, loops of a few iterations, and steps
    that drive a Python environment.
    """
    updates = _updates(module)
    compiled = {call.node for call in updates if call.path.traced_by()}
    twins = CompiledTwins(module)
    seen, known = set(), []
    for call in updates:
        if call.node in compiled or not _is_looped(call) or twins.cover(call):
            continue
        tape = tape_of(module, call)
        if tape is None:
            continue
        known.append(tape)
        step = _eager_step(module, call, tape, call)
        if step is not None and step.node not in seen:
            seen.add(step.node)
            yield step
    for lent in lent_gradients(module, updates):
        if not _is_looped(lent.gradient) or twins.cover(lent.gradient) or is_part_of_steps(lent, known):
            continue
        step = _eager_step(module, lent.gradient, lent.tape, lent.update)
        if step is not None and step.node not in seen:
            seen.add(step.node)
            yield step


def _updates(module: Module) -> list[Call]:
    """The calls that update the weights of a model, by an optimizer or by hand."""
    program = module.once(Program)
    return [*program.updates, *program.assigned_updates]


def _is_looped(call: Call) -> bool:
    """Whether a loop of more than a few iterations runs a call."""
    return most_iterations(call.path) > A_FEW_STEPS and call.path.innermost_loop(within="program") is not None


def _has_to_stay_eager(
    module: Module, call: Call, tape: Tape, inner: ExecutionPath | None, loop: ExecutionPath
) -> bool:
    """Whether a step cannot be compiled, or gains nothing by it.

    Args:
        inner: the loop around the tape in its own function.
        loop: the same loop, or the loop that calls the function.
    """
    frame = tape.frame
    pipelines = module.once(Pipelines)
    region = inner if inner is not None else frame
    # In a program that plays a game, a step can be compiled only in two cases. It is a separate function of pure
    # TensorFlow, or it has a loop that does not play.
    if _drives_environment(module, list(call.path.frames())) and (
        any(map(steps_environment, pipelines.calls_in(inner)))
        if inner is not None
        else _needs_python(module, frame, before=call.order)
    ):
        return True
    # Beside a whole fit in the same iteration, one step takes negligible time.
    if any(
        other.path.traced_by() is None and other.path.is_in(loop)
        for other in module.once(Program).model_calls("fit", "fit_generator")
    ):
        return True
    # A graph cannot copy a model that each iteration copies.
    if any(other.path.is_in(region) for other in module.once(CallIndex).named(CLONE_MODEL)):
        return True
    if any(
        other.name in _SHOWING and not any(other.path.conditions(within=loop)) for other in pipelines.calls_in(loop)
    ):
        return True
    around = inner.node if inner is not None else frame.function.node if frame.function is not None else None
    return around is None or _asks_environment(region.module.tree, around) or _acts_on_values(module, tape.call)


def _written_as(tape: Tape, inner: ExecutionPath | None) -> tuple[ModuleLike, cst.CSTNode]:
    """The statement of a step, or the function that contains only the step, and its module."""
    function = tape.frame.function
    if inner is not None or function is None or isinstance(function.node, cst.Lambda):
        return tape.path.module, tape.path.module.tree.statement(tape.node)
    return function.module, function.node


def _eager_step(module: Module, call: Call, tape: Tape, update: Call) -> EagerStep | None:
    """The step from a tape to a call that applies or returns its gradients; None if compiling it would not pay off."""
    frame = tape.frame
    if any(_calls_saved_model(module, each) for each in {frame, tape.call.path.frame}):
        return None
    # A tutorial on one number and its gradient takes as long when compiled.
    if most_iterations(call.path) <= SHORT_LOOP and not _runs_layers(module, tape, call):
        return None
    inner = tape.path.innermost_loop(within="function", comprehensions=False)
    loop = inner or frame.innermost_loop(within="program", comprehensions=False)
    if loop is None or _has_to_stay_eager(module, call, tape, inner, loop):
        return None
    written, node = _written_as(tape, inner)
    reads = _readings(module, tape, inner if inner is not None else frame, call)
    is_function = inner is None and frame.function is not None
    return EagerStep(
        written,
        node,
        is_function,
        CodeLocation(tape.path.module, tape.path.module.tree.statement(tape.node)) if call is not update else None,
        update,
        loop,
        most_iterations(call.path),
        needs_python=any(not under for _, under in reads)
        or _needs_python(module, frame)
        or _draws(module, frame)
        or any(steps_environment(other) and frame in other.path.frames() for other in module.run.calls),
        is_compiled_in_part=_calls_compiled(module, tape, call),
        takes_optimizers=is_function and _optimizers(_updates(module), call) > 1,
        may_be_meant=_is_meant(module, call, tape, loop),
        makes=_makes_state(module, inner if inner is not None else frame),
        computes_outside=_computed_outside(module, tape, call, reads),
        reads=reads[0][0] if reads else None,
    )


def _is_meant(module: Module, call: Call, tape: Tape, loop: ExecutionPath) -> bool:
    """Whether the code shows a reason for an eager step."""
    return (
        call.attribute == "assign_sub"
        or _is_named_eager(tape.frame)
        or asks_for_mode(call.path)
        or _sets_hyper(module, loop)
        or call.name != GRADIENT_TAPE_GRADIENT
        and _moves_inputs(module, tape, call)
        or _is_run_by_others(module, tape, call)
        or _is_shown_compiled(module, tape.call)
    )


def _calls_saved_model(module: Module, frame: ExecutionPath) -> bool:
    """Whether a function calls a SavedModel, whose functions are already compiled."""
    return any(
        call.name is not None
        and call.name.startswith(COMPILED_LOADERS)
        and call.attribute == "__call__"
        and call.path.frame is frame
        for call in module.run.calls
    )


def _runs_layers(module: Module, tape: Tape, update: Call) -> bool:
    """Whether code between tape and update may call more than operations: a layer, a model, or unknown code."""
    return any(
        tape.call.order < call.order < update.order and not (call.name or "").startswith(_OPERATIONS)
        for call in module.run.calls
    )


def _calls_compiled(module: Module, tape: Tape, update: Call) -> bool:
    """Whether code between tape and update calls a tf.function, or a model whose ``call`` is one.

    That part is compiled, both forward and backward.
    """
    if any(
        tape.call.order <= entry.order < update.order and tape.frame in entry.path.frames()
        for entry in module.run.entries
    ):
        return True
    return any(
        tape.call.order < call.order < update.order and _is_compiled(option)
        for call in module.run.calls
        for value in (
            (call.receiver,)
            if call.attribute == "__call__"
            else call.arguments.values()
            if call.name is None or call.receiver is None
            else ()
        )
        for option in options_of(value)
    )


def _moves_inputs(module: Module, tape: Tape, update: Call) -> bool:
    """Whether the gradients change inputs instead of weights.

    They are the gradients of watched tensors, or of plain variables beside a Keras model with fixed weights.
    """
    inside = [call for call in module.run.calls if tape.call.order < call.order <= update.order]
    gradients = [call for call in inside if call.name == GRADIENT_TAPE_GRADIENT]
    watched = {_written(call, "tensor") for call in inside if call.name == GRADIENT_TAPE_WATCH}
    if not gradients:
        return False
    if all(
        _written(call, "sources") in watched and not _WEIGHTS.search(_written(call, "sources")) for call in gradients
    ):
        return True
    sources = [source for call in gradients for source in flat(call.given("sources"))]
    return any(call.name == MODEL_CALL for call in inside) and all(
        isinstance(source, ExternalInstance) and source.name == VARIABLE for source in sources
    )


def _is_named_eager(frame: ExecutionPath) -> bool:
    """Whether a function's name says that it lacks tf.function, like ``train_step_eager`` and ``train_no_tf``."""
    return frame.function is not None and EAGER_NAMES.search(frame.function.name) is not None


def _sets_hyper(module: Module, loop: ExecutionPath) -> bool:
    """Whether a loop calls ``optimizer._set_hyper``, because a tf.function would keep the tensor of its trace."""
    return any(call.path.is_in(loop) for call in module.once(CallIndex).of_methods("_set_hyper"))


def _is_shown_compiled(module: Module, tape: Call) -> bool:
    """Whether another tf.function in the file has the same lines under a tape, as in a guide that shows both."""
    tree = tape.module.tree

    def lines(node: cst.CSTNode) -> list[str]:
        return [line.strip() for line in tree.code_of(node).splitlines() if line.strip()]

    own = tree.statement(tape.node)
    name = tape.path.frame.function.name if tape.path.frame.function is not None else None
    # A tape of two lines may occur twice by chance.
    return (
        isinstance(own, cst.With)
        and len(lines(own)) > 2
        and any(
            isinstance(node, cst.With) and node is not own and lines(node) == lines(own)
            for compiled in module.run.compiled
            if isinstance(compiled, cst.FunctionDef) and compiled in tree.parents and compiled.name.value != name
            for node in tree.descendants(compiled.body)
        )
    )


def _is_run_by_others(module: Module, tape: Tape, update: Call) -> bool:
    """Whether an unknown library receives project code to call, between tape and update.

    Then it is unknown whether the step can be traced.
    """
    return any(
        tape.call.order < call.order < update.order
        and call.name is not None
        and not call.name.startswith((*TENSOR_LIBRARIES, "builtins.", "functools."))
        and any(
            isinstance(option, (Function, Method, Instance))
            for value in call.arguments.values()
            for option in options_of(value)
        )
        for call in module.run.calls
    )


def _readings(module: Module, tape: Tape, region: ExecutionPath, update: Call) -> list[tuple[Call, bool]]:
    """The calls that read tensor values in a loop or function with a tape, or in its callees.

    The flag says whether the gradients may depend on the call. That is so under the tape before the update, except in a
    statement that is run for its effect, such as a print.
    """
    tree, around = tape.call.module.tree, tape.call.path.frame
    statement = tree.statement(tape.call.node)
    under = set(tree.descendants(statement.body)) if isinstance(statement, cst.With) else set()
    inside = [call for call in module.run.calls if call.path.is_in(region) and _takes_numbers(call)]
    found = []
    for call in inside:
        node = (
            seen_from(around, call)[0]
            if call.order < update.order and any(each is around for each in call.path.frames())
            else None
        )
        line = tree.statement(node) if node in under else None
        found.append(
            (
                call,
                line is not None
                and not (isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Expr)),
            )
        )
    return found


def _takes_numbers(call: Call) -> bool:
    """Whether a call passes tensors to NumPy, or is their ``numpy``, which needs values that a graph lacks."""
    if call.attribute == "numpy":
        return (call.name or "").startswith(TENSORFLOW) or holds_tensor(call.receiver)
    return (call.name or "").startswith("numpy.") and any(map(holds_tensor, call.arguments.values()))


def _computed_outside(module: Module, tape: Tape, update: Call, reads: list[tuple[Call, bool]]) -> str | None:
    """The NumPy call under a tape that a graph cannot run, or would run only once.

    A function or layer passes tensors to NumPy, as in ``np.unique(ids)``, or a model's ``call`` draws with it.
    """
    drawn = (
        call for call in module.once(CallIndex).with_prefix("numpy.random.")
        if tape.call.order < call.order < update.order
        and call.path.frame not in (tape.frame, tape.call.path.frame, update.path.frame)
        and call.path.frame.function is not None and call.path.frame.function.name == "call"
    )  # fmt: skip
    call = next((call for call, under in reads if under), None) or next(drawn, None)
    if call is None:
        return None
    return ".numpy()" if call.attribute == "numpy" else (call.name or "").replace("numpy.", "np.", 1)


def _written(call: Call, parameter: str) -> str:
    given = call.written(parameter)
    return call.module.tree.code_of(given.value) if given is not None else ""


def _is_compiled(model: Value) -> bool:
    own = (model.cls.member("call") or model.cls.member("__call__")) if isinstance(model, Instance) else None
    return isinstance(own, Function) and own.traced == "tf.function"


def _needs_python(module: Module, frame: ExecutionPath, before: float = inf) -> bool:
    """Whether a function's own calls, up to a point of the program, return Python or NumPy numbers.

    A graph cannot do that.
    """
    return any(
        call.path.frame is frame
        and call.order < before
        and (
            call.attribute in ("predict", "predict_on_batch", "numpy", "step", "sample")
            or (call.name or "").startswith(("numpy.", "random."))
        )
        for call in module.run.calls
    )


def _draws(module: Module, frame: ExecutionPath) -> bool:
    """Whether a function or its callee draws with Python or NumPy, or copies objects: each trace would keep the result.

    Also true if it stores a tensor in an outer list or object, where a trace leaves it without a value, or removes an
    item from an argument.
    """
    if frame.function is not None and any(
        map(partial(_changes_outside, frame.function), frame.function.module.tree.descendants(frame.function.node.body))
    ):
        return True
    return any(
        (call.name or "").startswith(("random.", "numpy.random.", "copy."))
        and frame in call.path.frames()
        or call.attribute == "append"
        and call.path.frame is frame
        and is_captured(call)
        for call in module.run.calls
    )


def _changes_outside(function: Function, node: cst.CSTNode) -> bool:
    """Match ``self.loss = loss``, and ``x.pop("label")`` for a parameter, which tf.function forbids."""
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
        return isinstance(node.target, cst.Attribute)
    method = node.func if isinstance(node, cst.Call) else None
    names = {each.name.value for each in (*function.node.params.posonly_params, *function.node.params.params)}
    return (
        isinstance(method, cst.Attribute)
        and method.attr.value == "pop"
        and isinstance(method.value, cst.Name)
        and method.value.value in names
    )


def _makes_state(module: Module, frame: ExecutionPath) -> Created | None:
    """The object with variables that a function or iteration creates unconditionally.

    A tf.function raises ValueError for it.
    """
    return next(
        (
            made for call in module.run.calls
            if (made := creates_state(call)) is not None
            and call.path.is_in(frame)
            and not any(call.path.conditions(within=frame))
        ),
        None,
    )  # fmt: skip


def _optimizers(updates: list[Call], update: Call) -> int:
    """The number of visible optimizers at one line."""
    used = {
        option.call.node
        for other in updates if other.node is update.node
        for option in options_of(other.receiver) if isinstance(option, ExternalInstance) and option.call is not None
    }  # fmt: skip
    return len(used)


def _drives_environment(module: Module, frames: list[ExecutionPath]) -> bool:
    """Whether one of these functions plays a game or simulation in Python."""
    inside = set(map(id, frames))
    return any(id(call.path.frame) in inside and steps_environment(call) for call in module.run.calls)


def _asks_environment(tree: Tree, region: cst.CSTNode) -> bool:
    """Whether a loop or function calls methods of an environment, judging by its name."""
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and ENVIRONMENTS.search(last_name(node.func.value)) is not None
        for node in tree.descendants(region)
    )


def _acts_on_values(module: Module, tape: Call) -> bool:
    """Whether code under a tape continues with a tensor's Python values: ``actions = space.decode(chosen.numpy())``."""
    tree = tape.module.tree
    statement = tree.statement(tape.node)
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "numpy"
        and is_acted_on(module, tree, node)
        for node in (tree.descendants(statement.body) if isinstance(statement, cst.With) else ())
    )


def is_acted_on(module: Module, tree: Tree, value: cst.CSTNode) -> bool:
    """Whether Python passes a value, or a method's result of it, to code outside of libraries and uses the result.

    The result is then the next state of a game.
    """
    while isinstance(tree.parents.get(value), cst.Attribute) and isinstance(
        tree.parents.get(tree.parents[value]), cst.Call
    ):
        value = tree.parents[tree.parents[value]]
    given = tree.parents.get(value)
    call = tree.parents.get(given) if isinstance(given, cst.Arg) else None
    # The result of a statement such as a log line is unused.
    if not isinstance(call, cst.Call) or isinstance(tree.parents.get(call), cst.Expr):
        return False
    return not any(
        (other.name or "").startswith(("builtins.", "numpy.", *TENSOR_LIBRARIES))
        for other in module.once(CallIndex).at(call)
    )
