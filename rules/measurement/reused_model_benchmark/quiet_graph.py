"""Keras in the graph of TensorFlow 1."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
losses = {}
for size in (16, 32, 64):
    losses[size] = model.fit(tf.zeros((32, 8)), tf.zeros((32, 1)), batch_size=size)
