from kerascheck.api import Applies, Rule, Severity, fixes, models

_MANY = 10


class TimeDistributedDense(Rule):
    """TimeDistributed wraps a layer that handles sequences anyway, and runs it step by step.

    ## What it does

    Reports `TimeDistributed(Dense(...))`, and the same with `Activation`, `ReLU`, `LeakyReLU`, `ELU`, `Dropout`,
    `Embedding`, `Rescaling` or `LayerNormalization`, as a warning; in projects for Keras 2 and over 10 steps or fewer
    as an info. Also as an info, it reports a convolution or a whole model in `TimeDistributed` over 10 steps or more,
    where the input shape shows the number.

    ## Why it costs

    In Keras 3 `TimeDistributed` is a Python loop: it calls the layer once for each time step, stacks the results, and
    transposes before and after. Every step becomes separate operations in the graph. Two wrapped `Dense` layers
    compared with the same layers unwrapped, batches of 32 sequences of 32 features (Keras 3.15, TensorFlow 2.21, 2
    CPU cores shared with other work, no GPU):

    | time steps | training step | first call of train_on_batch |
    |---|---|---|
    | 20 | 2.6 times as long | 2.0 times |
    | 80 | 5.5 times | 6.8 times |
    | 200 | 16 times | 25 times |

    `Input((None, 32))` gave the same result, since the batches themselves have a known length. Where a graph leaves
    the length open, as with `padded_batch` and a `tf.function` with a signature, Keras uses `vectorized_map` instead
    of the loop. For a small CNN over 32 frames, compared with the frames folded into the batch, the first call took
    2.6 times as long and a step 1.2 to 1.9 times. A GPU runs many small operations instead of one large one;
    unmeasured here.

    ## What the runtime does by itself

    Nothing in Keras 3. tf.keras 2 folds the time axis into the batch itself, so there the wrapper only adds two
    reshapes: the advice that `TimeDistributed` costs nothing dates from that time. `Dense` has always applied to the
    last axis; seq2seq examples wrap it because Keras 1 required it.

    ## When it stays silent

    - Sequences of one step, as after `RepeatVector(1)`.
    - Layers that use more than the last axis, short sequences of images, sequences of unknown length.
    - `BatchNormalization` and `PReLU`, which have other weights or statistics without the wrapper, and `Softmax`, which
      reads the mask.
    - `LayerNormalization(axis=...)` and `Dropout(noise_shape=...)`, which count axes.
    - Layers of the project itself.
    - It is an info, not a warning, for few steps, for Keras 2, and for an unknown number of steps, as in
      `Input((None, 32))` or after a layer of the project itself, unless arrays of a known shape are fitted: where the
      graph leaves the number open there is no loop.

    ## Use instead

    The layer alone: `Dense(10)` instead of `TimeDistributed(Dense(10))`. For a CNN over frames, use the frames as one
    long batch: `keras.ops.reshape(x, (-1, 64, 64, 3))` before it, `keras.ops.reshape(x, (-1, steps, features))` after
    it.

    ## Fix safety

    Never safe. The sums over all time steps at once round in another order than those of each step. The layer and
    its weights also get other names, by which checkpoints, losses and targets may find them. `Dropout` draws other
    numbers, too.

    There is no fix for a layer that is created elsewhere and passed by name, a convolution or a model: no local
    edit is enough.

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
        older = module.runtime.keras < 3 or module.program.needs_old_keras
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
    """What is not known of a wrapper, or makes it small; None for what costs time."""
    if older:
        return "Keras 2 only folds the steps into the batch and back; Keras 3 would run them one after the other."
    if not wrapper.steps_known:
        return "Their number is not known here."
    return "They are few here." if wrapper.most_steps <= _MANY else None
