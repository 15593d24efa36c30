"""The same, said to TensorFlow."""

import tensorflow as tf

tf.config.set_visible_devices([], "GPU")

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((256, 8)), tf.random.normal((256, 1)), epochs=5)
