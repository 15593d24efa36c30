"""Python functions in metrics, evaluation and input pipelines, where no training step waits for them."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


def score(y_true, y_pred):
    # A metric that exists in Python only.
    return tf.py_function(lambda a, b: np.float32(np.corrcoef(a[:, 0], b[:, 0])[0, 1]), [y_true, y_pred], tf.float32)


@tf.function
def summarize(values):
    # Compiled, but no training step.
    return tf.numpy_function(np.median, [values], tf.float32)


class Evaluated(keras.Model):
    def test_step(self, data):
        x, y = data
        return {"median": tf.numpy_function(np.median, [self(x) - y], tf.float32)}


class Watched(keras.layers.Layer):
    # Nothing comes back: it writes.
    def call(self, inputs):
        tf.numpy_function(lambda v: written.append(v.mean()), [inputs], [])
        return inputs


def load(path):
    return tf.numpy_function(np.load, [path], tf.float32)


def eager(x):
    # Not compiled at all.
    return tf.py_function(lambda v: v + 1, [x], tf.float32)


ds = tf.data.Dataset.list_files("*.npy").map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(8).prefetch(1)
inputs = keras.Input((4,))
written = []
model = Evaluated(inputs, keras.layers.Dense(1)(Watched()(inputs)))
model.compile("sgd", "mse", metrics=[score])
model.fit(ds)
print(summarize(tf.ones(3)), eager(tf.ones(3)))
