"""Keras in the graph of TensorFlow 1."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
for epoch in range(10):
    for start in range(0, 4096, 32):
        model.train_on_batch(tf.zeros((4096, 8))[start : start + 32], tf.zeros((32, 1)))
