from kerascheck.api import Rule, Severity, models


class FrozenRandomNetwork(Rule):
    """A network is created without pretrained weights and then frozen, so it never learns.

    ## What it does

    Reports `base.trainable = False` for a network of `keras.applications` with `weights=None`, in a model that the
    program fits.

    ## Why it costs

    The network keeps its random initial weights, and only the layers after it learn. Each step still computes the
    whole network. In our example, the loss of a frozen MobileNetV3Small stays at 1.385 after 3 epochs, near the 1.386
    of chance for four classes. Trained, it reaches 0.0001 (2 CPU cores, TensorFlow 2.21, no GPU). No step is slower;
    the accuracy is lost.

    ## What the runtime does by itself

    Nothing. Keras raises no error and prints no warning.

    ## When it stays silent

    - The program loads weights anywhere, such as with `load_weights`, `set_weights` or a checkpoint.
    - A function that is not visible gets the network or its model, and may load weights.
    - The program sets `trainable` to something else as well, or under a condition, or for single layers.
    - `weights` is not the literal None, or no visible `fit` trains the model.

    ## Use instead

    Pass `weights="imagenet"` to use the pretrained network, or leave it trainable to train it from scratch.

    ## Fix safety

    There is no fix, because only the author knows which of the two was meant.

    ## References

    - Keras guide: "Transfer learning & fine-tuning"
    """

    code = "KC217"
    name = "frozen-random-network"
    summary = "network is frozen with random weights"
    severity = Severity.WARNING
    speed = False
    triggers = (".trainable",)
    needs = ("applications",)
    loss_tolerance = None

    def check(self, module):
        for found in models.frozen_random_networks(module):
            yield self.finding(
                found.frozen,
                'This freezes random weights; pass weights="imagenet" to the network, or leave it trainable.',
                because="The network has no pretrained weights, and none are loaded, so it never learns anything.",
                related=((found.made, "created with weights=None"), (found.fit, "trained here")),
            )
