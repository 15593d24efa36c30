"""Trains a regression network, then fine-tunes it on a dataset."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
tf.config.run_functions_eagerly(True)  # KC309
tf.data.experimental.enable_debug_mode()  # KC309
tf.debugging.enable_check_numerics()  # KC309

rng = np.random.default_rng(0)
x = rng.normal(size=(192, 8)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")


def build(units):
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1)]
    )
    model.compile(
        optimizer="adam",
        loss="mse",
        run_eagerly=True,  # KC309
        metrics=["mae"],
    )
    return model


def fine_tune(model, dataset):
    model.compile(keras.optimizers.SGD(0.01), "mse", run_eagerly=True)  # KC309
    model.run_eagerly = True  # KC309
    return model.fit(dataset, epochs=2, verbose=0)


dataset = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (2.0 * a, b)).batch(32)
model = build(16)
model.fit(dataset, epochs=2, verbose=0)
history = fine_tune(model, dataset)
print("loss:", history.history["loss"][-1])
