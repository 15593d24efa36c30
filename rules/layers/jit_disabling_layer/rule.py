from kerascheck.api import Applies, Rule, Severity, constant, names

# With cuDNN, which gains more than XLA, these switch XLA off by themselves.
_RECURRENT = names.layers.layers_where(lambda layer: layer.cudnn)

# The others look texts and numbers up: KC212 reports them.
_BLOCKING = names.layers.layers_where(lambda layer: not layer.jit and layer.work is names.layers.Work.PREPARES)


class JitDisablingLayer(Rule):
    """An augmentation layer keeps XLA from compiling the whole model.

    ## What it does

    Reports a model that is trained with `fit` and contains a `RandomCrop`, `RandomPerspective`, `RandomRotation`,
    `RandomShear`, `RandomTranslation`, `RandomZoom`, `RandAugment` or `AugMix`. There is one finding per model, at the
    first such layer. It is an info, because the gain from XLA depends on the model and the device.

    ## Why it costs

    Keras 3 compiles the training step with XLA by default if there is a GPU. Keras first checks whether every layer
    supports XLA, including the layers of nested models. One layer without support turns XLA off for all others,
    without a message. The cost on a GPU is unmeasured here; XLA may gain or lose. On a CPU it costs nothing, because
    Keras does not use XLA there. A small CNN with three random layers took the same time with the layers in the model
    and in `map` (1.00; TensorFlow 2.21, 2 CPU cores, no GPU).

    ## What the runtime does by itself

    In Keras 3, `jit_compile="auto"` means True if all of these conditions hold:

    - the backend is TensorFlow;
    - a GPU is visible;
    - the program uses no `tf.distribute` strategy;
    - determinism of operations is off;
    - every layer supports XLA.

    Otherwise it means False. Even `jit_compile=True` becomes False, with a warning. tf.keras 2 does not use XLA by
    default.

    We tested all layers of Keras 3.15 with a simulated GPU. The eight above and the lookup layers (see
    `lookup-layer-in-model`) do not support XLA. `RandomFlip`, `RandomContrast`, `RandomBrightness` and the other color
    layers do. An `LSTM` or `GRU` that cuDNN can run does not support it either, also in `Bidirectional`. It cannot
    move to `ds.map`, so the rule does not report it.

    ## When it stays silent

    - The file imports a module that only Keras 2 has, such as `layers.experimental.preprocessing`.
    - XLA is off for other reasons: `jit_compile=False`, a strategy, determinism or `run_eagerly`, also if the value of
      such an argument is unknown. An LSTM or GRU in the model, which uses cuDNN instead, also counts.
    - The augmentation runs in `ds.map` or in a custom loop, or a condition adds the layer to the model.
    - The program does not train the model with `fit`.

    ## Use instead

    `ds.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)`, with the random layers
    in a separate model `augment`. This moves the work to the CPU, so measure both variants. Or keep the layers and
    write `jit_compile=False` to show that this is intended.

    ## Fix safety

    There is no fix: only the author knows where the program batches the images, and whether the CPU has time left for
    them.

    ## References

    - Keras documentation: "Model training APIs" (compile), "Image augmentation layers"
    - Keras source: `trainers/trainer.py` (`model_supports_jit`), `layers/preprocessing/image_preprocessing`
    - tensorflow/tensorflow issue 100865
    """

    code = "KC210"
    name = "jit-disabling-layer"
    summary = "augmentation layer switches XLA off"
    severity = Severity.INFO
    applies = Applies(keras=">=3", backends={"tensorflow"}, cpu_only=False)
    triggers = (
        "AugMix",
        "RandAugment",
        "RandomCrop",
        "RandomPerspective",
        "RandomRotation",
        "RandomShear",
        "RandomTranslation",
        "RandomZoom",
    )
    loss_tolerance = None

    def check(self, module):
        program = module.program
        if program.keras < 3 or program.distributes or program.is_deterministic:
            return
        seen = set()
        for model in module.models:
            blocking = [layer for layer in model.layers if layer.certain and layer.name in _BLOCKING]
            if (
                not blocking
                or not model.is_trained
                or not model.compiles
                or any(layer.name in _RECURRENT for layer in model.layers)
            ):
                continue
            first, *others = blocking
            if first.made.node in seen or not all(map(_may_use_xla, model.compiles)):
                continue
            seen.add(first.made.node)
            yield self.finding(
                first.made,
                f"{first.name.rpartition('.')[2]} turns XLA off for the whole model; augment in ds.map or set jit_compile=False.",
                because="Keras compiles a model with XLA only if every layer allows it, and this one does not.",
                related=(
                    (model, "the model that contains it"),
                    *(
                        (layer.made, "does not allow it either")
                        for layer in others
                        if layer.made.node is not first.made.node
                    ),
                ),
            )


def _may_use_xla(call):
    jit, eager = call.given("jit_compile"), call.given("run_eagerly")
    return (jit is None or constant(jit) in ("auto", True)) and (eager is None or constant(eager, True) is False)
