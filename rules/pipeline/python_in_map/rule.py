from kerascheck.api import Applies, Rule, Severity, fixes, graph, names

_BECAUSE = {
    graph.Once.PRINTS: "The text is printed once.",
    graph.Once.ASSIGNS: "Only the value from tracing is kept.",
    graph.Once.COUNTS: "Only the value from tracing is kept.",
    graph.Once.COMPUTES: "Every element gets the result of that one call.",
}
_WHAT = {graph.Once.ASSIGNS: "This assignment", graph.Once.COUNTS: "This addition"}


class PythonInMap(Rule):
    """Python code in a mapped function runs only once, while TensorFlow traces the function.

    ## What it does

    Looks inside functions passed to `dataset.map`, `filter`, `flat_map` or `interleave`, and the functions they call.
    It reports Python code that should run once per element:

    - `np.random` and `random`, `print`, `time`, `open`, `input`, `cv2` and PIL;
    - `append`, `extend` and `insert` of lists from outside;
    - the assignment of a tensor to an attribute, to a global variable or to an item of an object from outside;
    - `+=` on any of these.

    A `print` is a warning. It is an info if it shows only texts and settings.

    ## Why it costs

    It costs correctness, not time. TensorFlow traces the function into a graph once. A random number from Python or
    NumPy becomes a constant: in a probe, every element got the same number, in every epoch. An augmentation is
    therefore frozen. A `print` prints once, a counter counts one, a `sleep` sleeps once. Passing a tensor to `open` or
    to an image library raises.

    ## What the runtime does by itself

    AutoGraph turns `if`, `for` and `while` over tensors into graph operations. It does not convert library calls or
    `append`, and it does not report them.

    For this reason, the advice to simulate a slow pipeline with `time.sleep` in a map is wrong: the sleep happens once.

    ## When it stays silent

    - NumPy works on constants and static shapes: `np.pi`, `np.prod(image.shape)`, dtypes.
    - The code is inside a `py_function` or `numpy_function`, where Python does run once per element.
    - The code uses `tf.print`, `tf.random`, or lists and dictionaries that the function itself creates or receives.
    - Every function of the class that uses the attribute sets it before reading it, like a local variable.
    - Only functions of the same trace read the attribute.
    - An attribute or a dictionary keeps a value known during tracing, such as a shape.
    - A `print` under an `except` reports an error during tracing.
    - A `print` that shows no tensor mentions tracing or compiling, or shows a static shape.
    - The random numbers are drawn outside the function, once on purpose, or the call is `np.random.seed`.
    - The script calls `tf.data.experimental.enable_debug_mode()`.
    - The dataset is only inspected, or fitted for at most ten steps, or an earlier `take` limits it to at most 32
      elements.
    - The code uses the builtin `map`, pandas or an executor, or nothing maps the function.

    ## Use instead

    `tf.random.uniform`, `tf.image.random_*` and `tf.print`; `len` or a metric for counting.

    ## Fix safety

    The fix replaces only `print`, by `tf.print`. It is unsafe: the text goes to standard error once per element, with
    different numbers. The map then has a side effect, so the runtime no longer makes it parallel (see `serial-map`).
    There is no fix if Python formats the tensor into a text, as in an f-string, or for options such as `file=`.

    There is no automatic fix for the rest: new random numbers change the training, as they should, and the author has
    to choose their shape and type.

    ## References

    - TensorFlow API: `tf.data.Dataset.map`, `tf.random.uniform`, `tf.print`
    - TensorFlow guide: "Better performance with tf.function", section on Python side effects
    """

    code = "KC108"
    name = "python-in-map"
    summary = "Python in a map runs once, while tracing"
    evidence_note = (
        "The rule is about correctness: the fix does for every element what ran only once, and that takes time."
    )
    severity = Severity.ERROR
    applies = Applies(graph_code=False)
    speed = False
    triggers = (".map(", ".filter(", ".flat_map(", ".interleave(")
    proves = ("same-output",)
    loss_tolerance = None

    def check(self, module):
        if list(module.program.calls(names.datasets.ENABLE_DEBUG_MODE)):
            return
        for found in graph.python_in_maps(module):
            call, prints = found.call, found.once is graph.Once.PRINTS
            what = _WHAT.get(found.once) or call.name.removeprefix("builtins.").removeprefix("list.")
            remedy = "use tf.print, or delete it" if prints else "use a TensorFlow operation"
            yield self.finding(
                call,
                f"{what} runs once, while tracing the function of {found.op.name}, not for every element; {remedy}.",
                because=_BECAUSE[found.once],
                severity=Severity.WARNING if prints else None,
                doubt="The text may be meant to appear once, while tracing."
                if prints and not found.shows_tensor
                else None,
                fix=fixes.tensorflow_print(call) if prints else None,
                related=((found.op, "traced here"),),
            )
