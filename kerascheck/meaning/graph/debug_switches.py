"""Debugging switches left on: eager execution, and checks and logs of every operation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, Call, Instance, ModuleLike, Value, constant, options_of
from kerascheck.knowledge.classes import MODEL_SETATTR
from kerascheck.knowledge.datasets import ENABLE_DEBUG_MODE
from kerascheck.knowledge.devices import (
    DEBUGGING_ENABLE_CHECK_NUMERICS,
    DEBUGGING_EXPERIMENTAL_ENABLE_DUMP_DEBUG_INFO,
    DEBUGGING_SET_LOG_DEVICE_PLACEMENT,
    RUN_FUNCTIONS_EAGERLY,
)
from kerascheck.knowledge.namespaces import KERAS, TENSORFLOW
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.graph.first_trace import cannot_be_compiled
from kerascheck.meaning.graph.traced_code import compiled_by
from kerascheck.meaning.models.batches import batches_of
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.program.loops import SHORT_LOOP
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.written import last_name, rows_of_slice, sole_value

_LOGS = DEBUGGING_SET_LOG_DEVICE_PLACEMENT
# Each switch with the keyword of its argument; None for a switch without one. set_synchronous_execution is not listed:
# operations run synchronously by default (get_synchronous_execution() of TensorFlow 2.21).
_SWITCHES: dict[str, str | None] = {
    RUN_FUNCTIONS_EAGERLY: "run_eagerly",
    ENABLE_DEBUG_MODE: None,
    DEBUGGING_ENABLE_CHECK_NUMERICS: None,
    DEBUGGING_EXPERIMENTAL_ENABLE_DUMP_DEBUG_INFO: None,
    _LOGS: "enabled",
}
_EAGER = frozenset({RUN_FUNCTIONS_EAGERLY, ENABLE_DEBUG_MODE})
_SHAPING = frozenset({"set_shape", "ensure_shape", "reshape"})
_KNOWN = (TENSORFLOW, KERAS, "numpy.", "math.", "builtins.")
# Arguments of compile in Keras 2 or 3.
_OF_KERAS = frozenset(
    "optimizer loss loss_weights metrics weighted_metrics run_eagerly steps_per_execution jit_compile auto_scale_loss sample_weight_mode target_tensors distribute pss_evaluation_shards".split()
)


@dataclass(frozen=True, slots=True)
class Switch:
    """An unconditional debugging switch in a program that trains.

    Attributes:
        kind: "function" for one of TensorFlow, "argument" for that of ``compile``, "attribute" for that of a model.
        call: the call that turns it on.
        at: the place of the setting.
        is_removable: for an argument, whether it is in the call itself.
        is_seen: whether all code that it keeps from being compiled is visible, or there is no such code.
        needs_shapes: whether data without a shape requires it.
        is_needed: whether code that cannot be compiled, or data without a shape, requires it.
    """

    kind: str
    call: Call
    at: CodeLocation | Call
    is_removable: bool
    is_seen: bool
    needs_shapes: bool
    is_needed: bool

    @property
    def only_logs(self) -> bool:
        """Whether it only logs and does not affect the work."""
        return self.call.name == _LOGS


def debug_switches(module: Module) -> Iterator[Switch]:
    """The debugging switches of TensorFlow and of models that are on in a program that trains."""
    yield from _functions(module)
    yield from _arguments(module)
    yield from _attributes(module)


def _functions(module: Module) -> Iterator[Switch]:
    switched_off = {
        call.name for call in module.once(CallIndex).named(*_SWITCHES) if constant(call.first, True) is False
    }
    for call in module.once(Program).calls(*_SWITCHES) if module.once(Program).trains else ():
        argument = _SWITCHES[call.name or ""]
        if (
            call.name in switched_off
            or module.once(Program).is_optional(call.path)
            or argument is not None
            and constant(call.given(argument)) is not True
        ):
            continue
        if (
            call.name == RUN_FUNCTIONS_EAGERLY
            and _calls_nothing_compiled(module)
            or not module.once(Program).trains_behind(call)
        ):
            continue
        eager = call.name in _EAGER
        yield Switch(
            "function", call, call, True, not eager or _is_seen(module), False, eager and cannot_be_compiled(module)
        )


def _arguments(module: Module) -> Iterator[Switch]:
    for call in module.once(Program).model_calls("compile"):
        at = _literal(call)
        if (
            at is not None
            and not module.once(Program).is_optional(call.path)
            and not _needs_python(module, call.receiver)
            and not _is_run_for_values(module, call)
            and not _is_tried_out(module, call)
        ):
            shapeless = _takes_any_shape(module)
            yield Switch(
                "argument",
                call,
                at,
                isinstance(call.node, cst.Call) and at.node in call.node.args,
                _is_seen(module, call),
                shapeless,
                shapeless or cannot_be_compiled(module),
            )


def _attributes(module: Module) -> Iterator[Switch]:
    trained = list(module.once(Program).model_calls("fit", "train_on_batch"))
    for call in module.once(Program).calls(MODEL_SETATTR):
        if (
            call.attribute != "run_eagerly"
            or constant(call.given("value")) is not True
            or module.once(Program).is_optional(call.path)
        ):
            continue
        if any(other.receiver is call.receiver and other.order > call.order for other in trained):
            seen = all(
                _is_seen(module, other)
                for other in module.once(Program).model_calls("compile")
                if other.receiver is call.receiver
            )
            shapeless = _takes_any_shape(module)
            yield Switch("attribute", call, call, True, seen, shapeless, shapeless or cannot_be_compiled(module))


def _calls_nothing_compiled(module: Module) -> bool:
    """Whether the program runs neither a tf.function nor a fit, so the switch has no effect."""
    return module.once(Program).steps_eagerly and not any(
        call.path.traced_by() == "tf.function" for call in module.run.calls
    )


def _is_seen(module: Module, compiled: Call | None = None) -> bool:
    """Whether all code to compile is visible: the model, its losses, and the project code that they call."""
    if compiled is not None:
        known = any(each.value is option for each in module.once(models_of) for option in options_of(compiled.receiver))
        if not known or UNKNOWN in options_of(compiled.given("loss")):
            return False
    return all(
        (call.name or "").startswith(_KNOWN)
        for call in module.run.calls
        if compiled_by(call.path) in ("tf.function", "train_step", "call")
    )


def _takes_any_shape(module: Module) -> bool:
    """Whether a Python function supplies data without a shape.

    In a graph, fit raises an error for it (as_list() of an unknown TensorShape, tested with Keras 3.15).
    """
    return any(
        op.feeds_training
        and op.facts.python_function is not None
        and not any((call.name or call.attribute or "").rpartition(".")[2] in _SHAPING for call in op.facts.calls)
        for op in module.once(Pipelines).operations("map")
    )


def _literal(compiled: Call) -> CodeLocation | None:
    """The place of ``run_eagerly=True`` for a compile; None for a name, which is a user option.

    It is in the call, in the dictionary that the call spreads, or in the call of the model's own ``compile`` that
    forwards it.
    """
    written, call, module = compiled.written("run_eagerly"), compiled.node, compiled.module
    own = compiled.path.frame
    if (
        own.function is not None
        and own.function.name == "compile"
        and own.parent is not None
        and isinstance(own.node, cst.Call)
        and constant(compiled.given("run_eagerly")) is True
    ):
        written, call, module = (
            next(
                (arg for arg in own.node.args if arg.keyword is not None and arg.keyword.value == "run_eagerly"), None
            ),
            own.node,
            own.parent.module,
        )
        parameters = (*own.function.node.params.params, *own.function.node.params.kwonly_params)
        if any(
            each.name.value == "run_eagerly" and isinstance(each.default, cst.Name) and each.default.value == "True"
            for each in parameters
        ):
            return None
    elif written is not None and compiled.receiver is UNKNOWN and not _OF_KERAS.issuperset(compiled.arguments.keywords):
        # The model's own method may use it in any way.
        return None
    if written is None and isinstance(call, cst.Call) and constant(compiled.given("run_eagerly")) is True:
        return _in_spread(module, call)
    if written is None or not isinstance(call, cst.Call) or written not in call.args:
        return None
    is_literal = isinstance(written.value, cst.Name) and written.value.value == "True"
    return CodeLocation(module, written) if is_literal else None


def _in_spread(module: ModuleLike, call: cst.Call) -> CodeLocation | None:
    """The literal True under ``run_eagerly`` of a dictionary that a call spreads; None if it is bound more than once."""
    for argument in call.args:
        spread = sole_value(module.tree, argument.value) if argument.star == "**" else None
        if isinstance(spread, cst.Dict):
            for item in spread.elements:
                key = item.key if isinstance(item, cst.DictElement) else None
                if isinstance(key, cst.SimpleString) and key.raw_value == "run_eagerly":
                    return CodeLocation(module, item.value) if last_name(item.value) == "True" else None
        if isinstance(spread, cst.Call) and last_name(spread.func) == "dict":
            for given in spread.args:
                if given.keyword is not None and given.keyword.value == "run_eagerly":
                    return CodeLocation(module, given) if last_name(given.value) == "True" else None
    return None


def _needs_python(module: Module, model: Value) -> bool:
    """Whether the step of a model draws with Python or NumPy, which a graph would do only once."""
    return isinstance(model, Instance) and any(
        function.owner is model.cls and function.name in ("call", "train_step")
        for call in module.once(CallIndex).with_prefix("numpy.random.", "random.")
        for function in call.path.functions()
    )


def _is_tried_out(module: Module, compiled: Call) -> bool:
    """Whether each fit of the model makes so few steps on a part of the data that tracing takes about as long."""
    own = options_of(compiled.receiver)
    fits = [
        fit
        for fit in module.once(Program).model_calls("fit")
        if fit.order > compiled.order and any(option in own for option in options_of(fit.receiver))
    ]
    return bool(fits) and all(map(_is_short, fits))


def _is_short(fit: Call) -> bool:
    given, batch, epochs = fit.written("x"), batches_of(fit), fit.given("epochs")
    rows = rows_of_slice(given.value) if given is not None else None
    turns = 1 if epochs is None else constant(epochs)
    return (
        rows is not None and batch is not None and type(turns) is int and ceil(rows / batch.size) * turns <= SHORT_LOOP
    )


def _is_run_for_values(module: Module, compiled: Call) -> bool:
    """Whether the model is compiled only for its values.

    Then predict runs it, or a notebook never runs it, and no fit of the program may train it.
    """
    own = options_of(compiled.receiver)

    def on_it(*methods: str) -> Iterator[Call]:
        return (
            call
            for call in module.once(Program).model_calls(*methods)
            if any(option in (*own, UNKNOWN) for option in options_of(call.receiver))
        )

    if any(on_it("fit", "fit_generator", "train_on_batch", "evaluate")):
        return False
    # A notebook contains all code that runs its models.
    return compiled.module.source.cells is not None or any(
        call.order > compiled.order for call in on_it("predict", "predict_on_batch")
    )
