"""A logical device with a limit takes that much of the GPU and no more."""

import keras
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
if gpus:
    tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((256, 8)), tf.random.normal((256, 1)), epochs=5)
