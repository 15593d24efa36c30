from kerascheck.api import Applies, DatasetOp, Rule, Severity, graph


class RetraceByShape(Rule):
    """A loop calls a `tf.function` with tensors of changing shapes; each shape causes a new trace.

    ## What it does

    Reports a call of a `tf.function` in a loop with a tensor or an array whose shape changes between iterations:

    - batches of `padded_batch` or `bucket_by_sequence_length` that are as long as their longest element;
    - a growing slice `x[:, :i]`;
    - a tensor that each iteration extends with `tf.concat`.

    ## Why it costs

    TensorFlow keeps a graph for each shape of the arguments. For a new length, it runs the Python body again and
    builds another graph. A small step took 78 times as long as with tensors of one shape. With `reduce_retracing=True`
    it took 1.16 times as long (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    `reduce_retracing` is off for `tf.function`, on every version that has it. Keras turns it on for the steps of
    `fit`, `evaluate` and `predict`, so these steps trace twice at most.

    ## When it stays silent

    - `reduce_retracing=True`, `experimental_relax_shapes=True` or `input_signature` is set, or may be.
    - `jit_compile=True`, because XLA compiles every shape despite these settings: `recompile-by-shape` reports that.
    - Padding gives the batch, or the relevant part of it, a fixed shape. This means literal `padded_shapes` without
      `None`, or `pad_to_bucket_boundary=True` (one trace for each bucket).
    - A map before the padding runs Python through `py_function` or `numpy_function`, which may have padded everything.
      Without `padded_shapes`, a map with `tf.image.resize` or a similar function also counts, because it gives all
      images one size.
    - After the padding, a `map` or another operation may fix the shape.
    - Only the last batch is smaller, which causes one more trace.
    - A moving window (`x[i : i + n]`), or one that drops as many elements as it adds.
    - The loop has at most 10 iterations; the program runs functions eagerly; the code is a test.

    ## Use instead

    `@tf.function(reduce_retracing=True)`: after the second shape TensorFlow traces once more with an open dimension.
    Or declare the shapes: `input_signature=[tf.TensorSpec([None, None], tf.int32)]`. Before TensorFlow 2.9 the argument
    is called `experimental_relax_shapes`.

    ## Fix safety

    There is no fix: only the author knows whether an open dimension or padding to fixed lengths suits the function.
    Code in it that reads `x.shape` gets `None`.

    ## References

    - TensorFlow guide: "Better performance with tf.function", section "Controlling retracing"
    - TensorFlow API: `tf.function` (`reduce_retracing`, `input_signature`)
    """

    code = "KC417"
    name = "retrace-by-shape"
    summary = "new tensor shapes make a tf.function trace again"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".function", "function(")
    evidence_note = "The cost is a trace for each new shape, so it depends on the number of shapes."
    loss_tolerance = 1e-4

    def check(self, module):
        for found in graph.changing_shapes(module):
            yield self.finding(
                found.call,
                "Changing shapes make this tf.function trace again; set reduce_retracing=True or an input_signature.",
                because="tf.function traces again for every new shape, and "
                + (
                    "each batch is as long as its longest element."
                    if isinstance(found.cause, DatasetOp)
                    else "each iteration makes the argument longer."
                ),
                related=(((found.cause, "the shape changes here"),) if found.cause is not None else ())
                + ((found.loop, "in this loop"),),
            )
