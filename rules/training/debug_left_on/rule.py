from math import ceil

import libcst as cst

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import delete_statement, drop_argument
from kerascheck.semantics.functions import display
from kerascheck.semantics.loops import SHORT_LOOP, rows_of_slice
from kerascheck.semantics.models import batching
from kerascheck.semantics.places import Place
from kerascheck.semantics.traced import cannot_be_compiled, compiled_by
from kerascheck.semantics.values import UNKNOWN, Instance, constant, options_of

_SWITCHES = {
    "tensorflow.config.run_functions_eagerly": "makes every tf.function run operation by operation in Python",
    "tensorflow.data.experimental.enable_debug_mode": "runs dataset functions eagerly, one call at a time",
    "tensorflow.debugging.enable_check_numerics": "checks the result of every operation for NaN and infinity",
    "tensorflow.debugging.experimental.enable_dump_debug_info": "writes the values of every operation to disk",
    "tensorflow.debugging.set_log_device_placement": "logs the device of every operation",
    "tensorflow.config.experimental.set_synchronous_execution": "waits for every operation before the next is started",
}
# The argument that switches them on, by keyword where it may be given so; the others take none.
_ARGUMENT = {
    "tensorflow.config.run_functions_eagerly": "run_eagerly",
    "tensorflow.debugging.set_log_device_placement": "enabled",
    "tensorflow.config.experimental.set_synchronous_execution": None,
}
_EAGER = frozenset({"tensorflow.config.run_functions_eagerly", "tensorflow.data.experimental.enable_debug_mode"})
_SHAPING = frozenset({"set_shape", "ensure_shape", "reshape"})
_KNOWN = ("tensorflow.", "keras.", "numpy.", "math.", "builtins.")
_WHEN_REPAIRED = "remove it when what it hides is repaired: variables that are made, or tensors that are asked for their values, in compiled code."
_WHEN_FREE = "remove it, unless layers, losses or steps of the project's own need tensors with values."
_WHEN_SHAPED = "remove it when the tensors of the py_function have their shapes, by tf.ensure_shape."
# What compile takes in Keras 2 or 3.
_OF_KERAS = frozenset(
    "optimizer loss loss_weights metrics weighted_metrics run_eagerly steps_per_execution jit_compile auto_scale_loss sample_weight_mode target_tensors distribute pss_evaluation_shards".split()
)
_COST = "It is meant for debugging and slows every step of this program down."


