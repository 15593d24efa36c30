from kerascheck.api import Applies, Rule, Severity, fixes, graph, names

_BECAUSE = {
    graph.Once.PRINTS: "The text is printed once.",
    graph.Once.ASSIGNS: "Only the value from tracing is kept.",
    graph.Once.COUNTS: "Only the value from tracing is kept.",
    graph.Once.COMPUTES: "Every element gets the result of that one call.",
}
_WHAT = {graph.Once.ASSIGNS: "this assignment", graph.Once.COUNTS: "this counting"}


class PythonInMap(Rule):
    """Python code in a mapped function runs once, when the function is traced.

    ## What it does

    Looks inside functions given to `dataset.map`, `filter`, `flat_map` or `interleave`, and the
    functions they call, for Python code that should run for every element: `np.random` and
    `random`, `print`, `time`, `open`, `input`, `cv2` and PIL; `append`, `extend` and `insert` of lists
    from outside; a tensor that is assigned to an attribute, to a global variable or to an item of
    something from outside; and `+=` on any of these. A `print` is a warning, and an info
    where it shows nothing but texts and settings.

    ## Why it costs

    It costs correctness, not time. The function is traced into a graph once. A random number
    from Python or NumPy becomes a constant: in a probe every element got the same one, in every
    epoch. So an augmentation is frozen. A `print` prints once, a counter counts one, a `sleep`
    sleeps once. Giving a tensor to `open` or to an image library raises.

    ## What the runtime does by itself

    AutoGraph turns `if`, `for` and `while` over tensors into graph operations. It converts no
    library call and no `append`, and says nothing about them.

    The advice to simulate a slow pipeline with `time.sleep` in a map is wrong for this reason:
    the sleep happens once.

    ## When it stays silent

    - NumPy on constants and static shapes: `np.pi`, `np.prod(image.shape)`, dtypes.
    - Inside a `py_function` or `numpy_function`, where Python does run for every element.
    - `tf.print`, `tf.random`, and lists and dictionaries that the function itself makes or is given.
    - Attributes that each function of the class that has them sets and reads, as if they were variables of its own,
      or that only functions read that run in the same trace.
    - What is known while tracing, such as a shape, kept in an attribute or a dictionary.
    - A `print` under an `except`, which reports an error while tracing.
    - Random numbers that are drawn outside the function, once on purpose; `np.random.seed`.
    - A script that calls `tf.data.experimental.enable_debug_mode()`.
    - The dataset is only inspected, or fitted for at most ten steps, or a `take` has cut it to at most 32 elements
      before.
    - The builtin `map`, pandas, executors, and functions that are never mapped.

    ## Use instead

    `tf.random.uniform`, `tf.image.random_*`, `tf.print`; `len` or a metric for counting.

    ## Fix safety

    Only `print` is replaced, by `tf.print`, and that is unsafe: the text goes to standard error for every
    element, with other numbers in it. The map then has a side effect, so the runtime no longer makes it
    parallel (see `serial-map`). The rest has no automatic fix. New random numbers change
    the training, as they should, and the author has to choose their shape and type.

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
