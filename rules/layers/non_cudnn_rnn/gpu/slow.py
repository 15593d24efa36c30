"""Classifies long sequences by their trend: a recurrent layer of a size that keeps a GPU busy."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
x = rng.normal(size=(1024, 200, 64)).astype("float32")
y = (x[:, :, 0].mean(axis=1) > 0).astype("float32")

inputs = keras.Input((200, 64))
states = layers.RNN(layers.LSTMCell(256), return_sequences=True)(inputs)  # KC208
states = layers.LSTM(256, recurrent_dropout=0.2)(states)  # KC208
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(states))
model.compile("adam", "binary_crossentropy")
history = model.fit(x, y, batch_size=64, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
