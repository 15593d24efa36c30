from kerascheck.api import Rule, Severity, data

_SMALL = 64 * 64


class HostFloatCast(Rule):
    """Images are converted to floats on the host, so four times as many bytes go to the device.

    ## What it does

    Reports, as an info, the `tf.cast(image, tf.float32)` or `convert_image_dtype` of a map that feeds training, where
    the image was decoded to bytes in the same function and nothing but arithmetic follows it, there and in the maps
    after it.

    ## Why it costs

    A float takes four bytes and a pixel value one, so pipeline buffers, caches and the copy to the device grow by
    that factor. How much of a step that copy takes is unmeasured here (no GPU). On a CPU, where nothing is copied, a
    model does not train faster without the cast.

    ## What the runtime does by itself

    Nothing about the pipeline. A Keras layer casts its inputs to its own type, so a model takes bytes as they are, and
    `Rescaling` scales them on the device.

    ## When it stays silent

    - An operation after the cast needs floats, such as resizing and colour changes, or is unknown.
    - The image is resized before: that already makes it floats.
    - Custom loops and steps, which may need floats, and GANs, whose discriminator also gets what the generator makes.
    - Images of fewer than 64 x 64 pixels, which are little to copy, and of a size that no literal shows.
    - The dataset feeds only validation, evaluation, inspection or a `fit` of at most ten steps; TPUs, which take no
      bytes.

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
    loss_tolerance = 1e-4

    def check(self, module):
        if module.program.uses_tpu or module.program.adversarial:
            return
        for op in module.pipelines.operations("map"):
            cast = op.facts.widening if op.feeds_training else None
            # What a loop of the program's own does with the images may need floats.
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
