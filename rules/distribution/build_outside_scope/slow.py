"""Fits a curve on one of two logical devices, because the strategy is forgotten."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
)
keras.utils.set_random_seed(0)

x = np.linspace(-1.0, 1.0, 512, dtype="float32")[:, None]
y = np.cos(3 * x)


def build():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])  # KC501:warning
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return model


strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
model = build()
history = model.fit(x, y, epochs=3, batch_size=64, shuffle=False, verbose=0)
print("replicas:", model.distribute_strategy.num_replicas_in_sync if hasattr(model, "distribute_strategy") else 1)
print("loss:", history.history["loss"][-1])
