"""Trains a regressor and watches it more closely than it pays."""

import tempfile

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)

rng = np.random.default_rng(1)
x = rng.normal(size=(640, 10)).astype("float32")
y = np.tanh(x @ rng.normal(size=(10, 1))).astype("float32")
x_train, y_train, x_val, y_val = x[:512], y[:512], x[512:], y[512:]


class Watch(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses, self.spread = [], []

    def record(self):
        self.spread.append(float(np.std(self.model.predict(x_val, verbose=0))))

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(self.model.evaluate(x_val, y_val, verbose=0))
        self.record()


class Backup(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.path = f"{folder}/latest.weights.h5"

    def on_epoch_end(self, epoch, logs=None):
        self.model.save_weights(self.path)


watch = Watch()
model = keras.Sequential([layers.Input((10,)), layers.Dense(24, activation="tanh"), layers.Dense(1)])
model.compile("adam", "mse")
with tempfile.TemporaryDirectory() as folder:
    model.fit(x_train, y_train, epochs=2, batch_size=64, verbose=0, callbacks=[watch, Backup(folder)])
print("seen:", len(watch.losses), "times")
print("loss:", watch.losses[-1])
