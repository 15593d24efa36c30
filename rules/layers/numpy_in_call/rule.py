from kerascheck.api import Rule, Severity, fixes, graph, holds_tensor, names, wording

# These only read the static shape.
_HARMLESS = frozenset({"numpy.shape", "numpy.ndim", "numpy.isscalar", "numpy.iterable"})


def _prefers_tensorflow(module):
    return module.runtime.keras < 3 or "tf.keras" in module.code or names.callables.TF_KERAS in module.code


class NumpyInCall(Rule):
    """A layer, loss, metric or training step applies a NumPy function to a tensor.

    ## What it does

    Checks code that is traced into a graph:

    - `Layer.call`, `Model.call`, `train_step`, `test_step` and `predict_step`;
    - the body of a `Lambda` layer;
    - functions passed to `compile` as loss or metric;
    - loss and metric classes;
    - functions under `tf.function`.

    The rule follows the tensor arguments through assignments and arithmetic, and reports each `np.*` call that
    receives one of them.

    It is a warning if the program does not train and calls the model on each batch of a dataset, outside of every
    compiled function: there the line works, but NumPy copies the tensor to the host and its result back.

    ## Why it costs

    This is an error, not a slow line. While Keras traces the model, the argument is a symbolic tensor without values.
    `fit` and the functional API stop with `NotImplementedError: Cannot convert a symbolic tf.Tensor ... to a numpy
    array`. In eager mode the same line works and does something worse. The result is an array without a gradient, and
    every layer before it gets the gradient `None`. The model trains, but only its last layers learn. Popular answers
    say that such a layer "runs on the CPU" and slows training down. In fact it does not train at all.

    The usual workaround, `run_eagerly=True`, keeps the wrong gradient and costs time as well. A loss and a metric
    written in NumPy took 6.7 times as long that way (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    It raises. Keras 3 hides the error while it builds a `Sequential` model and shows it only in `fit`. TensorFlow 2.12
    raises at once. A few NumPy functions call back into the tensor and happen to work; do not rely on that.

    ## When it stays silent

    - `__init__` and `build`, which run in plain Python.
    - Static shapes (`np.prod(x.shape[1:])`), hyperparameters (`np.sqrt(self.depth)`), constants and dtypes (`np.pi`,
      `np.float32`), and arrays built from those.
    - Parameters of `call` after the first that may be sizes, such as `height` and `width`. A parameter counts as a
      tensor if its name suggests one (`query`, `states`), or the code uses it as one (`tf.reduce_sum(side)`).
    - Functions under `tf.py_function` or `tf.numpy_function`, also as a decorator: they receive real values.
    - Models whose own `fit` never calls the `fit` of Keras: nothing compiles their `call`.
    - Programs that run eagerly because of an unconditional `run_eagerly=True` or `run_functions_eagerly(True)`.
      Nothing raises there, and `debug-left-on` reports the switch.
    - Layers and models that a custom eager loop calls, and the PyTorch backend.
    - Callbacks and data loaders, which work on arrays, and metrics that no visible `compile` uses.
    - `tf.init_scope`, and branches that test the execution mode (`if tf.executing_eagerly():`).
    - In another module that does not train, the finding is an info, not an error: users may call its layers eagerly. It
      stays an error under `tf.function` or in a `train_step`.

    ## Use instead

    The function of the same name in `keras.ops` (every backend) or in `tf` (code for `tf.keras`).

    ## Fix safety

    Almost always unsafe. In a graph the code raises. In eager mode the fix may change its results:

    - A gradient flows through the new function. NumPy stopped it.
    - TensorFlow rounds differently and flushes denormal numbers to zero, so arithmetic and comparisons of floats
      differ in the last bits. Integers get other types: a mean of int32 is float64 in NumPy.
    - A tensor is not an array. It prints differently, and its items are read-only.
    - Keras hides the exceptions of a layer while building it, so a build that failed before may succeed.

    For each function, a table lists the arguments and data types that both libraries treat alike. A test compares
    every entry with the installed libraries. The fix is safe only with a proof of all of these:

    - according to the table, the result is the same to the bit;
    - the code itself casts to that type;
    - no gradient flows;
    - only `tf.cast`, `tf.where` or their counterparts in `keras.ops` receive the result;
    - the function is a plain one, for example a loss.

    In practice, only predicates such as `np.isfinite` and integer operations qualify. Parameters of `call` have no
    proven type: Keras casts floats by the policy of the layer, and leaves integers unchanged.

    There is no fix if no counterpart accepts the arguments. Examples are `ddof`, `dtype`, `out`, `where` and
    `initial`, or `np.where` with one argument.

    ## References

    - Keras documentation: "NumPy ops", "Making new layers and models via subclassing"
    - TensorFlow guide: "Better performance with tf.function"
    """

    code = "KC201"
    name = "numpy-in-call"
    summary = "NumPy function gets a tensor in compiled code"
    evidence_note = "The slow script raises, as the rule says, so there is nothing to time."
    severity = Severity.ERROR
    speed = False
    proves = ("same-meaning",)
    triggers = ("numpy",)
    needs = (
        "def call",
        "def __call__",
        "train_step",
        "test_step",
        "predict_step",
        "compute_loss",
        "update_state",
        ".function",
        "function(",
        "import function",
        "Lambda",
        ".compile(",
        "jit",
        "defun",
        "to_graph(",
    )

    def check(self, module):
        for call, how in graph.traced_calls(module):
            name = call.name or ""
            if (
                not name.startswith("numpy.")
                or name in _HARMLESS
                or not any(map(holds_tensor, call.arguments.values()))
            ):
                continue
            tensorflow = _prefers_tensorflow(call.module)
            remedy = f"use {'TensorFlow' if tensorflow else 'keras.ops'} instead"
            fix = fixes.replace_numpy(call, name[6:], tensorflow=tensorflow)
            caller = graph.eager_caller(module, call) if how == "call" else None
            if caller is not None:
                yield self.finding(
                    call,
                    f"np.{name[6:]} runs on the host for each batch; {remedy}.",
                    because="The loop calls the model eagerly, so NumPy copies the tensor from the device and its result back.",
                    severity=Severity.WARNING,
                    fix=fix,
                    related=((caller, "calls the model"),),
                )
                continue
            yield self.finding(
                call,
                f"np.{name[6:]} raises on a tensor in compiled code; {remedy}.",
                because=wording.no_values(how),
                doubt=wording.not_seen_compiled(module, how),
                fix=fix,
            )
