"""Growth is switched off on one device, as it is on the others."""

import keras
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], False)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.zeros((64, 8)), tf.zeros((64, 1)))
