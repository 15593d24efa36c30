from kerascheck.api import Rule, Severity, display_name, graph, names

_ON_THE_BATCH = {names.callables.OPS_MAP: names.callables.OPS_VECTORIZED_MAP}


class MapFnInCall(Rule):
    """A compiled step processes the batch one element at a time.

    ## What it does

    Reports `tf.map_fn`, `keras.backend.map_fn` and `keras.ops.map` in `call`, `train_step`, losses and compiled
    functions, and `tf.scan` with a function that ignores the previous result. The finding is an info.

    ## Why it costs

    The graph loops over the elements and runs small operations for each. One operation could process the whole batch.
    The cost depends on the function: see the evidence of this rule. The maintainers of keras-cv report 0.187 s
    compared with 0.002 s for 100 rotated images.

    ## What the runtime does by itself

    `parallel_iterations` runs several iterations at a time, in graph mode on the CPU. Nothing turns this loop into one
    operation. `tf.vectorized_map` vectorizes functions whose operations it knows, and falls back to a loop for others.

    ## When it stays silent

    - `tf.scan` that carries a value from one iteration to the next, `tf.foldl` and `tf.while_loop`.
    - A map over numbers in an attribute, such as `self.classes = tf.range(10)`, which are not a batch.
    - Functions that cannot take a batch. They read or decode a file, select by a mask or a condition, cut a slice whose
      length depends on the element, process text, return ragged results, store a value, or run Python.
    - Metrics, input pipelines, uncompiled code, and branches for other backends or eager execution.

    ## Use instead

    The operation with an axis (`tf.reduce_mean(x, axis=1, keepdims=True)`), broadcasting, `tf.gather(...,
    batch_dims=1)`, or `tf.vectorized_map` and `keras.ops.vectorized_map`.

    ## Fix safety

    There is no automatic fix: the linter cannot prove that a function accepts a batch.

    ## References

    - TensorFlow API: `tf.map_fn`, `tf.vectorized_map`
    - keras-cv pull request 1607
    """

    code = "KC206"
    name = "map-fn-in-call"
    summary = "training step handles one element at a time"
    severity = Severity.INFO
    triggers = ("map_fn(", ".map(", ".scan(")
    loss_tolerance = 1e-4

    def check(self, module):
        for call in graph.element_loops(module):
            remedy = _ON_THE_BATCH.get(call.name, "tf.vectorized_map")
            yield self.finding(
                call,
                f"{display_name(call.name)} processes one element at a time; use an operation on the batch, or {remedy}.",
                because="Every element is a loop iteration inside the step, with its own kernel launches.",
            )
