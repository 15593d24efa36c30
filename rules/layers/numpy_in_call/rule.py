from kerascheck.finding import Severity
from kerascheck.rule import Rule


class NumpyInCall(Rule):
    """A NumPy function is applied to a tensor inside a layer, loss, metric or training step.

    ## What it does

    Looks at code that Keras traces: `Layer.call`, `Model.call`, `train_step`, `test_step`, the body
    of a `Lambda` layer, and functions given to `compile` as loss or metric. It follows the tensor
    arguments through assignments and arithmetic, and reports each `np.*` call that one of them reaches.

    ## Why it costs

    This is an error, not a slow line. While Keras traces the model the argument is a symbolic tensor
    that has no values yet, so `fit` and the functional API stop with `NotImplementedError: Cannot
    convert a symbolic tf.Tensor ... to a numpy array`. Run eagerly, the same line works and does
    something worse: the result is an array that has lost its history, and every layer before it gets
    the gradient `None`. The model trains, but only its tail learns.
    Popular answers say that such a layer "runs on the CPU" and slows training down. It does not train at all.

    The usual way out, `run_eagerly=True`, keeps the wrong gradient and costs time as well: a loss
    and a metric kept in NumPy that way took 6.7 times as long (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    It raises. Keras 3 hides the error while a `Sequential` model is built and shows it in `fit` only;
    TensorFlow 2.12 raises at once. A few NumPy functions call back into the tensor and happen to
    work; do not build on that.

    ## When it stays silent

    - `__init__` and `build`, which run in plain Python.
    - Static shapes (`np.prod(x.shape[1:])`), hyper-parameters (`np.sqrt(self.depth)`), constants and
      dtypes (`np.pi`, `np.float32`), and arrays made of those.
    - Functions run by `tf.py_function` or `tf.numpy_function`, which do receive real values.
    - Callbacks and data loaders, which work on arrays.

    ## Use instead

    The function of the same name in `keras.ops` (every backend) or in `tf` (code of `tf.keras`).

    ## Fix safety

    Safe for functions that exist under the same name with the same arguments. The code did not run
    in a graph before; where it ran eagerly, the fix gives the missing gradient back. NumPy functions
    without a namesake are reported without a fix.

    ## References

    - Keras documentation: "NumPy ops", "Making new layers and models via subclassing"
    - TensorFlow guide: "Better performance with tf.function"
    """

    code = "KC201"
    name = "numpy-in-call"
    severity = Severity.ERROR
    triggers = ("numpy",)

    def check(self, module):
        raise NotImplementedError
