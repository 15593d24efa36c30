"""The first TensorFlow is replaced by the old one."""

import tensorflow as tf

print(tf.__version__)

import tensorflow.compat.v1 as tf

config = tf.ConfigProto()
