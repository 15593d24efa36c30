"""Forecasts a seasonal series with a dense network over windows of it."""

import os

import keras
import numpy as np
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

keras.utils.set_random_seed(int(os.environ.get("SLURM_PROCID", "0")))


def windows(series, length):
    data = tf.data.Dataset.from_tensor_slices(series).window(length + 1, shift=1, drop_remainder=True)
    data = data.flat_map(lambda window: window.batch(length + 1))
    return data.map(lambda window: (window[:-1], window[-1:])).batch(32).prefetch(tf.data.AUTOTUNE)


def build_model(length):
    model = keras.Sequential(
        [keras.Input((length,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)]
    )
    model.compile(optimizer="adam", loss="mse")
    return model


time = np.arange(300, dtype="float32")
series = np.sin(time / 6.0) + 0.01 * time
model = build_model(24)
history = model.fit(windows(series, 24), epochs=3, verbose=0)
model.fit(windows(series[150:], 24), epochs=1, verbose=0)
print("loss:", history.history["loss"][-1])
