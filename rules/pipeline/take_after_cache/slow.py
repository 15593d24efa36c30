"""Train on the first part of a set of pictures that are decoded in every epoch, in spite of a cache."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
SUBSET = 200

pictures = rng.integers(0, 256, size=(400, 48, 48, 3), dtype=np.uint8)
encoded = [tf.io.encode_png(picture).numpy() for picture in pictures]
labels = rng.integers(0, 3, size=400)


def decode(png, label):
    image = tf.io.decode_png(png, channels=3)
    return tf.cast(tf.ensure_shape(image, (48, 48, 3)), tf.float32) / 255.0, label


def classifier():
    model = keras.Sequential([keras.Input((48, 48, 3)), layers.AveragePooling2D(8), layers.Flatten(), layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


source = tf.data.Dataset.from_tensor_slices((encoded, labels))

subset = source.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().take(200).batch(20)  # KC129
history = classifier().fit(subset.prefetch(1), epochs=3, verbose=0)

# --- One call per line -------------------------------------------------------------------------

batches = (
    source.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(20)
    # Decoded once.
    .cache()
    .take(10)  # KC129
    .prefetch(tf.data.AUTOTUNE)
)
of_batches = classifier().fit(batches, epochs=3, verbose=0)

# --- In statements, and a loop written by hand -------------------------------------------------

kept = source.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
kept = kept.cache()
kept = kept.take(SUBSET)  # KC129
model = classifier()
for _ in range(3):
    for images, classes in kept.batch(20).prefetch(1):
        loss = model.train_on_batch(images, classes)

# --- In methods, in a helper with a default, and for whoever imports this -----------------------


class Trainer:
    def __init__(self, limit=100):
        self.train_ds = self.load().take(limit)  # KC129

    def load(self):
        return source.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()

    def train(self):
        return classifier().fit(self.train_ds.batch(20).prefetch(1), epochs=3, verbose=0)


def first(dataset, count):
    return dataset.enumerate().take(count)  # KC129


def numbered():
    examples = first(source.map(decode).cache(), 300)
    for _ in range(5):
        for index, (image, label) in examples:
            model.train_on_batch(image[None], label[None])


def training_data():
    ds = source.map(decode).cache()
    ds = ds.batch(20).take(10)  # KC129
    return ds


Trainer().train()


print("loss:", history.history["loss"][-1] + of_batches.history["loss"][-1] + float(loss))