class DebugLeftOn(Rule):
    """A debugging switch is on without condition in a script that trains.

    ## What it does

    Reports `compile(run_eagerly=True)`, `model.run_eagerly = True`, and calls that turn on
    `tf.config.run_functions_eagerly`, `tf.data.experimental.enable_debug_mode`,
    `tf.debugging.enable_check_numerics`, `enable_dump_debug_info`, `set_log_device_placement` and
    `set_synchronous_execution`. The calls count where the program trains: where something in it
    updates weights.

    ## Why it costs

    The eager switches take away the compiled step: Python starts each operation of each batch.
    With `run_eagerly=True` in `fit` a small dense network took 3.3 times as long and a small CNN 2.4
    times, best run against best run (2 CPU cores, TensorFlow 2.21, no GPU). The debug mode of tf.data does the same to
    the mapped functions. The others check, write or log something for each operation; they are unmeasured.
    `run_eagerly=True` is also a popular cure for an error inside `call`. It hides the error:
    NumPy in `call` then runs and cuts the gradient (see `numpy-in-call`).

    ## What the runtime does by itself

    Nothing: a switch stays on for the whole process. `run_functions_eagerly` does not reach the
    functions of tf.data, which is why that module has a debug mode of its own.

    ## When it stays silent

    - Under an `if` on a flag, an argument or the environment, unless all training stands under it too, and where the value is a variable.
    - Switches that are turned off, and calls that the program takes back somewhere by `False`.
    - The calls in a program that trains nothing, or nothing behind them, and `run_functions_eagerly` where no function is seen to be compiled.
    - As an info, not a warning, for the switches of eager code, where not all is seen that they keep from being compiled: models from elsewhere,
      and calls of what is not known in layers and steps of the project itself.
    - An info without a fix, where the data comes from a `py_function` or `numpy_function` without `set_shape` or `ensure_shape`, for which `fit`
      raises in a graph; and where compiled code makes variables or asks tensors for their values: the program needs the switch until that is repaired.
      Not for what is behind a question whether it is made already.
    - A model that is compiled to be run by `predict` or `predict_on_batch`, and that nothing in the program may fit: its layers can be read
      on the way. One in a notebook that never fits, evaluates or predicts with it.
    - A model that is fitted for at most 100 steps on a slice of the data, as in `fit(x[:64], y[:64])`: it is only tried out.
    - A model whose own `compile` has `run_eagerly=True` for its default: without the argument it is on as well. And one that cannot
      be seen and takes arguments that the `compile` of Keras does not have.
    - Test functions and test classes.
    - `disable_eager_execution`: it is no help in finding faults but marks code for TensorFlow 1. Under Keras 3 `fit` fails with it at once
      (`RuntimeError: tf.data.Dataset only supports Python-style iteration`, TensorFlow 2.21), and needs no linter to be noticed.
    - Attributes and methods of that name on objects which are not Keras models.

    ## Use instead

    Nothing, or a flag: `model.compile(..., run_eagerly=args.debug)`.

    ## Fix safety

    Safe for a step that compiles: deleting the argument or the statement leaves the default, and
    the numbers agree up to rounding. A model that only runs eagerly, because it calls NumPy or
    `.numpy()` in its step, fails after the fix with the error that the switch was hiding.

    ## Precision

    Read on real code: of a sample of findings in 6,100 public files 7 right, 1 arguable, 10 wrong; of a later one in 5,300 other
    files 1 right, 1 arguable, 1 wrong. What was wrong for a general reason became one of the silences above.
    Of a sample in 3,700 further files: 2 right, 1 arguable.
    Of a sample in 9,800 files more: 1 right, 2 arguable.
    Of a sample in 6,900 files more: 2 right, 3 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 6,930 further files: 1 right, 1 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 6,420 further files: 1 wrong, before what was wrong for a general reason was silenced.
    Of samples in 8,920 further files: 2 right, 2 arguable, 5 wrong, before what was wrong for a general reason was silenced.
    Of samples in 6,392 files more: 5 right, 3 arguable.
    Of samples in 5,836 files more: 7 right, 5 wrong, before what was wrong for a general reason was silenced.
    Of samples in 4,075 files more: 4 right, 3 arguable, 3 wrong, before what was wrong for a general reason was silenced.
    Of samples in 2,882 files more: 1 right, 2 arguable, 2 wrong, before what was wrong for a general reason was silenced.
    Of samples in 506 files more: 2 right, 1 wrong, before what was wrong for a general reason was silenced.

    ## References

    - Keras documentation: "Model training APIs" (`compile`)
    - TensorFlow API: `tf.config.run_functions_eagerly`, `tf.debugging.enable_check_numerics`,
      `tf.data.experimental.enable_debug_mode`
    - TensorFlow guide: "Better performance with tf.function"
    """

    code = "KC309"
    name = "debug-left-on"
    severity = Severity.WARNING
    triggers = (
        "run_eagerly",
        "run_functions_eagerly",
        "enable_debug_mode",
        "enable_check_numerics",
        "enable_dump_debug_info",
        "set_log_device_placement",
        "set_synchronous_execution",
    )
    loss_tolerance = 1e-5

    def check(self, module):
        switched_off = {call.name for call in module.run.calls if call.name in _SWITCHES and constant(call.argument(0), True) is False}
        for call in module.program.calls(*_SWITCHES) if module.program.trains else ():
            if call.name in switched_off or module.program.is_optional(call.scope) or call.name in _ARGUMENT and constant(call.argument(0, _ARGUMENT[call.name])) is not True:
                continue
            if call.name == "tensorflow.config.run_functions_eagerly" and _calls_nothing_compiled(module) or not module.program.trains_behind(call):
                continue
            # Then the program needs the switch as it is.
            needed = call.name in _EAGER and cannot_be_compiled(module)
            seen = call.name not in _EAGER or _is_seen(module)
            yield self.finding(
                call,
                f"{display(call.name)} {_SWITCHES[call.name]}; "
                + (_WHEN_REPAIRED if needed else "remove it when you are done debugging." if seen else _WHEN_FREE),
                because=_COST,
                severity=Severity.INFO if needed or not seen else Severity.WARNING,
                fix=None if needed else delete_statement(call, safe=seen),
            )
        for call in module.program.model_calls("compile"):
            at = _literal(call)
            if at is not None and not module.program.is_optional(call.scope) and not _needs_python(module, call.receiver) and not _is_run_for_values(module, call) and not _is_tried_out(module, call):
                seen = _is_seen(module, call)
                yield self._attribute(module, at, "run_eagerly=True", drop_argument(call, "run_eagerly", safe=seen) if at.node in call.node.args else None, seen)
        trained = list(module.program.model_calls("fit", "train_on_batch"))
        for call in module.program.calls("keras.Model.__setattr__"):
            if call.attribute != "run_eagerly" or constant(call.argument(1)) is not True or module.program.is_optional(call.scope):
                continue
            if any(other.receiver is call.receiver and other.order > call.order for other in trained):
                seen = all(_is_seen(module, other) for other in module.program.model_calls("compile") if other.receiver is call.receiver)
                yield self._attribute(module, call, "run_eagerly = True", delete_statement(call, safe=seen), seen)

    def _attribute(self, module, place, written, fix, seen):
        shapeless = _takes_any_shape(module)
        needed = shapeless or cannot_be_compiled(module)
        return self.finding(
            place,
            f"{written} makes every step run operation by operation in Python; {_WHEN_SHAPED if shapeless else _WHEN_REPAIRED if needed else 'remove it.' if seen else _WHEN_FREE}",
            because=_COST,
            severity=Severity.INFO if needed or not seen else Severity.WARNING,
            fix=None if needed else fix,
        )


