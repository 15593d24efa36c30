import re
from math import inf

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.values import Made, options_of

# tf.keras.mixed_precision.experimental came with 2.1, and lost its last word with 2.4 (release notes).
_POLICIES_SINCE, _STABLE_SINCE = (2, 1), (2, 4)
_SMALL = 1_000_000
_SMALL_INPUT = 64 * 64 * 3
# GPUs behind DirectX have no 16-bit policy that is known to help, and layers of TensorLayer and of the copy of Keras inside of TensorFlow follow none.
_NOT_FOR_POLICIES = re.compile(r"""["']DML["']|directml|^\s*(?:import|from)\s+(?:tensorlayer|tensorflow\.python\.keras)\b""", re.I | re.M)


class MissingMixedPrecision(Rule):
    """A large model is trained in float32, and no dtype policy is mentioned anywhere.

    ## What it does

    Reports the first training call of a script in which nothing speaks of precision: no dtype
    policy, no `float16`, no `bfloat16`. A large layer has to be in sight: one of at least 64
    filters, 512 units of a dense layer, an LSTM or a GRU, or 4 heads of attention, or of a width
    that the file does not tell; or a network of `keras.applications` or `from_pretrained`. In modules
    that the script imports any convolution of images or volumes and any attention counts.
    It is an info, a candidate to measure and not a fault.

    ## Why it costs

    The Tensor Cores of NVIDIA GPUs from compute capability 7.0 on multiply half-precision matrices
    faster than float32, and activations take half the memory. How much that gives depends on the
    GPU and on the size of the layers, and it is unmeasured here. From compute capability 8.0 on,
    TensorFlow uses TF32 for float32 anyway, which takes a part of the gain in advance; a network
    of small layers may gain nothing.
    Popular advice names mixed precision without these conditions, as a switch that makes training
    faster. On a CPU it does the contrary: with `mixed_float16` a CNN took 7.1 times as long, with
    `mixed_bfloat16` 1.8 times (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Keras computes in float32 unless told otherwise. With `mixed_float16`, `compile` wraps the
    optimizer so that the loss is scaled, and `fit` makes use of it; a hand-written `train_step` has to
    call `scale_loss` itself (see `missing-loss-scaling`).

    ## When it stays silent

    - Any policy, in a helper, an argument or a layer.
    - Scripts that hide the GPU or train under `tf.device("cpu")`, and scripts for a TPU or for DirectML; layers of TensorLayer.
    - Models whose layers are all narrower, as literals tell; models of TensorFlow Hub, whose layers
      are not in sight.
    - The classic small data sets: MNIST, Fashion-MNIST, the housing prices, and those of
      scikit-learn, but for networks of `keras.applications` and `from_pretrained`.
    - Every model that is fitted is seen to have fewer than a million weights, and no convolutions or only inputs of no more numbers than a
      picture of 64 x 64 pixels; projects for TensorFlow before 2.1. Keras before 2.4, a package of its own, has no policies.
    - GANs, reinforcement learning, and code that sets float64.
    - Images of an `ImageDataGenerator`: the step waits for them, however fast it is (see `image-data-generator`).
    - A model from `load_model`, whose layers keep the policy they were saved with.
    - Steps of the program's own, which would have to scale the loss (see `missing-loss-scaling`), and layers of its own that write float32 down, or
      make numbers by `tf.constant`, `tf.random.normal`, `tf.linspace` and their like without a `dtype`, also in a function that their `call` calls:
      TensorFlow raises where these meet half precision.
    - Modules that define functions only and run nothing.
    - Graph code of TensorFlow 1: sessions, placeholders, estimators, `disable_eager_execution`.

    ## Use instead

    `keras.mixed_precision.set_global_policy("mixed_float16")` before the first layer, and
    `dtype="float32"` on the last one. `mixed_bfloat16` needs no loss scaling, and Ampere or later.
    Then measure both on the machine that trains.

    ## Fix safety

    There is no fix. The numbers change, and only a measurement says whether the time does.

    ## References

    - Keras documentation: "Mixed precision policy API"
    - TensorFlow guide: "Mixed precision"
    - NVIDIA documentation: "Train With Mixed Precision"
    """

    code = "KC301"
    name = "missing-mixed-precision"
    summary = "model trains in float32 only"
    severity = Severity.INFO
    triggers = (".fit(", "fit_generator(", "train_on_batch", "GradientTape", "minimize(")
    loss_tolerance = None

    def check(self, module):
        program = module.program
        place = program.first_training
        if place is None or program.mentions_precision or program.pins_cpu or program.first_trains_on_cpu or program.uses_tpu or module.mentions(_NOT_FOR_POLICIES):
            return
        if module.runtime.tensorflow < _POLICIES_SINCE or module.runtime.multi_backend_keras or _are_small([model for model in module.models if model.is_trained]):
            return
        if program.reinforcement_learning or program.adversarial or program.uses_float64 or not program.has_large_layers or module.image_flows or program.needs_more_than_policy:
            return
        # The layers of a saved model keep the policy that they were saved with.
        if any(call.node is place.node and any(map(_is_loaded, options_of(call.receiver))) for call in program.model_calls("fit", "fit_generator")):
            return
        setting = "keras.mixed_precision.set_global_policy" if module.runtime.tensorflow >= _STABLE_SINCE else "tf.keras.mixed_precision.experimental.set_policy"
        yield self.finding(
            place,
            f'This script trains in float32 only; on a GPU with Tensor Cores try {setting}("mixed_float16").',
            because="The gain depends on the GPU and on the layers; nothing was measured here, and on a CPU it is slower.",
        )


def _are_small(models):
    """Whether all models that are trained are seen to have few weights, and no large picture to use them at many places of."""
    return bool(models) and all((model.most_parameters or inf) < _SMALL and (not _convolves(model) or model.largest_input <= _SMALL_INPUT) for model in models)


def _convolves(model):
    return any("Conv" in (layer.name or "") for layer in model.layers)


def _is_loaded(model):
    return isinstance(model, Made) and model.name == "keras.models.load_model"
