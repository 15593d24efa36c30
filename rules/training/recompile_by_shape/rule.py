from kerascheck.api import Applies, DatasetOp, Rule, Severity, graph

_WHY = {
    graph.XlaBy.ARGUMENT: "With jit_compile=True, XLA compiles the step",
    graph.XlaBy.JAX: "On JAX, XLA compiles every step",
    graph.XlaBy.GPU: "On a GPU, XLA compiles the step of this model",
}


class RecompileByShape(Rule):
    """XLA compiles a training step anew for each length of its batches.

    ## What it does

    Reports a step that XLA compiles and that gets tensors of changing shapes:

    - `fit` with batches of `padded_batch` or `bucket_by_sequence_length` that are as long as their longest element, if
      the model is compiled with `jit_compile=True`, runs on JAX, or leaves `jit_compile` to Keras 3 on TensorFlow;
    - a call in a loop of a `tf.function(jit_compile=True)` with such batches, a growing slice or a growing tensor.

    ## Why it costs

    XLA compiles for fixed shapes only, and a compilation takes longer than many steps. A small text classifier trained
    for one epoch on 100 batches with lengths from 150 to 200 (2 loaded CPU cores, TensorFlow 2.21, JAX 0.10, Keras
    3.15, no GPU):

    | backend | padded per batch | padded to 200 |
    |---|---|---|
    | TensorFlow, `jit_compile=True` | 52 s | 3.8 s |
    | JAX | 37 s | 2.6 s |

    Later epochs took the same time, unless `shuffle` brings new lengths. A GPU is unmeasured.

    ## What the runtime does by itself

    Each compiled shape is kept until the program ends. On TensorFlow, Keras traces `fit` with open dimensions
    (`reduce_retracing`), but XLA still compiles every shape. The default `jit_compile="auto"` means True on JAX. On
    TensorFlow it means True on a machine with a GPU if all layers support XLA, and False on a CPU. Read in the source
    and tested on a CPU, Keras 3.15.

    ## When it stays silent

    - Padding gives the batch a fixed shape: literal `padded_shapes` without `None`, or `pad_to_bucket_boundary=True`.
    - The dataset is unknown, or an operation after the padding may fix the shape, such as `map`.
    - Rows of arrays without a `map` have one shape, unless `padded_shapes` leaves an axis open.
    - A map before the padding runs Python through `py_function` or `numpy_function`, which may have padded everything.
    - `jit_compile` or `run_eagerly` is unknown, or XLA is off.
    - On TensorFlow: a layer without XLA support, such as `LSTM` and `GRU`, whose cuDNN kernels switch XLA off.
    - Every input of the model has a fixed shape.
    - Without `jit_compile=True`: a layer of the model is not visible, the program uses a strategy, determinism, or no
      GPU, or runs on Keras 2.
    - At most 10 steps; tests.

    If only a GPU switches XLA on, the finding is an info.

    ## Use instead

    `padded_batch(32, padded_shapes=([200], []))`, with a length that all sequences fit in. If lengths differ much,
    `bucket_by_sequence_length(..., pad_to_bucket_boundary=True)` pads to a few lengths, with one compilation for each.
    Or switch XLA off with `jit_compile=False` (on TensorFlow only).

    ## Fix safety

    There is no fix: only the author knows the longest length, and whether the model ignores the padding.

    ## References

    - Keras documentation: "Model training APIs" (`jit_compile`)
    - TensorFlow guide: "XLA: Optimizing Compiler", section on known issues (dynamic shapes)
    - TensorFlow API: `tf.data.Dataset.bucket_by_sequence_length`
    - keras-team/keras-hub issue 662, keras-team/keras-cv pull request 2406
    """

    code = "KC425"
    name = "recompile-by-shape"
    summary = "XLA compiles a step for every batch length"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("padded_batch(", "bucket_by_sequence_length(", "jit_compile", "experimental_compile")
    loss_tolerance = 1e-4

    def check(self, module):
        for found in graph.recompilations(module):
            is_batch = isinstance(found.cause, DatasetOp)
            message = (
                "XLA compiles the step for each batch length; pad to one length, or to the boundaries of a few buckets."
                if is_batch
                else "XLA compiles this function for each shape of its argument; pad the argument to one shape."
            )
            yield self.finding(
                found.cause if found.loop is None else found.call,
                message,
                because=f"{_WHY[found.by]}, again for every new shape.",
                doubt="Without a GPU, XLA stays off." if found.by is graph.XlaBy.GPU else None,
                related=(
                    ((found.call, "trained here"),)
                    if found.loop is None
                    else (
                        *(((found.cause, "the shape changes here"),) if found.cause is not None else ()),
                        (found.loop, "in this loop"),
                    )
                ),
            )
