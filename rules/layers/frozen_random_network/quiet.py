"""Frozen networks with pretrained weights, and random networks that learn."""

from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.applications import ResNet50, VGG16

images, labels = load()


def train(base):
    model = keras.Sequential([base, layers.GlobalAveragePooling2D(), layers.Dense(4)])
    model.compile("adam", "mse")
    model.fit(images, labels)


# Pretrained.
pretrained = ResNet50(include_top=False)
pretrained.trainable = False
train(pretrained)
imagenet = VGG16(weights="imagenet", include_top=False)
imagenet.trainable = False
train(imagenet)
# Unknown weights.
chosen = ResNet50(weights=choose(), include_top=False)
chosen.trainable = False
train(chosen)
# Trained from scratch.
scratch = ResNet50(weights=None, include_top=False)
scratch.trainable = True
train(scratch)
# Frozen at first only.
thawed = ResNet50(weights=None, include_top=False)
thawed.trainable = False
train(thawed)
thawed.trainable = True
train(thawed)
# Someone else may load weights.
restored = ResNet50(weights=None, include_top=False)
fill(restored)
restored.trainable = False
train(restored)
# Not trained here.
unused = ResNet50(weights=None, include_top=False)
unused.trainable = False
