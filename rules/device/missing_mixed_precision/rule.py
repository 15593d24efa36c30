from kerascheck.api import Applies, Rule, Severity, models

# tf.keras.mixed_precision.experimental came with 2.1, and lost its last word with 2.4 (release notes).
_STABLE_SINCE = (2, 4)
_SHOWN = 3


class MissingMixedPrecision(Rule):
    """A script trains a large model in float32 without any dtype policy.

    ## What it does

    Reports the training of a large model in a script that never mentions precision. Such a script has no dtype policy,
    no `float16`, no `bfloat16`, and no option or flag for a type. The rule reports each model once at its `fit`, and
    once at a custom training loop. A model counts as large if it has one of these:

    - a layer of at least 64 filters in two or three dimensions, or 512 units;
    - an attention of at least 192 numbers over all heads;
    - a network of `keras.applications`, `from_pretrained` or `from_preset`;
    - a layer other than `Dense` with a width that is not a literal.

    For a model from a module that is not visible, the name of an architecture counts, such as `ResNet50` or
    `build_unet`. In modules that the script imports, any convolution of images or volumes and any attention counts.
    The finding is an info: a candidate to measure, not a fault.

    ## Why it costs

    The Tensor Cores of NVIDIA GPUs from compute capability 7.0 on multiply half-precision matrices faster than
    float32, and activations take half the memory. The gain depends on the GPU, on the size of the layers and on the
    batch. From compute capability 8.0 on, TensorFlow uses TF32 for float32 anyway, which reduces the gain. A network
    of small layers may gain nothing. The gain is unmeasured here; "Evidence" lists figures published by others.

    On a CPU half precision is slower. With `mixed_float16` a CNN took 7.1 times as long, and with `mixed_bfloat16` 1.8
    times (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Keras computes in float32 by default. With `mixed_float16`, `compile` wraps the optimizer in a
    `LossScaleOptimizer`, and the step of Keras scales the loss, with TensorFlow, JAX and PyTorch alike (Keras 3.15). A
    custom step has to scale the loss itself (see `missing-loss-scaling`). `Dense`, convolutions and attention follow
    the policy on each of the three.

    ## When it stays silent

    - The script mentions any policy, in a helper, an argument, a command-line option or a layer. Functions of
      other modules that it never names do not count, nor do settings that it never reads.
    - Scripts that always hide the GPU or train under `tf.device("cpu")`, and scripts that run on a TPU only. If an
      option or a handler decides, the script may run on a GPU too.
    - Scripts for DirectML, and `tensorflow.compat.v1` in place of TensorFlow.
    - Layers of TensorLayer, of CVNN, and of the copy of Keras inside TensorFlow.
    - Models whose layers are all narrower, according to literals.
    - Models of fewer than a million parameters, unless they convolve inputs with more numbers than a picture of 64 x
      64 pixels.
    - Models of TensorFlow Hub, and models from `load_model`: their layers keep their saved types.
    - Models whose only wide layers are dense, with fewer than a million parameters in these. If a width is unknown,
      the rule assumes a table with 784 columns.
    - The classic small data sets: MNIST, Fashion-MNIST, IMDB, Reuters, the housing prices, and those of scikit-learn.
      Also pictures that the program resizes to at most 28 x 28 pixels, according to the literals. The rule reports
      them if the model takes larger pictures or comes from `keras.applications`, `from_pretrained` or `from_preset`.
    - A training of at most ten steps, which only tests the script.
    - Dense models with batches of fewer than eight examples, because Tensor Cores multiply eight rows at a time.
    - GANs, reinforcement learning, and code that sets float64.
    - Gradients that change an image or another `tf.Variable`, not a model; updates without an optimizer.
    - Modules that only define functions and run nothing.
    - With `--this-machine`: the machine has no NVIDIA GPU, or one without Tensor Cores, such as a GTX 1070 or a GTX
      1660. For a step written for JAX, also a GPU without fast `bfloat16`, such as a T4.

    ## Use instead

    Call `keras.mixed_precision.set_global_policy("mixed_float16")` before the first layer, and give the last layer
    `dtype="float32"`. `mixed_bfloat16` needs no loss scaling, but it needs compute capability 8.0 or a TPU. Then
    measure both on the machine that trains.

    - **A step of your own** also scales the loss. In Keras 3, wrap the optimizer in
      `keras.optimizers.LossScaleOptimizer` (`compile` does it for a `train_step`) and take the gradients of
      `optimizer.scale_loss(loss)`. In tf.keras 2, take those of `optimizer.get_scaled_loss(loss)` and apply
      `optimizer.get_unscaled_gradients(gradients)`. A stateless step for JAX is simpler with `mixed_bfloat16`.
    - **Layers of your own** must not hard-code float32: TensorFlow raises if such a tensor meets half precision. Cast
      to `self.compute_dtype`, and pass `dtype=` to `tf.constant`, `tf.random.normal`, `tf.linspace` and similar
      functions.
    - **An `ImageDataGenerator`** is often slower than the GPU (see `image-data-generator`): improve the input first.

    ## Fix safety

    There is no fix. The numbers change, and only a measurement shows whether the time does.

    ## References

    - Keras documentation: "Mixed precision policy API"
    - TensorFlow guide: "Mixed precision"
    - NVIDIA documentation: "Train With Mixed Precision"
    - Keras source: `backend/{tensorflow,jax,torch}/trainer.py`, `optimizers/loss_scale_optimizer.py`
    - Published figures: NVIDIA/DeepLearningExamples, `TensorFlow2/Segmentation/UNet_Medical/README.md` (A100 80 GB,
      V100 16 GB) and `TensorFlow/Segmentation/VNet/README.md` (V100 16 GB)
    """

    code = "KC301"
    name = "missing-mixed-precision"
    summary = "model trains in float32 only"
    evidence_note = "CPUs have no fast 16-bit units; the gain needs a GPU with Tensor Cores."
    severity = Severity.INFO
    applies = Applies(tensorflow=">=2.1", multi_backend_keras=False, graph_code=False)
    triggers = (
        ".fit(",
        "fit_generator(",
        "train_on_batch",
        "GradientTape",
        "minimize(",
        "optimizer.apply(",
        "stateless_apply(",
        "keras_tuner",
        "kerastuner",
    )
    loss_tolerance = None

    def check(self, module):
        for training in models.full_precision_trainings(module):
            if (reason := _gains_nothing(module, training)) is not None:
                yield self.silence(training.place, reason)
                continue
            yield self.finding(
                training.place,
                _message(module, training),
                because=" ".join(_reasons(module, training)),
                related=tuple(_places(training)),
            )


