"""Metrics that cost little, that run rarely, or that no training updates."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

x, y = np.random.rand(64, 16).astype("float32"), np.random.rand(64, 4).astype("float32")


def distance(true, found):
    texts = [tf.sparse.from_dense(tf.argmax([values, 1 - values])) for values in (true, found)]
    return tf.reduce_mean(tf.edit_distance(*texts, normalize=False))


class Accuracy(keras.metrics.Mean):
    # Operations of TensorFlow only.
    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(tf.reduce_mean(tf.cast(tf.argmax(y_pred, -1) == tf.argmax(y_true, -1), "float32")))


class Sometimes(keras.metrics.Mean):
    def __init__(self):
        super().__init__(name="sometimes")
        self.steps = self.add_weight(name="steps", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.steps.assign_add(1.0)
        often = tf.equal(self.steps % 100.0, 0.0)
        value = tf.cond(often, lambda: distance(y_true, y_pred), lambda: 0.0)
        return super().update_state(value)


class Option(keras.metrics.Mean):
    def __init__(self, exact):
        super().__init__(name="option")
        self.exact = exact

    def update_state(self, y_true, y_pred, sample_weight=None):
        value = tf.reduce_mean(y_pred)
        if self.exact:
            value = distance(y_true, y_pred)
        return super().update_state(value)


class Unused(keras.metrics.Mean):
    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(distance(y_true, y_pred))


def network():
    return keras.Sequential([keras.Input((16,)), layers.Dense(4)])


model = network()
model.compile("sgd", "mse", metrics=["mae", keras.metrics.CosineSimilarity(), Accuracy(), Sometimes(), Option(len(x) > 1)])
model.fit(x, y, verbose=0)

evaluated = network()
evaluated.compile("sgd", "mse", metrics=[distance])
evaluated.evaluate(x, y, verbose=0)


class Score(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(Unused()(y, self.model.predict(x, verbose=0)), distance(y, self.model.predict(x, verbose=0)))


plain = network()
plain.compile("sgd", "mse")
plain.fit(x, y, callbacks=[Score()], verbose=0)
