from kerascheck.api import Rule, Severity, data

_SMALL = 64 * 64


class HostFloatCast(Rule):
    """The host converts images to floats, so four times as many bytes go to the device.

    ## What it does

    Reports `tf.cast(image, tf.float32)` or `convert_image_dtype` as an info in a map that feeds training. The same
    function must decode the image to bytes. Only arithmetic may follow the cast, in this function and in later maps.

    ## Why it costs

    A float takes four bytes and a pixel value takes one. Pipeline buffers, caches and the copy to the device therefore
    grow by a factor of four. The share of this copy in a step is unmeasured here (no GPU). On a CPU, where no data are
    copied, a model does not train faster without the cast.

    ## What the runtime does by itself

    Nothing in the pipeline. A Keras layer casts its inputs to its own type, so a model accepts bytes directly, and
    `Rescaling` scales them on the device.

    ## When it stays silent

    - An operation after the cast needs floats, such as resizing or a colour change, or is unknown.
    - The image is resized before the cast, which already makes it floats.
    - A custom loop or step may need floats.
    - The model is a GAN, whose discriminator also receives images from the generator.
    - The images have fewer than 64 x 64 pixels, so there is little to copy, or no literal shows their size.
    - The dataset is used only for validation, evaluation, inspection or a `fit` of at most ten steps.
    - The program trains on a TPU, which does not accept bytes.

    ## Use instead

    Leave the image as it is, and start the model with `keras.layers.Rescaling(1 / 255)`.

    ## Fix safety

    There is no fix: the saved model would then expect bytes instead of floats.

    ## References

    - TensorFlow guide: "Optimize TensorFlow performance using the Profiler", on the host's share of the input
    - Keras documentation: "Rescaling layer"
    """

    code = "KC120"
    name = "host-float-cast"
    summary = "images are cast to floats on the host"
    severity = Severity.INFO
    triggers = (".map(",)
    evidence_note = "A CPU copies no data to a device; the gain needs a GPU."
    loss_tolerance = 1e-4

    def check(self, module):
        if module.program.uses_tpu or module.program.adversarial:
            return
        for op in module.pipelines.operations("map"):
            cast = op.facts.widening if op.feeds_training else None
            # A loop of the program may need float images.
            if cast is None or (op.facts.pixels or 0) < _SMALL or module.pipelines.training_loops(op):
                continue
            after = [
                facts
                for inner in op.stages
                for facts in map(data.facts_of, module.pipelines.downstream(inner))
                if facts is not None
            ]
            if all(facts.elementwise for facts in after):
                yield self.finding(
                    cast,
                    "This cast makes each pixel 4 bytes before the copy to the device; pass uint8 and start the model with Rescaling.",
                    because="No later operation of the pipeline needs floats.",
                    related=((op, "in this map"),),
                )