def _gains_nothing(module, training):
    """Why half precision gives nothing on the machine that the module is judged for, if that is known; else None."""
    machine = module.machine
    if machine is None:
        return None
    if not machine.half_types:
        return (
            f"the {machine.gpu} of this machine has no Tensor Cores"
            if machine.gpu
            else "this machine has no GPU that gains by half precision"
        )
    if training.by_hand and module.runtime.backend == "jax" and "bfloat16" not in machine.half_types:
        return f"the {machine.gpu} of this machine has no fast bfloat16"
    return None


def _message(module, training):
    runtime, gpu = module.runtime, "a GPU with Tensor Cores" if module.machine is None else f"this {module.machine.gpu}"
    setting = (
        'set_global_policy("mixed_float16")'
        if runtime.tensorflow >= _STABLE_SINCE
        else 'mixed_precision.experimental.set_policy("mixed_float16")'
    )
    if training.by_hand and runtime.backend == "jax":
        return 'This step is float32 only; on Tensor Cores try set_global_policy("mixed_bfloat16").'
    if training.by_hand:
        scaling = "optimizer.scale_loss(loss)" if module.program.keras >= 3 else "LossScaleOptimizer.get_scaled_loss"
        return f'This step is float32 only; on Tensor Cores try "mixed_float16" with {scaling}.'
    if training.computing:
        return 'This trains in float32 only; for "mixed_float16" let its own layers cast to self.compute_dtype.'
    if training.waits:
        return f"This trains in float32 only; once the input keeps up, try {setting}."
    return f"This trains in float32 only; on {gpu} try {setting}."


def _reasons(module, training):
    if module.machine is None:
        yield "The gain depends on the GPU, the layers and the batch size; on a CPU half precision is slower."
    else:
        yield f"The {module.machine.gpu} has Tensor Cores; how much they give depends on the layers and the batch size."
    if training.waits:
        yield "Python makes these images one by one: the step may wait for them, however fast it is."
    if training.by_hand and module.runtime.backend == "jax":
        yield "bfloat16 needs no loss scaling."
    elif training.by_hand:
        yield "float16 loses small gradients unless a LossScaleOptimizer scales the loss" + (
            '; "mixed_bfloat16" needs no scaling.'
            if module.machine is None or "bfloat16" in module.machine.half_types
            else "."
        )
    if training.computing or training.doubtful:
        yield "If its own layers hard-code float32, half-precision tensors raise."
    if module.program.uses_tpu:
        yield 'On a TPU take "mixed_bfloat16".'


def _places(training):
    if training.by_hand and training.update is not None:
        yield training.update, "this step has to scale its loss"
    for place in (*training.computing, *training.doubtful)[:_SHOWN]:
        yield place, "this hard-codes float32"
