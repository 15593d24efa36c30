"""Train with augmentation that TensorFlow decides: anew for every image."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

images = rng.integers(0, 256, size=(512, 24, 24, 3), dtype=np.uint8)
labels = rng.integers(0, 4, size=512)


def brighten(image):
    delta = tf.random.uniform((), -0.2, 0.2)
    return tf.clip_by_value(image + delta, 0.0, 1.0)


def maybe_flip(image):
    return tf.image.random_flip_left_right(image)


def augment(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return maybe_flip(brighten(image)), label


def report(images, labels):
    tf.print("batch of", tf.shape(images)[0])
    return images, labels


dataset = tf.data.Dataset.from_tensor_slices((images, labels))
dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.map(lambda image, label: (image + tf.random.normal((), stddev=0.01), label))
dataset = dataset.batch(128).map(report).prefetch(tf.data.AUTOTUNE)

model = keras.Sequential(
    [
        keras.Input((24, 24, 3)),
        layers.Conv2D(4, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
history = model.fit(dataset, epochs=2, verbose=0)

# --- Counting, and looking from outside ---------------------------------------------------------

written = tf.data.Dataset.from_tensor_slices((images, labels))
model.fit(written.batch(128).prefetch(1), epochs=1, verbose=0)

print("examples seen:", 2 * len(images), len(images), len(images))
print("loss:", history.history["loss"][-1])
