from kerascheck.api import Rule, Severity, models


class PretrainedInputRange(Rule):
    """A network of `keras.applications` gets images outside of the range that it expects.

    ## What it does

    Reports two mistakes:

    - EfficientNet, EfficientNetV2, MobileNetV3, ConvNeXt, RegNet and ResNetRS rescale their images themselves, but a
      `Rescaling(1/255)` layer, an `ImageDataGenerator(rescale=1/255)`, a mapped function or NumPy divides them by 255
      before;
    - ResNet, VGG, Inception, Xception, MobileNet (V1 and V2), DenseNet and NASNet with the ImageNet weights get the
      values 0 to 255 of image files, without their `preprocess_input`.

    ## Why it costs

    A network that divides by 255 twice gets values between 0 and 0.004. To its pretrained weights all images are black,
    so it returns nearly the same features for all of them.

    Our example trains one layer on the features of a frozen MobileNetV3Small, whose weights come from similar images.
    After 10 epochs the loss is 1.37 with the division, which is chance for four classes, and 0.21 without (2 CPU cores,
    TensorFlow 2.21, no GPU). No step is slower; the accuracy is lost. A network without pretrained weights learned
    equally well in both ranges, so the rule reports none.

    Other networks expect -1 to 1, or images without the mean of ImageNet. We have not measured what bytes cost there.
    ResNet (not ResNetV2) and VGG get the right scale at least, so that finding is an info.

    ## What the runtime does by itself

    Nothing. Keras cannot know the range, and raises no error. The `preprocess_input` of networks that rescale their
    images themselves is a placeholder that returns its argument.

    ## When it stays silent

    - Anything between the images and the network is unknown: a function without visible source, a layer of your own,
      arithmetic other than a division by 255, a subclassed model, or `np.load`.
    - `include_preprocessing=False`, or a value that is not a literal.
    - Other weights than ImageNet's. A file of your own may come from a training in the same range.
    - Images of the range 0 to 1 in a network without preprocessing, although these are often wrong, too.

    ## Use instead

    Leave the division out for networks that rescale, or pass `include_preprocessing=False` and prepare the images as
    the documentation of that network says. For others, call the `preprocess_input` of the module of the network, either
    in the dataset or on `keras.Input`.

    ## Fix safety

    There is no fix, because other code may depend on the range of the images.

    ## References

    - Keras API: "Keras Applications", and the note in the documentation of each network
    - Keras source: `applications/efficientnet.py`, `mobilenet_v3.py`, `convnext.py` and `imagenet_utils.py`
    """

    code = "KC216"
    name = "pretrained-input-range"
    summary = "pretrained network gets wrongly scaled images"
    severity = Severity.WARNING
    speed = False
    triggers = ("EfficientNet", "MobileNet", "ConvNeXt", "RegNet", "ResNet", "VGG", "ception", "NASNet", "DenseNet")
    loss_tolerance = None

    def check(self, module):
        for found in models.wrong_images(module):
            name = found.network.name.rpartition(".")[2]
            if found.scaled is not None:
                yield self.finding(
                    found.scaled,
                    f"This divides by 255 what {name} rescales itself; pass it images of 0 to 255.",
                    because="After the second division all images are nearly black, so the network sees no differences.",
                    related=((found.network, "the network"), *((found.fit, "trained here"),) * (found.fit is not None)),
                )
            else:
                yield self.finding(
                    found.network,
                    f"{name} gets images of 0 to 255 here; call its `preprocess_input` on them first.",
                    because=f"Its ImageNet weights expect other values: {found.expected}.",
                    related=((found.fit, "the images come from here"),),
                    doubt="Only the mean and the order of the channels are wrong, which may cost little accuracy."
                    if found.is_scale_right
                    else None,
                )
