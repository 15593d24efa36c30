from kerascheck.api import Applies, Rule, Severity, data, names, options_of


class RandomLayerWhileLoop(Rule):
    """In TensorFlow 2.9 to 2.11, augmentation layers process a batch image by image.

    ## What it does

    Applies only to a target of TensorFlow 2.9, 2.10 or 2.11. Reports `RandomBrightness`, `RandomContrast` and
    `RandomTranslation`, and from 2.10 on also `RandomCrop`, `RandomRotation` and `RandomZoom`. The layer must be in a
    model that `fit` trains, or in a `map` over batches that feeds training.

    ## Why it costs

    In these versions the layers pass each image to `tf.vectorized_map`. `tf.vectorized_map` has no batched form of the
    random numbers and of the transform, so it falls back to a loop over the images. The log then shows "Using a
    while_loop for converting RngReadAndSkip" and ten similar lines.

    The table compares the layers of Keras 2.11 with two alternatives. TensorFlow 2.21 ran them on batches of 32 images
    of 64 x 64 pixels (2 CPU cores shared with other work, no GPU).

    | | the same layer of Keras 2.12 and later | the same layer before `batch` |
    |---|---|---|
    | `RandomContrast` | 14 times as long | 11 times |
    | `RandomCrop` | 10 | 5.0 |
    | `RandomTranslation` | 4.4 | 5.3 |
    | `RandomRotation` | 3.3 | 4.5 |
    | `RandomBrightness` | 3.1 | 4.3 |
    | `RandomZoom` | 3.0 | 2.2 |

    On a GPU, the loop launches many small operations; this is unmeasured here. The first bug reports were about GPUs.

    ## What the runtime does by itself

    TensorFlow 2.8 and older, and Keras 2.12 and newer, transform the whole batch at once. Among Keras 2.8 to 2.15,
    only the sources of 2.9, 2.10 and 2.11 contain `BaseImageAugmentationLayer`. Keras 3 has other layers. TensorFlow
    2.10 is still in use because it is the last version with GPU support on native Windows.

    ## When it stays silent

    - A `map` over single images, before `batch`.
    - `RandomFlip`, which was no slower (0.6), and `Resizing`, `Rescaling` and `CenterCrop`, which draw no random
      numbers.
    - Datasets that do not feed training or may be unbatched, and models that `fit` does not train here.

    ## Use instead

    TensorFlow 2.12 or newer. If that is not possible, apply the layers in a `map` before `batch`: `ds.map(lambda
    image, label: (augment(image, training=True), label), num_parallel_calls=tf.data.AUTOTUNE).batch(32)`.

    ## Fix safety

    There is no fix: a new version, or a new place for the layers, is a decision about the whole project.

    ## References

    - tensorflow/tensorflow issues 56242, 57191, 58108 and 58296; keras-team/keras-cv issues 291 and 581
    - Keras source: `layers/preprocessing/image_preprocessing.py` of 2.8 to 2.15
    """

    code = "KC211"
    name = "random-layer-while-loop"
    summary = "augmentation layer handles one image at a time"
    severity = Severity.WARNING
    applies = Applies(tensorflow=">=2.9,<2.12", keras="<3")
    triggers = ("RandomBrightness", "RandomContrast", "RandomCrop", "RandomRotation", "RandomTranslation", "RandomZoom")
    evidence_note = "Only Keras 2.9 to 2.11 has the slow layers; the example needs TensorFlow 2.10."
    loss_tolerance = None

    def check(self, module):
        target = module.runtime.tensorflow
        affected = names.layers.layers_where(
            lambda layer: layer.singly_since is not None and target >= layer.singly_since
        )
        version, seen = module.runtime.tensorflow_version, set()
        for model in module.models:
            for layer in model.layers if model.is_trained else ():
                if layer.name in affected and layer.certain and layer.made.node not in seen:
                    seen.add(layer.made.node)
                    yield self.finding(
                        layer.made,
                        f"In TensorFlow {version}, {_short(layer)} processes a batch image by image; "
                        "upgrade to 2.12, or apply it in ds.map before batch.",
                        because="It passes each image to tf.vectorized_map, which falls back to a loop for the operations of this layer.",
                        related=((model, "the model"),),
                    )
        held = {id(model.value): [layer.name for layer in model.layers if layer.certain] for model in module.models}
        for op in module.pipelines.operations("map"):
            if not op.feeds_training or not all(
                stage.input is not None and data.is_batched(stage.input) for stage in op.stages
            ):
                continue
            called = [
                option
                for call in op.facts.calls
                if call.attribute == "__call__"
                for option in options_of(call.receiver)
            ]
            kinds = {name for value in called for name in held.get(id(value), (getattr(value, "name", None),))}
            if slow := sorted(kinds & affected):
                yield self.finding(
                    op,
                    f"In TensorFlow {version}, {slow[0].rpartition('.')[2]} processes a batch image by image; upgrade to 2.12, or map before batch.",
                    because="It passes each image to tf.vectorized_map, which falls back to a loop for the operations of this layer.",
                )


def _short(layer):
    return layer.name.rpartition(".")[2]
