"""Train with augmentation that Python decides: once, when the mapped function is traced."""

import random

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

images = rng.integers(0, 256, size=(512, 24, 24, 3), dtype=np.uint8)
labels = rng.integers(0, 4, size=512)
seen = []


def brighten(image):
    delta = np.random.uniform(-0.2, 0.2)  # KC108
    return tf.clip_by_value(image + delta, 0.0, 1.0)


def maybe_flip(image):
    if random.random() < 0.5:  # KC108
        image = tf.image.flip_left_right(image)
    return image


def augment(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    seen.append(label)  # KC108
    return maybe_flip(brighten(image)), label


def report(images, labels):
    print("batch of", tf.shape(images)[0])  # KC108
    return images, labels


dataset = tf.data.Dataset.from_tensor_slices((images, labels))
dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.map(lambda image, label: (image + np.random.normal(scale=0.01), label))  # KC108
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

# --- Counting, and writing to what is outside ---------------------------------------------------

by_label = {}
order = []
total = 0


class Pipeline:
    def __init__(self):
        self.examples = 0
        self.last = None

    def prepare(self, image, label):
        self.examples += 1  # KC108
        self.last = label  # KC108
        return image, label


def keep(image, label):
    global total
    total += 1  # KC108
    by_label["newest"] = image  # KC108
    order.insert(0, label)  # KC108
    return image, label


pipeline = Pipeline()
written = tf.data.Dataset.from_tensor_slices((images, labels)).map(pipeline.prepare, num_parallel_calls=2).map(keep, num_parallel_calls=2)
model.fit(written.batch(128).prefetch(1), epochs=1, verbose=0)

print("examples seen:", len(seen), pipeline.examples, total)
print("loss:", history.history["loss"][-1])
