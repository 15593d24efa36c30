"""A graph of TensorFlow 1."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, (None, 1))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x)
