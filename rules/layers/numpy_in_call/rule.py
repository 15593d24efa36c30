from kerascheck.api import Rule, Severity, fixes, graph, holds_tensor, names, wording

# These only read the static shape.
_HARMLESS = frozenset({"numpy.shape", "numpy.ndim", "numpy.isscalar", "numpy.iterable"})


def _prefers_tensorflow(module):
    return module.runtime.keras < 3 or "tf.keras" in module.code or names.callables.TF_KERAS in module.code


class NumpyInCall(Rule):
    """A NumPy function is applied to a tensor inside a layer, loss, metric or training step.

    ## What it does

    Checks the code that Keras traces: `Layer.call`, `Model.call`, `train_step`, `test_step`, the body of a `Lambda`
    layer, functions passed to `compile` as loss or metric, loss and metric classes, and functions under
    `tf.function`. It follows the tensor arguments through assignments and arithmetic, and reports each `np.*` call
    that receives one of them.

    ## Why it costs

    This is an error, not a slow line. While Keras traces the model, the argument is a symbolic tensor without values,
    so `fit` and the functional API stop with `NotImplementedError: Cannot convert a symbolic tf.Tensor ... to a numpy
    array`. Run eagerly, the same line works and does something worse: the result is an array without a gradient, and
    every layer before it gets the gradient `None`. The model trains, but only its last layers learn. Popular answers
    say that such a layer "runs on the CPU" and slows training down. In fact it does not train at all.

    The usual workaround, `run_eagerly=True`, keeps the wrong gradient and costs time as well: a loss and a metric
    written in NumPy took 6.7 times as long that way (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    It raises. Keras 3 hides the error while a `Sequential` model is built and shows it only in `fit`; TensorFlow 2.12
    raises at once. A few NumPy functions call back into the tensor and happen to work; do not rely on that.

    ## When it stays silent

    - `__init__` and `build`, which run in plain Python.
    - Static shapes (`np.prod(x.shape[1:])`), hyperparameters (`np.sqrt(self.depth)`), constants and dtypes (`np.pi`,
      `np.float32`), and arrays built from those.
    - Parameters of `call` after the first that may be sizes, like `height` and `width`. A parameter counts as a
      tensor if its name says so (`query`, `states`), or the code uses it as one (`tf.reduce_sum(side)`).
    - Functions run by `tf.py_function` or `tf.numpy_function`, also as a decorator: they receive real values.
    - Models whose own `fit` never calls that of Keras: it does not compile their `call`.
    - Programs that run eagerly by an unconditional `run_eagerly=True` or `run_functions_eagerly(True)`: nothing
      raises there, and `debug-left-on` reports the switch. Also layers and models that a custom eager loop calls, and
      the PyTorch backend.
    - Callbacks and data loaders, which work on arrays.
    - It is an info, not an error, in a module that does not train, unless it stands under `tf.function` or in a
      `train_step`: users of its layers may call them eagerly.

    ## Use instead

    The function of the same name in `keras.ops` (every backend) or in `tf` (code for `tf.keras`).

    ## Fix safety

    Almost always unsafe. In a graph the code raises; where it runs eagerly, the fix may change what it computes:

    - A gradient flows through the new function, where NumPy ended it.
    - TensorFlow rounds otherwise and takes denormal numbers for zero, so arithmetic and comparisons of floats differ in
      the last bits. Integers get other types: a mean of int32 is float64 in NumPy.
    - A tensor is not an array: it prints differently, and nothing can be assigned to its items.
    - Keras hides what a layer raises while it builds it, so a model that could not be built now is.

    A table names, for each function, the arguments and types of data of one meaning; a test compares every entry with
    the installed libraries. The fix is safe only where all of this is proven: the table calls the result the same to
    the bit, the code itself casts to that type, no gradient flows, only `tf.cast`, `tf.where` or their
    counterparts in `keras.ops` take the result, and the function is a plain one, a loss for example. In practice that
    leaves questions such as `np.isfinite`, and integers. Parameters of `call` have no proven type: Keras
    casts floats by the policy of the layer, and passes integers on.

    There is no fix where no function takes these arguments: `ddof`, `dtype`, `out`, `where` and `initial`, say, or
    `np.where` with one argument.

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
            yield self.finding(
                call,
                f"np.{name[6:]} raises on a tensor in compiled code; use {'TensorFlow' if _prefers_tensorflow(call.module) else 'keras.ops'} instead.",
                because=wording.no_values(how),
                doubt=wording.not_seen_compiled(module, how),
                fix=fixes.replace_numpy(call, name[6:], tensorflow=_prefers_tensorflow(call.module)),
            )
