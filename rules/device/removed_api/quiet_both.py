"""One name for two libraries."""

try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf

config = tf.ConfigProto()
