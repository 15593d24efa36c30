from kerascheck.api import Rule, Severity, display_name, fixes, graph, names, proofs

_EFFECTS = {
    names.devices.RUN_FUNCTIONS_EAGERLY: "makes every tf.function run operation by operation in Python",
    names.datasets.ENABLE_DEBUG_MODE: "runs dataset functions eagerly, one call at a time",
    names.devices.DEBUGGING_ENABLE_CHECK_NUMERICS: "checks the result of every operation for NaN and infinity",
    names.devices.DEBUGGING_EXPERIMENTAL_ENABLE_DUMP_DEBUG_INFO: "writes the values of every operation to disk",
    names.devices.DEBUGGING_SET_LOG_DEVICE_PLACEMENT: "logs the device of every operation",
}
_WRITTEN = {"argument": "run_eagerly=True", "attribute": "run_eagerly = True"}
_WHEN_REPAIRED = "remove it after you fix what it hides: compiled code that creates variables or reads values."
_WHEN_FREE = "remove it, unless your own layers, losses or steps read tensor values."
_WHEN_SHAPED = "remove it after you set the shapes of the py_function with tf.ensure_shape."


class DebugLeftOn(Rule):
    """A script that trains turns on a debugging switch unconditionally.

    ## What it does

    Reports `compile(run_eagerly=True)` and `model.run_eagerly = True`. Also reports calls that turn on
    `tf.config.run_functions_eagerly`, `tf.data.experimental.enable_debug_mode`, `tf.debugging.enable_check_numerics`,
    `enable_dump_debug_info` or, as an info, `set_log_device_placement`. The rule reports these calls if code of the
    program updates weights.

    ## Why it costs

    The eager switches disable the compiled step, so Python starts each operation of each batch. With
    `run_eagerly=True` in `fit`, a small dense network took 3.3 times as long and a small CNN 2.4 times. These figures
    compare the best runs (2 CPU cores, TensorFlow 2.21, no GPU). The debug mode of `tf.data` does the same to mapped
    functions. Flipping 2,000 images at random in batches of 32 took 11 to 14 times as long.

    | one epoch takes so many times as long | `fit`, small dense | `fit`, small CNN | eager steps, small CNN |
    |---|---|---|---|
    | `enable_check_numerics` | 2.3 to 2.4 | 2.7 to 3.4 | 14 to 17 |
    | `enable_dump_debug_info` with `FULL_HEALTH` | 2.5 to 3.1 | 8 | 3.4 to 3.5 |
    | `set_log_device_placement`, into a file | 1.1 | 1.1 | 1.1 |

    The device log counts a compiled step as one operation, so it costs little more than writing the lines.

    `run_eagerly=True` is also a popular workaround for an error inside `call`. It hides the error. NumPy in `call`
    then runs and cuts the gradient (see `numpy-in-call`).

    ## What the runtime does by itself

    Nothing: a switch stays on for the whole process. `run_functions_eagerly` does not affect the functions of
    `tf.data`; that module has its own debug mode.

    ## When it stays silent

    - The switch is under an `if` on a flag, an argument or the environment, unless all training is under it too.
    - The value of the switch is a variable.
    - The line turns the switch off, or the program turns it off again elsewhere with `False`.
    - The program trains nothing, or nothing after the call.
    - `run_functions_eagerly` in a program without a visible compiled function.
    - The model only runs `predict` or `predict_on_batch`, and nothing in the program may fit it. Eager execution lets
      the author inspect its layers. Also a model in a notebook that never fits it, evaluates it or predicts with it.
    - The program fits the model for at most 100 steps on a slice of the data, as in `fit(x[:64], y[:64])`. That is a
      trial run.
    - The `call` or `train_step` of the model draws random numbers with `random` or `numpy.random`. A graph would draw
      them once.
    - The model's own `compile` has `run_eagerly=True` as its default, so the argument changes nothing. Also a model
      that is not visible and whose `compile` takes arguments unknown to Keras.
    - The code is a test function or a test class.
    - `set_synchronous_execution(True)`: TensorFlow runs operations that way anyway.
    - `disable_eager_execution`: it is not a debugging aid but marks code for TensorFlow 1. Under Keras 3, it makes
      `fit` fail at once (`RuntimeError: tf.data.Dataset only supports Python-style iteration`, TensorFlow 2.21).
    - Attributes and methods of these names on objects that are not Keras models.

    The finding is an info, not a warning:

    - for the eager switches, if not all affected code is visible, such as models from elsewhere, or unknown functions
      that layers and steps of the project call;
    - without a fix, if the data comes from a `py_function` or `numpy_function` without `set_shape` or `ensure_shape`,
      because `fit` then raises in a graph;
    - without a fix, if compiled code creates variables or reads the values of tensors. The program needs the switch
      until you repair that code. Code under a check that something already exists does not count.

    ## Use instead

    Nothing, or a flag: `model.compile(..., run_eagerly=args.debug)`.

    ## Fix safety

    Never safe. The fix deletes the argument or the statement, which restores the default. Graphs and XLA round in
    another order than single operations. Random operations draw other numbers in a graph, and Python in the step runs
    once instead of in each step. A deleted check no longer raises the error that the program may expect.

    A model that calls NumPy or `.numpy()` in its step runs only eagerly. After the fix it fails with the error that
    the switch was hiding. There is no fix if the program needs the switch, or if the argument is not in the call
    itself.

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
    proves = ("same-numbers", "same-output")
    loss_tolerance = 1e-5

    def check(self, module):
        for switch in graph.debug_switches(module):
            call, safe = switch.call, switch.is_seen
            function = switch.kind == "function"
            effect = (
                f"{display_name(call.name)} {_EFFECTS[call.name]}"
                if function
                else f"{_WRITTEN[switch.kind]} makes every step run operation by operation in Python"
            )
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
                because="It is a debugging switch that prints a line for each operation."
                if switch.only_logs
                else "It is a debugging switch that slows down every step of this program.",
                doubt="Some code of this program does not run without it."
                if switch.is_needed
                else "Compiled code prints each line only once."
                if switch.only_logs
                else None
                if switch.is_seen
                else "Not all code that it affects is visible here, and some of it may need eager execution.",
                fix=(
                    fixes.drop_argument(
                        call,
                        "run_eagerly",
                        proofs.SAME_NUMBERS.unless("the graph, and XLA, round in another order"),
                        proofs.SAME_OUTPUT.unless(None if safe else "not all of the step is visible"),
                    )
                    if switch.kind == "argument"
                    else fixes.delete_statement(
                        call,
                        proofs.SAME_NUMBERS.unless("the graph, and XLA, round in another order"),
                        proofs.SAME_OUTPUT.unless(None if safe else "not all of the step is visible"),
                    )
                )
                if removable
                else None,
            )
