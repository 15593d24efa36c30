"""Wrappers that are needed, and layers of which only the project knows what they do."""

import keras
import numpy as np
from keras import layers
from keras.layers import Conv2D, Flatten, TimeDistributed

words_of_a_file = np.load("rows.npy")

words = layers.Input((30, 12, 8))
# These look at more than the last axis.
x = TimeDistributed(Flatten())(words)
x = TimeDistributed(layers.Reshape((8, 12)))(x)
x = TimeDistributed(layers.GlobalMaxPooling1D())(x)
x = TimeDistributed(layers.LSTM(4))(words)
# Statistics and weights per step are others than those of the whole.
x = TimeDistributed(layers.BatchNormalization())(x)
x = TimeDistributed(layers.PReLU())(x)
# A mask is handed to it step by step.
x = TimeDistributed(layers.Softmax())(x)
# Axes are counted without the time.
x = TimeDistributed(layers.LayerNormalization(axis=1))(words)
x = TimeDistributed(layers.Dropout(0.1, noise_shape=(None, 1, 8)))(words)
# What is wrapped is not known.
head = keras.layers.deserialize(keras.saving.load_model("parts.keras").get_config())
x = TimeDistributed(head)(words)


class Gate(layers.Layer):
    def call(self, inputs):
        return inputs * keras.ops.sigmoid(keras.ops.mean(inputs))


x = TimeDistributed(Gate())(words)
# A single step, in which there is nothing to repeat.
once = keras.Sequential([layers.Input((8,)), layers.RepeatVector(1), layers.LSTM(4, return_sequences=True), TimeDistributed(layers.Dense(2))])
rows = []
for row in words_of_a_file:
    rows.append(row.reshape([1, 2]))
goals = keras.Input((np.array(rows).shape[1], 2))
_, state = layers.GRU(4, return_state=True)(keras.Input((8, 3)))
steps = layers.LSTM(4, return_sequences=True)(layers.RepeatVector(goals.shape[1])(layers.BatchNormalization()(state)))
decoder = keras.Model(goals, TimeDistributed(layers.Dense(2))(steps))
# A sequence of a length that is not known here, and a short one.
film = layers.Input((None, 64, 64, 3))
seen = TimeDistributed(Conv2D(8, 3))(film)
pair = layers.Input((2, 64, 64, 3))
both = TimeDistributed(Conv2D(8, 3))(pair)
model = keras.Model([words, film, pair], [x, seen, both])
model.compile("adam", "mse")
