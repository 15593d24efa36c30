import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

images = rng.random((256, 64, 64, 3), dtype="float32")
labels = rng.integers(0, 10, 256)


def augment(image, label):
    return tf.image.random_flip_left_right(image), label


data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().map(augment).batch(32)
layers = keras.layers
model = keras.Sequential(
    [
        keras.Input((64, 64, 3)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=1, steps_per_epoch=1000, verbose=0)
