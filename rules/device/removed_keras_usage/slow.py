"""Lowers the learning rate by hand, in the way of Keras 2."""

import keras
import numpy as np

keras.utils.set_random_seed(0)

table = np.random.default_rng(0).normal(size=(512, 8)).astype("float32")
target = table @ np.linspace(-1, 1, 8, dtype="float32")[:, None]


class Halve(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.optimizer.lr = 0.5 ** (epoch + 2)  # KC315:pedantic


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(learning_rate=0.5, decay=0.01), "mse")  # KC315:pedantic
history = model.fit(table, target, epochs=4, verbose=0, callbacks=[Halve()])
print("loss:", history.history["loss"][-1])
