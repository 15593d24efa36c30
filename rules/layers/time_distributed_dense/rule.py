from kerascheck.api import Applies, Rule, Severity, fixes, models

_MANY = 10


class TimeDistributedDense(Rule):
    """TimeDistributed wraps a layer that accepts sequences anyway, and runs it step by step.

    ## What it does

    Reports `TimeDistributed(Dense(...))` as a warning, and the same with `Activation`, `ReLU`, `LeakyReLU`, `ELU`,
    `Dropout`, `Embedding`, `Rescaling` or `LayerNormalization`. The finding is an info in projects for Keras 2 and for
    10 steps or fewer.

    For Keras 3 the rule also reports, as an info, a convolution or a whole model in `TimeDistributed` if the input
    shape shows 10 steps or more.

    ## Why it costs

    In Keras 3 `TimeDistributed` is a Python loop: it calls the layer once for each time step, stacks the results, and
    transposes before and after. Every step becomes separate operations in the graph.

    The table compares two wrapped `Dense` layers with the same layers unwrapped. Batches had 32 sequences of 32
    features (Keras 3.15, TensorFlow 2.21, 2 CPU cores shared with other work, no GPU).

    | time steps | training step | first call of train_on_batch |
    |---|---|---|
    | 20 | 2.6 times as long | 2.0 times |
    | 80 | 5.5 times | 6.8 times |
    | 200 | 16 times | 25 times |

    `Input((None, 32))` gave the same result, because the batches themselves have a known length. If the graph does not
    know the length, Keras uses `vectorized_map` instead of the loop. An example is `padded_batch` with a `tf.function`
    that has a signature.

    We also compared a wrapped small CNN over 32 frames with the frames folded into the batch. The first call took 2.6
    times as long and a step 1.2 to 1.9 times. A GPU runs many small operations instead of one large one; this is
    unmeasured here.

    ## What the runtime does by itself

    Nothing in Keras 3. In tf.keras 2 the wrapper itself folds the time axis into the batch and only adds two reshapes.
    The advice that `TimeDistributed` costs nothing dates from that time. `Dense` applies to the last axis. Seq2seq
    examples wrap it because Keras 1 required it.

    ## When it stays silent

    - Sequences of one step, as after `RepeatVector(1)`.
    - Layers that use more than the last axis, for short sequences of images or sequences of unknown length.
    - `BatchNormalization` and `PReLU`, whose weights or statistics differ without the wrapper, and `Softmax`, which
      reads the mask.
    - `LayerNormalization(axis=...)` and `Dropout(noise_shape=...)`, which count axes.
    - Layers of the project itself.
    - The finding is an info, not a warning, for few steps and for Keras 2. It is also an info for an unknown number of
      steps, as in `Input((None, 32))` or after a layer of the project, because the graph may then have no loop. If the
      model is fitted on arrays of a known shape, it remains a warning.

    ## Use instead

    The layer alone: `Dense(10)` instead of `TimeDistributed(Dense(10))`. For a CNN over frames, use the frames as one
    long batch. Call `keras.ops.reshape(x, (-1, 64, 64, 3))` before the CNN and `keras.ops.reshape(x, (-1, steps,
    features))` after it.

    ## Fix safety

    Never safe. Sums over all time steps at once round in another order than sums over each step. The layer and its
    weights also get other names, and checkpoints, losses and targets may refer to the old ones. `Dropout` draws other
    numbers, too.

    There is no fix for a convolution, a model, or a layer that is created elsewhere and passed by name: no local edit
    is enough.

    ## References

    - Keras documentation: "TimeDistributed layer", "Dense layer"
    - Keras source: `layers/rnn/time_distributed.py`
    - keras-team/keras issues 21179 and 21208
    """

    code = "KC209"
    name = "time-distributed-dense"
    summary = "TimeDistributed runs its layer step by step"
    severity = Severity.WARNING
    applies = Applies(graph_code=False, tensorflow=">=2", multi_backend_keras=False)
    triggers = ("TimeDistributed",)
    proves = ("same-numbers", "same-names")
    loss_tolerance = 1e-5

    def check(self, module):
        older = module.program.keras < 3
        for wrapper in models.needless_wrappers(module):
            short = wrapper.layer.name.rpartition(".")[2]
            yield self.finding(
                wrapper.call,
                f"TimeDistributed({short}(...)) runs {short} once per time step; {short} alone does the same at once."
                if wrapper.steps_known and not older
                else f"TimeDistributed({short}(...)) does no more than {short}, which accepts sequences; remove the wrapper.",
                because=None
                if older
                else f"In Keras 3, TimeDistributed loops over the time steps if their number is known; {short} accepts sequences directly.",
                doubt=_doubt(wrapper, older),
                fix=fixes.unwrap_layer(wrapper.call, wrapper.layer),
            )
        for call, steps in () if older else models.unrolled_convolutions(module, _MANY):
            yield self.finding(
                call,
                f"TimeDistributed runs this layer {steps} times in turn; fold the steps into the batch with keras.ops.reshape.",
                because="In Keras 3 each time step becomes separate operations in the graph.",
                doubt="What that costs depends on the layer: a large one keeps a GPU busy by itself.",
            )


def _doubt(wrapper, older):
    """A doubt about the cost of a wrapper; None if it costs time."""
    if older:
        return "Keras 2 only folds the steps into the batch and back; Keras 3 would run them one after the other."
    if not wrapper.steps_known:
        return "Their number is not known here."
    return "They are few here." if wrapper.most_steps <= _MANY else None
