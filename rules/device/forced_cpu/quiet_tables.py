"""Rows of a table that no GPU holds."""

import numpy as np
import tensorflow as tf

optimizer = tf.keras.optimizers.SGD()
rows = tf.Variable(tf.zeros((50_000_000, 300)))
for words in np.load("words.npy"):
    with tf.device("/cpu:0"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.embedding_lookup(rows, words) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [rows]), [rows]))
