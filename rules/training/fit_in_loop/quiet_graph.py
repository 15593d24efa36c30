"""Keras in the graph of TensorFlow 1, where fit builds no dataset."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
for start in range(0, 4096, 32):
    model.fit(tf.zeros((32, 8))[start : start + 32], tf.zeros((32, 1)), epochs=1)
