"""Classifies sequences by their trend with recurrent layers."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
x = rng.normal(size=(96, 10, 4)).astype("float32")
y = (x[:, :, 0].mean(axis=1) > 0).astype("float32")


def from_cells(inputs, units):
    states = layers.GRU(units, return_sequences=True)(inputs)
    return layers.LSTM(units)(states)


class Regularised(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.encode = layers.LSTM(units, dropout=0.1)

    def call(self, inputs, training=False):
        return self.encode(inputs, training=training)


inputs = tf.keras.Input((10, 4))
features = layers.Concatenate()([from_cells(inputs, 8), Regularised(8)(inputs)])
model = tf.keras.Model(inputs, layers.Dense(1, activation="sigmoid")(features))
model.compile("adam", "binary_crossentropy")
history = model.fit(x, y, batch_size=32, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
