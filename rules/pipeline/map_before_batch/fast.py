"""A classifier for handwritten digits and a regression on sensor rows, both fed through tf.data."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Sequential, layers, utils

utils.set_random_seed(0)
rng = np.random.default_rng(0)

AUTOTUNE = tf.data.AUTOTUNE

# --- Digits ------------------------------------------------------------------------------------

digits = rng.integers(0, 256, size=(6000, 28, 28), dtype=np.uint8)
classes = rng.integers(0, 10, size=6000)


def prepare(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return image * 2.0 - 1.0, tf.one_hot(label, 10)


def digit_batches(images, labels, batch_size):
    return (
        tf.data.Dataset.from_tensor_slices((images, labels))
        .shuffle(6000, seed=7)
        .batch(batch_size, drop_remainder=True)
        .map(prepare, num_parallel_calls=AUTOTUNE)
        .prefetch(AUTOTUNE)
    )


classifier = Sequential([Input((28, 28)), layers.Flatten(), layers.Dense(10, activation="softmax")])
classifier.compile(optimizer="sgd", loss="categorical_crossentropy")
digit_history = classifier.fit(digit_batches(digits, classes, 100), epochs=5, verbose=0)

# --- Sensors -----------------------------------------------------------------------------------

rows = rng.normal(20.0, 5.0, size=(8000, 12)).astype("float32")
power = rows.sum(axis=1) / 100.0
MEAN, SCALE = float(rows.mean()), float(rows.std())


def as_features(values, target):
    return {"values": values / 100.0, "squares": tf.square(values) / 1000.0}, target


sensors = tf.data.Dataset.from_tensor_slices((rows, power))

standard = sensors.batch(200).map(lambda values, target: ((values - MEAN) / SCALE, target))
line = Sequential([Input((12,)), layers.Dense(1)])
line.compile(optimizer="adam", loss="mse")
line_history = line.fit(standard.prefetch(AUTOTUNE), epochs=2, verbose=0)

features = sensors.shuffle(8000, seed=8)
features = features.batch(200)
features = features.map(as_features)

values = Input((12,), name="values")
squares = Input((12,), name="squares")
output = layers.Dense(1)(layers.Concatenate()([values, squares]))
curve = tf.keras.Model({"values": values, "squares": squares}, output)
curve.compile(optimizer="adam", loss="mse")
curve_history = curve.fit(features.prefetch(AUTOTUNE), epochs=2, verbose=0)

losses = [history.history["loss"][-1] for history in (digit_history, line_history, curve_history)]
print("loss:", sum(losses))
