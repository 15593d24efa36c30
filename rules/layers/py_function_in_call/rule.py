from kerascheck.api import Rule, SequenceValue, Severity, display_name, graph, names, training, wording

_ALGORITHMS = (
    *(
        "scipy.optimize.",
        "scipy.sparse.",
        "scipy.spatial.",
        "scipy.ndimage.",
        "skimage.measure.",
        "skimage.segmentation.",
    ),
    *("cv2.connectedComponents", "cv2.drawContours", "cv2.findContours"),
)
_LIBRARIES = {"scipy": "SciPy", "skimage": "scikit-image", "cv2": "OpenCV"}


class PyFunctionInCall(Rule):
    """A training step leaves the graph for Python.

    ## What it does

    Reports `tf.py_function`, `tf.numpy_function` and `tf.compat.v1.py_func` in `call`, `train_step`, losses and
    `Lambda` bodies, and in functions under `tf.function` that train with a tape.

    The finding is an info if the function calls an algorithm of SciPy, scikit-image or OpenCV that TensorFlow lacks.
    Examples are an assignment of predictions to targets and the search for contours. It is also an info in a module
    that does not train, because users may call its layers eagerly. Code under `tf.function` or in a `train_step`
    remains a warning.

    ## Why it costs

    In every step TensorFlow copies the tensors to Python, runs the function under the GIL, and copies the result back.
    On a GPU both copies cross the bus while the device waits; this is unmeasured here. `tf.numpy_function` also cuts
    the gradient, so the layers before it do not learn.

    ## What the runtime does by itself

    Nothing. XLA cannot compile a graph with such an operation. Keras 3 with `jit_compile="auto"` does not detect it
    and fails when XLA is on.

    ## When it stays silent

    - Metrics, `test_step` and `predict_step`: they may compute scores that exist in Python only. `costly-metric`
      reports some metrics of `compile`.
    - Layers for inference only, as under `if mode == "inference"`.
    - The function plays a game or simulation in Python, as `env.step(action)`.
    - Functions without a result (`Tout=[]`): they write a summary or a message.
    - Input pipelines: `py-function-in-map` covers them.
    - Compiled functions that do not train, even if the file has tapes elsewhere.
    - Programs that run eagerly, and the PyTorch backend.

    ## Use instead

    Tensor operations (`keras.ops`, `tf.math`, `tf.linalg`), with `tf.custom_gradient` if the function needs its own
    gradient. Work that does not depend on the weights belongs in the input pipeline.

    ## Fix safety

    There is no automatic fix: you have to rewrite the body.

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
        for call, how in graph.traced_calls(module):
            returned = call.given("Tout") if call.name in names.callables.PY_FUNCTIONS else None
            if (
                isinstance(returned, SequenceValue)
                and not returned.items
                and not returned.open
                or graph.is_for_inference(module, call.path)
            ):
                continue
            if call.name in names.callables.PY_FUNCTIONS and (
                how in ("call", "train_step", "loss", "Lambda")
                or how == "tf.function"
                and graph.trains_in(module, call.path)
            ):
                own = [
                    other
                    for other in module.run.calls
                    if any(frame.traced == "py_function" and frame.node is call.node for frame in other.path.frames())
                ]
                if any(map(training.steps_environment, own)):
                    continue
                algorithm = next((other.name for other in own if (other.name or "").startswith(_ALGORITHMS)), None)
                if algorithm is not None:
                    yield self.finding(
                        call,
                        f"{display_name(call.name)} calls {_LIBRARIES[algorithm.partition('.')[0]]} in every step; keep its tensors small.",
                        because="The tensors are copied to the host and back, under the GIL and without XLA.",
                        doubt="TensorFlow has no such algorithm.",
                    )
                    continue
                yield self.finding(
                    call,
                    f"{display_name(call.name)} runs Python in every training step; use tensor operations or the input pipeline.",
                    because="The tensors are copied to the host and back, the function holds the GIL, and XLA cannot compile the model.",
                    doubt=wording.not_seen_compiled(module, how),
                )
