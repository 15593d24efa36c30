"""Pretrained networks that get images in their range, or images whose range is not visible."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.applications import ConvNeXtTiny, EfficientNetB0, MobileNetV2, MobileNetV3Large, ResNet50
from tensorflow.keras.applications.efficientnet import preprocess_input as keep
from tensorflow.keras.applications.mobilenet_v2 import preprocess_input

photos = keras.utils.image_dataset_from_directory("photos", image_size=(224, 224))
(x_train, y_train), _ = keras.datasets.cifar10.load_data()


def train(base, data):
    model = keras.Sequential([base, layers.GlobalAveragePooling2D(), layers.Dense(10)])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data)


# Bytes for networks that rescale them.
train(EfficientNetB0(include_top=False), photos)
train(ConvNeXtTiny(include_top=False), photos.map(lambda image, label: (keep(image), label)))
# Their own preprocessing is off, or may be.
unscaled = photos.map(lambda image, label: (image / 255, label))
train(MobileNetV3Large(include_top=False, include_preprocessing=False), unscaled)
train(MobileNetV3Large(include_top=False, include_preprocessing=len(y_train) > 3), unscaled)
# Weights of one's own may come from images in the same range.
train(EfficientNetB0(include_top=False, weights=None), unscaled)
train(EfficientNetB0(include_top=False, weights="mine.weights.h5"), unscaled)
# preprocess_input, or what may be its equivalent.
train(MobileNetV2(include_top=False), photos.map(lambda image, label: (preprocess_input(image), label)))
train(MobileNetV2(include_top=False), photos.map(lambda image, label: (image / 127.5 - 1, label)))
train(MobileNetV2(include_top=False), photos.map(load_transform()))
train(ResNet50(include_top=False, weights=None), photos)
# Images whose range is not visible.
train(EfficientNetB0(include_top=False), np.load("images.npy") / 255.0)
train(MobileNetV2(include_top=False), np.load("images.npy"))
train(EfficientNetB0(include_top=False), x_train / 255.0 * 255.0)

# Multiplied again before the network, and a network behind other layers.
inputs = keras.Input((224, 224, 3))
x = layers.Rescaling(255)(layers.Rescaling(1 / 255)(inputs))
model = keras.Model(inputs, EfficientNetB0(include_top=False)(x))
model.fit(photos)
x = layers.Conv2D(3, 1)(layers.Rescaling(1 / 255)(inputs))
model = keras.Model(inputs, EfficientNetB0(include_top=False)(x))
model.fit(photos)
x = preprocess_input(inputs)
model = keras.Model(inputs, MobileNetV2(include_top=False)(x))
model.fit(photos)


class Scaled(layers.Layer):
    def call(self, images):
        return tf.cast(images, tf.float32)


model = keras.Sequential([layers.Rescaling(1 / 255), Scaled(), EfficientNetB0(include_top=False)])
model.fit(photos)
