from kerascheck.api import Applies, DatasetOp, Rule, Severity, graph


class RetraceByShape(Rule):
    """A `tf.function` is called with tensors of changing shapes, and is traced again for each shape.

    ## What it does

    Reports a call of a `tf.function` in a loop with a tensor or an array whose shape changes between iterations:
    batches of `padded_batch` or `bucket_by_sequence_length` that are as long as their longest element, a growing slice
    `x[:, :i]`, or a tensor that each iteration extends with `tf.concat`.

    ## Why it costs

    TensorFlow keeps a graph for each shape of the arguments. A new length runs the Python body again to build another
    one. A small step took 78 times as long as with tensors of one shape; with `reduce_retracing=True` it took 1.16
    times (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    `reduce_retracing` is off for `tf.function`, on every version that has it. Keras turns it on for the steps of `fit`,
    `evaluate` and `predict`, so they trace twice at most.

    ## When it stays silent

    - `reduce_retracing=True`, `experimental_relax_shapes=True` or `input_signature` is given, or may be.
    - The batch, or the part of it that is passed, is padded to a fixed shape: literal `padded_shapes` without `None`,
      or `pad_to_bucket_boundary=True` (one trace for each bucket).
    - A map before the padding runs Python through `py_function` or `numpy_function`, which may have padded everything.
      Without `padded_shapes`, also a map with `tf.image.resize` and the like, which give all images one size.
    - `map`, or anything else that may fix the shape, follows the padding.
    - Only the last batch is smaller: that is one more trace.
    - A window that moves (`x[i : i + n]`), or one that drops as much as it gains.
    - The loop has at most 10 iterations; the program runs functions eagerly; the code is a test.

    ## Use instead

    `@tf.function(reduce_retracing=True)`: after the second shape TensorFlow traces once more with an open dimension. Or
    declare the shapes: `input_signature=[tf.TensorSpec([None, None], tf.int32)]`. With `jit_compile=True` every shape
    is compiled separately, whatever the signature says: pad to a few fixed lengths there. Before TensorFlow 2.9 the
    argument is called `experimental_relax_shapes`.

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
