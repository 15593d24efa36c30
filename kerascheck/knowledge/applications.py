"""The pretrained networks of ``keras.applications``, and the images that they expect.

Source: keras/src/applications of Keras 3.15, and tf_keras/src/applications of tf_keras 2.21 for RegNet and ResNetRS.
"""

from __future__ import annotations

from kerascheck.knowledge.namespaces import OF_KERAS_APPLICATIONS

_WITH_PREPROCESSING = ("EfficientNet", "MobileNetV3", "ConvNeXt", "RegNet", "ResNetRS")
"""Prefixes of networks that begin with a ``Rescaling`` or ``Normalization`` layer for bytes."""
_SAME_IMAGES = ("efficientnet", "efficientnet_v2", "mobilenet_v3", "convnext", "regnet", "resnet_rs")
"""Modules whose ``preprocess_input`` returns its argument."""
_RANGES = {
    "ResNet": "BGR without the ImageNet mean, about -124 to 151",
    "VGG": "BGR without the ImageNet mean, about -124 to 151",
    "InceptionV3": "-1 to 1",
    "InceptionResNetV2": "-1 to 1",
    "Xception": "-1 to 1",
    "MobileNet": "-1 to 1",
    "NASNet": "-1 to 1",
    "DenseNet": "ImageNet mean 0 and standard deviation 1",
}
IMAGENET = "imagenet"
"""The name of the published weights, and the default of the argument ``weights``."""


def is_network(name: str) -> bool:
    """Whether a canonical name is a network of ``keras.applications``.

    Example:
        >>> is_network("keras.applications.vgg16.VGG16"), is_network("keras.applications.vgg16.preprocess_input")
        (True, False)
    """
    return name.startswith(OF_KERAS_APPLICATIONS) and _short(name)[:1].isupper()


def prepares_images(name: str) -> bool:
    """Whether a network takes images of 0 to 255 and rescales them itself, unless ``include_preprocessing=False``.

    Example:
        >>> prepares_images("keras.applications.EfficientNetB0"), prepares_images("keras.applications.VGG16")
        (True, False)
    """
    return is_network(name) and _short(name).startswith(_WITH_PREPROCESSING)


def expected_range(name: str) -> str | None:
    """The values that a network without preprocessing expects, in words; None for other networks.

    Example:
        >>> expected_range("keras.applications.mobilenet_v2.MobileNetV2")
        '-1 to 1'
    """
    short = _short(name)
    if not is_network(name) or prepares_images(name):
        return None
    if short.startswith("ResNet") and short.endswith("V2"):
        return "-1 to 1"
    return next((values for prefix, values in _RANGES.items() if short.startswith(prefix)), None)


def keeps_images(function: str) -> bool:
    """Whether a function is a ``preprocess_input`` that returns its argument.

    Example:
        >>> keeps_images("keras.applications.efficientnet.preprocess_input")
        True
    """
    return function in {f"{OF_KERAS_APPLICATIONS}{module}.preprocess_input" for module in _SAME_IMAGES}


def _short(name: str) -> str:
    return name.rpartition(".")[2]
