"""Callbacks that do little in a batch, or do much only now and then."""

import keras
import matplotlib.pyplot as plt
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
x_val, y_val = np.load("x_val.npy"), np.load("y_val.npy")


class Curve(keras.callbacks.Callback):
    # What the logs hold already, and a learning rate: microseconds.
    def on_train_batch_end(self, batch, logs=None):
        self.rates.append(float(self.model.optimizer.learning_rate))
        self.losses.append(logs["loss"])
        print(batch, np.mean(self.losses))


class Sometimes(keras.callbacks.Callback):
    # Once in 500 batches.
    def on_train_batch_end(self, batch, logs=None):
        if batch % 500 == 0:
            self.model.save_weights("latest.weights.h5")
            print(self.model.evaluate(x_val, y_val, verbose=0))


class Seldom(keras.callbacks.Callback):
    # The same, written the other way round.
    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % 500:
            return
        self.model.evaluate(x_val, y_val, verbose=0)


class Delegating(keras.callbacks.Callback):
    # The condition stands in the method that does the work.
    def show(self, batch):
        if batch % 1000:
            return
        plt.plot(self.model.predict(x_val, verbose=0))
        plt.savefig("latest.png")

    def on_train_batch_end(self, batch, logs=None):
        self.show(batch)


class Epochs(keras.callbacks.Callback):
    # Once in an epoch.
    def on_epoch_end(self, epoch, logs=None):
        self.model.evaluate(x_val, y_val, verbose=0)
        self.model.save(f"{epoch}.keras")


class Tests(keras.callbacks.Callback):
    # Batches of evaluate, which is not training.
    def on_test_batch_end(self, batch, logs=None):
        self.model.save_weights("latest.weights.h5")


class Board:
    # A class of one's own: Keras does not call this.
    def on_train_batch_end(self, batch, logs=None):
        self.model.evaluate(x_val, y_val, verbose=0)


class Forest(keras.callbacks.Callback):
    # The estimators of other libraries have a predict() of their own.
    def __init__(self, forest):
        self.forest = forest

    def on_train_batch_end(self, batch, logs=None):
        self.forest.predict(x_val[:1])


def rare(batch, logs):
    if batch % 200 == 0:
        model.save("latest.keras")


# As functions: one with a condition, one that runs once in an epoch.
watchers = [
    keras.callbacks.LambdaCallback(on_train_batch_end=rare),
    keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: model.evaluate(x_val, y_val)),
]

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, callbacks=[Curve(), Sometimes(), Seldom(), Delegating(), Epochs(), Tests(), *watchers])
