from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.functions import display
from kerascheck.semantics.library import PY_FUNCTIONS
from kerascheck.semantics.steps import steps_environment
from kerascheck.semantics.traced import is_for_inference, is_seen_compiled, traced_calls, trains_in
from kerascheck.semantics.values import Group

_ALGORITHMS = (
    *("scipy.optimize.", "scipy.sparse.", "scipy.spatial.", "scipy.ndimage.", "skimage.measure.", "skimage.segmentation."),
    *("cv2.connectedComponents", "cv2.drawContours", "cv2.findContours"),
)
_LIBRARIES = {"scipy": "SciPy", "skimage": "scikit-image", "cv2": "OpenCV"}


class PyFunctionInCall(Rule):
    """A training step leaves the graph for Python.

    ## What it does

    Reports `tf.py_function`, `tf.numpy_function` and `tf.compat.v1.py_func` in `call`, `train_step`, losses and `Lambda`
    bodies, and in functions under `tf.function` that train with a tape. As an info where the function calls an algorithm
    of SciPy, scikit-image or OpenCV, such as an assignment of predictions to targets or the search for contours, of which TensorFlow has none;
    and in a module that trains nothing, unless `tf.function` or a `train_step` is around it: who uses its layers may call them eagerly.

    ## Why it costs

    In every step the tensors are copied to Python, the function runs under Python's lock, and its
    result is copied back; on a GPU both ways cross the bus and the device waits, which is unmeasured here.
    `tf.numpy_function` also cuts the gradient: what lies before it does not learn.

    ## What the runtime does by itself

    Nothing. XLA compiles no graph with such an operation: Keras 3 with `jit_compile="auto"` cannot know of
    it and fails where XLA is on.

    ## When it stays silent

    - Metrics, `test_step` and `predict_step`: scores that exist in Python only are computed there.
    - Layers that are only made for inference, as under `if mode == "inference"`.
    - A game or simulation in Python that the function plays on, as `env.step(action)`.
    - Functions that give nothing back (`Tout=[]`): they write a summary or a message.
    - Input pipelines, of which `py-function-in-map` speaks.
    - Compiled functions that train nothing, whatever tapes there are elsewhere in the file, programs that run eagerly, and the PyTorch backend.

    ## Use instead

    The same with tensor operations (`keras.ops`, `tf.math`, `tf.linalg`), with `tf.custom_gradient` where it needs a gradient of
    its own. What does not depend on weights belongs in the input pipeline.

    ## Fix safety

    There is no automatic fix: the body has to be written anew.

    ## References

    - TensorFlow API: `tf.py_function`, `tf.numpy_function`
    """

    code = "KC203"
    name = "py-function-in-call"
    summary = "training step leaves the graph for Python"
    severity = Severity.WARNING
    triggers = ("py_function(", "numpy_function(", "py_func(")
    loss_tolerance = 1e-4

    def check(self, module):
        for call, how in traced_calls(module):
            returned = call.argument(2, "Tout")
            if isinstance(returned, Group) and not returned.items and not returned.open or is_for_inference(module, call.scope):
                continue
            if call.name in PY_FUNCTIONS and (how in ("call", "train_step", "loss", "Lambda") or how == "tf.function" and trains_in(module, call.scope)):
                own = [other for other in module.run.calls if any(frame.traced == "py_function" and frame.node is call.node for frame in other.scope.frames())]
                if any(map(steps_environment, own)):
                    continue
                algorithm = next((other.name for other in own if (other.name or "").startswith(_ALGORITHMS)), None)
                if algorithm is not None:
                    yield self.finding(
                        call,
                        f"{display(call.name)} leaves the compiled step for {_LIBRARIES[algorithm.partition('.')[0]]} in every step, for which TensorFlow has nothing of its own; keep what goes through it small.",
                        because="Its tensors go to the host and back, Python's lock is held meanwhile, and XLA compiles no model that holds it.",
                        severity=Severity.INFO,
                    )
                    continue
                yield self.finding(
                    call,
                    f"{display(call.name)} leaves the compiled step for Python in every step; write it with tensor operations, or do it in the input pipeline.",
                    because="Its tensors go to the host and back, Python's lock is held meanwhile, and XLA compiles no model that holds it.",
                    severity=None if is_seen_compiled(module, how) else Severity.INFO,
                )
