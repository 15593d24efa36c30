"""Keras in the graph of TensorFlow 1."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
for _ in range(20):
    model.compile("adam", "mse")
    model.fit(tf.zeros((32, 8)), tf.zeros((32, 1)))