def _calls_nothing_compiled(module):
    """Whether nothing runs that the switch could make eager: neither a function of ``tf.function`` nor a fit."""
    return module.program.steps_eagerly and not any(call.scope.traced_by() == "tf.function" for call in module.run.calls)


def _is_seen(module, compiled=None):
    """Whether all that would be compiled is seen: a model that is given, with its losses, and whatever the code of the program's own calls."""
    if compiled is not None:
        known = any(each.value is option for each in module.models for option in options_of(compiled.receiver))
        if not known or UNKNOWN in options_of(compiled.argument(1, "loss")):
            return False
    return all((call.name or "").startswith(_KNOWN) for call in module.run.calls if compiled_by(call.scope) in ("tf.function", "train_step", "call"))


def _takes_any_shape(module):
    """Whether data comes from a Python function without a shape: fit raises for it in a graph (as_list() of an unknown TensorShape, tried with Keras 3.15)."""
    return any(
        op.feeds_training and op.facts.python_function is not None and not any((call.name or call.attribute or "").rpartition(".")[2] in _SHAPING for call in op.facts.calls)
        for op in module.pipelines.operations("map")
    )


def _literal(compiled):
    """Where ``run_eagerly=True`` is written for a compile: in its call, or in that of the model's own ``compile`` that hands it on; None where it is a name, a switch that somebody turns."""
    written, call, module = compiled.arguments.node(None, "run_eagerly"), compiled.node, compiled.module
    own = compiled.scope.frame
    if own.function is not None and own.function.name == "compile" and isinstance(own.node, cst.Call) and constant(compiled.argument(None, "run_eagerly")) is True:
        written, call, module = next((arg for arg in own.node.args if arg.keyword is not None and arg.keyword.value == "run_eagerly"), None), own.node, own.parent.module
        parameters = (*own.function.node.params.params, *own.function.node.params.kwonly_params)
        if any(each.name.value == "run_eagerly" and isinstance(each.default, cst.Name) and each.default.value == "True" for each in parameters):
            return None
    elif written is not None and compiled.receiver is UNKNOWN and not _OF_KERAS.issuperset(compiled.arguments.keywords):
        # A method of its own, of which nobody can see what it does with it.
        return None
    is_literal = written is not None and written in call.args and isinstance(written.value, cst.Name) and written.value.value == "True"
    return Place(module, written) if is_literal else None


def _needs_python(module, model):
    """Whether the step of a model draws from Python or NumPy, which a graph would do once."""
    return isinstance(model, Instance) and any(
        (call.name or "").startswith(("numpy.random.", "random."))
        and any(function.owner is model.cls and function.name in ("call", "train_step") for function in call.scope.functions())
        for call in module.run.calls
    )


def _is_tried_out(module, compiled):
    """Whether each fit of the model takes so few steps, of a part of the data, that tracing would take about as long."""
    own = options_of(compiled.receiver)
    fits = [fit for fit in module.program.model_calls("fit") if fit.order > compiled.order and any(option in own for option in options_of(fit.receiver))]
    return bool(fits) and all(map(_is_short, fits))


def _is_short(fit):
    given, batch, epochs = fit.arguments.node(0, "x"), batching(fit), fit.argument(3, "epochs")
    rows = rows_of_slice(given.value) if given is not None else None
    turns = 1 if epochs is None else constant(epochs)
    return rows is not None and batch is not None and type(turns) is int and ceil(rows / batch.size) * turns <= SHORT_LOOP


def _is_run_for_values(module, compiled):
    """Whether predict runs the model that was compiled, or nothing in a notebook does, and no fit of the program trains it, or a model that may be it."""
    own = options_of(compiled.receiver)

    def on_it(*methods):
        return (call for call in module.program.model_calls(*methods) if any(option in (*own, UNKNOWN) for option in options_of(call.receiver)))

    if any(on_it("fit", "fit_generator", "train_on_batch", "evaluate")):
        return False
    # All that runs the models of a notebook stands in it.
    return compiled.module.source.cells is not None or any(call.order > compiled.order for call in on_it("predict", "predict_on_batch"))
