from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.debugging import switches
from kerascheck.semantics.fixes import delete_statement, drop_argument
from kerascheck.semantics.functions import display

_EFFECTS = {
    "tensorflow.config.run_functions_eagerly": "makes every tf.function run operation by operation in Python",
    "tensorflow.data.experimental.enable_debug_mode": "runs dataset functions eagerly, one call at a time",
    "tensorflow.debugging.enable_check_numerics": "checks the result of every operation for NaN and infinity",
    "tensorflow.debugging.experimental.enable_dump_debug_info": "writes the values of every operation to disk",
    "tensorflow.debugging.set_log_device_placement": "logs the device of every operation",
}
_WRITTEN = {"argument": "run_eagerly=True", "attribute": "run_eagerly = True"}
_WHEN_REPAIRED = "remove it after you fix what it hides: compiled code that creates variables or reads values."
_WHEN_FREE = "remove it, unless your own layers, losses or steps read tensor values."
_WHEN_SHAPED = "remove it after you set the shapes of the py_function with tf.ensure_shape."


class DebugLeftOn(Rule):
    """A debugging switch is on without condition in a script that trains.

    ## What it does

    Reports `compile(run_eagerly=True)`, `model.run_eagerly = True`, and calls that turn on
    `tf.config.run_functions_eagerly`, `tf.data.experimental.enable_debug_mode`,
    `tf.debugging.enable_check_numerics`, `enable_dump_debug_info` and `set_log_device_placement`, the
    last as an info. The calls count where the program trains: where something in it
    updates weights.

    ## Why it costs

    The eager switches take away the compiled step: Python starts each operation of each batch.
    With `run_eagerly=True` in `fit` a small dense network took 3.3 times as long and a small CNN 2.4
    times, best run against best run (2 CPU cores, TensorFlow 2.21, no GPU). The debug mode of tf.data does the same to
    the mapped functions: 2,000 pictures, flipped at random in batches of 32, took 11 to 14 times as long.

    | one epoch takes so many times as long | `fit`, small dense | `fit`, small CNN | eager steps, small CNN |
    |---|---|---|---|
    | `enable_check_numerics` | 2.3 to 2.4 | 2.7 to 3.4 | 14 to 17 |
    | `enable_dump_debug_info` with `FULL_HEALTH` | 2.5 to 3.1 | 8 | 3.4 to 3.5 |
    | `set_log_device_placement`, into a file | 1.1 | 1.1 | 1.1 |

    A compiled step is one operation to the log of devices, so that it costs little more than the lines that it writes.
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
    - `set_synchronous_execution(True)`: that is how TensorFlow runs operations anyway.
    - `disable_eager_execution`: it is no help in finding faults but marks code for TensorFlow 1. Under Keras 3 `fit` fails with it at once
      (`RuntimeError: tf.data.Dataset only supports Python-style iteration`, TensorFlow 2.21), and needs no linter to be noticed.
    - Attributes and methods of that name on objects which are not Keras models.

    ## Use instead

    Nothing, or a flag: `model.compile(..., run_eagerly=args.debug)`.

    ## Fix safety

    Safe for a step that compiles: deleting the argument or the statement leaves the default, and
    the numbers agree up to rounding. A model that only runs eagerly, because it calls NumPy or
    `.numpy()` in its step, fails after the fix with the error that the switch was hiding.

    ## References

    - Keras documentation: "Model training APIs" (`compile`)
    - TensorFlow API: `tf.config.run_functions_eagerly`, `tf.debugging.enable_check_numerics`,
      `tf.data.experimental.enable_debug_mode`
    - TensorFlow guide: "Better performance with tf.function"
    """

    code = "KC309"
    name = "debug-left-on"
    summary = "debugging switch is left on"
    severity = Severity.WARNING
    triggers = (
        "run_eagerly",
        "run_functions_eagerly",
        "enable_debug_mode",
        "enable_check_numerics",
        "enable_dump_debug_info",
        "set_log_device_placement",
    )
    loss_tolerance = 1e-5

    def check(self, module):
        for switch in switches(module):
            call, safe = switch.call, switch.is_seen
            function = switch.kind == "function"
            effect = f"{display(call.name)} {_EFFECTS[call.name]}" if function else f"{_WRITTEN[switch.kind]} makes every step run operation by operation in Python"
            remedy = "remove it when you are done debugging." if function else "remove it."
            if switch.needs_shapes:
                remedy = _WHEN_SHAPED
            elif switch.is_needed:
                remedy = _WHEN_REPAIRED
            elif not switch.is_seen:
                remedy = _WHEN_FREE
            removable = switch.is_removable and not switch.is_needed
            yield self.finding(
                switch.at,
                f"{effect}; {remedy}",
                because="It is a debugging switch that prints a line for each operation." if switch.only_logs else "It is a debugging switch that slows down every step of this program.",
                severity=Severity.INFO if switch.is_needed or switch.only_logs or not switch.is_seen else Severity.WARNING,
                fix=(drop_argument(call, "run_eagerly", safe=safe) if switch.kind == "argument" else delete_statement(call, safe=safe)) if removable else None,
            )
