"""Keras in the graph of TensorFlow 1."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

for _ in range(20):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.zeros((32, 8)), tf.zeros((32, 1)), epochs=1)
