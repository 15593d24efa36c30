"""One device, and the script has made sure of it."""

import keras
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
if len(gpus) == 1:
    tf.config.experimental.set_memory_growth(gpus[0], True)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.zeros((64, 8)), tf.zeros((64, 1)))
