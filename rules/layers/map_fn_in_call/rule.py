import libcst as cst

from kerascheck.api import Function, Made, Rule, Severity, Tensor, display_name, graph, names

# The parameters for the function and for what it is mapped over, where these have other names than for tf.map_fn.
_PARAMETERS = {names.callables.OPS_MAP: ("f", "xs")}
_ONE_BY_ONE = {
    names.callables.MAP_FN: "tf.vectorized_map",
    names.callables.BACKEND_MAP_FN: "tf.vectorized_map",
    names.callables.OPS_MAP: names.callables.OPS_VECTORIZED_MAP,
    names.callables.SCAN: "tf.vectorized_map",
}
_NO_BATCH = (
    names.callables.IO_DECODE,
    names.callables.STRINGS,
    names.callables.NON_MAX_SUPPRESSION,
    *sorted(names.callables.having(names.symbols.Trait.NO_BATCH)),
    names.callables.READ_FILE,
)


class MapFnInCall(Rule):
    """A compiled step processes the batch one element at a time.

    ## What it does

    Reports `tf.map_fn`, `keras.backend.map_fn` and `keras.ops.map` in `call`, `train_step`, losses and compiled
    functions, and `tf.scan` with a function that ignores the previous result. It is an info.

    ## Why it costs

    Each element is an iteration of a loop in the graph, with its own small operations, where one operation could take
    the batch. How much that costs depends on the function: see the evidence of this rule. The maintainers of keras-cv
    report 0.187 s against 0.002 s for 100 rotated images.

    ## What the runtime does by itself

    `parallel_iterations` runs several iterations at a time, in graph mode on the CPU. Nothing turns the loop into one
    operation. `tf.vectorized_map` does, for functions whose operations it knows, and falls back to the loop for others.

    ## When it stays silent

    - `tf.scan` that carries a value from one iteration to the next, `tf.foldl` and `tf.while_loop`.
    - Numbers stored in an attribute, as `self.classes = tf.range(10)`, which are no batch.
    - Functions that cannot take a batch: they read or decode a file, select by a mask or a condition, process text,
      return ragged results, or run Python.
    - Metrics, input pipelines, code that nothing compiles, and branches for other backends or eager execution.

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
        for call, how in graph.traced_calls(module):
            if call.name in _ONE_BY_ONE and how != "metric" and not _needs_elements(module, call):
                yield self.finding(
                    call,
                    f"{display_name(call.name)} processes one element at a time; use an operation on the batch, or {_ONE_BY_ONE[call.name]}.",
                    because="Every element is a loop iteration inside the step, with its own kernel launches.",
                )


def _needs_elements(module, call):
    """Whether a function calls what takes no batch, or needs what the turn before gave, or goes through numbers that are no batch."""
    function = call.given(_parameters(call)[0])
    if _counts(call):
        return True
    # Without an initializer the first element comes out as it is.
    if call.name == names.callables.SCAN and (
        call.given("initializer") is None or not isinstance(function, Function) or not _ignores_first(function)
    ):
        return True
    returned = call.keyword("fn_output_signature")
    if isinstance(returned, Made) and returned.name == names.callables.RAGGED_TENSOR_SPEC:
        return True
    if not isinstance(function, Function):
        return False
    return _cuts_with_parameter(function) or any(
        _takes_no_batch(inner) and inner.scope.runs_in(function) for inner in module.run.calls
    )


def _parameters(call):
    return _PARAMETERS.get(call.name, ("fn", "elems"))


def _counts(call):
    """Whether the elements are numbers that an object keeps, as ``self.classes = tf.range(10)``."""
    elements = _parameters(call)[1]
    over, written = call.given(elements), call.written(elements)
    return (
        isinstance(over, Tensor)
        and over.origin == names.callables.RANGE
        and written is not None
        and isinstance(written.value, cst.Attribute)
    )


def _cuts_with_parameter(function):
    """Whether each element says how long a slice is: ``x[lag:]``, which has another shape for each."""
    tree = function.module.tree
    names = {parameter.name.value for parameter in function.node.params.params}
    return any(
        isinstance(end, cst.Name) and end.value in names
        for node in tree.descendants(function.node.body) if isinstance(node, cst.Slice)
        for bound in (node.lower, node.upper) if bound is not None
        for end in tree.descendants(bound)
    )  # fmt: skip


def _takes_no_batch(call):
    # What one turn stores the next one reads.
    if call.attribute in ("assign", "assign_add", "assign_sub") or (call.name or "").endswith(".__setattr__"):
        return True
    # With a condition alone, where gives the places of as many elements as there are.
    return (call.name or "").startswith(_NO_BATCH) or call.name == names.callables.WHERE and call.given("x") is None


def _ignores_first(function):
    """Whether the first parameter of a function is never read."""
    parameters = function.node.params.params
    names = (node.value for node in function.module.tree.descendants(function.node.body) if isinstance(node, cst.Name))
    return bool(parameters) and parameters[0].name.value not in names
