"""fit() in loops that are about models, long chunks or few turns, and between whose turns the training changes."""

import keras
import numpy as np
import tensorflow as tf
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import KFold

x, y = np.load("x.npy"), np.load("y.npy")
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


def build(units=8):
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def folds():
    # A new model for each fold.
    for train, _ in KFold(20).split(x):
        model = build()
        model.fit(x[train], y[train])


def compare(sizes):
    # A new model for each size, from a list of them.
    for model in [build(units) for units in sizes]:
        model.fit(x, y)


def each_layer_its_own(model: keras.Model, stages):
    # Rounds of several epochs.
    for stage in stages:
        model.fit(x, y, epochs=25)
    for stage in stages:
        model.fit(x, y, epochs=stage)


def thrice(model: keras.Model):
    # A few turns.
    for features, target in batches.take(3):
        model.fit(features, target)
    for _ in range(3):
        model.fit(x, y)


def files(model: keras.Model, paths):
    # Each file fills the memory and takes minutes.
    for path in paths:
        part = np.load(path)
        model.fit(part["x"], part["y"])


def sources(model: keras.Model, paths):
    # Each turn has a whole dataset.
    datasets = []
    for path in paths:
        datasets.append(tf.data.TFRecordDataset(path).batch(32))
    for dataset in datasets:
        model.fit(dataset, epochs=1)


def walk_forward(model: keras.Model):
    # All that has been seen so far, or the last year of it.
    for day in range(365, len(x), 7):
        model.fit(x[:day], y[:day], epochs=1)
    for day in range(365, len(x), 7):
        model.fit(x[day - 365 : day], y[day - 365 : day], epochs=1)
    for day in range(365, len(x), 7):
        past = x[:day]
        model.fit(past, y[:day], epochs=1)


def large_slices(model: keras.Model):
    # Long chunks.
    for start in range(0, len(x), 50_000):
        model.fit(x[start : start + 50_000], y[start : start + 50_000])


def long_epochs(model: keras.Model, generator):
    # Each turn takes a thousand steps from a generator that the loop makes.
    for day in range(365):
        model.fit(generator(day), steps_per_epoch=1000)


def thaw(model: keras.Model):
    # The loop makes another layer trainable and compiles anew.
    for layer in reversed(model.layers):
        layer.trainable = True
        model.compile("adam", "mse")
        model.fit(x, y)


def average(model: keras.Model, clients):
    # Every client starts from the same weights.
    start = model.get_weights()
    for _ in range(100):
        model.set_weights(start)
        model.fit(x, y)
        start = [0.9 * weight for weight in model.get_weights()]


def alternate(generator: keras.Model, critic: keras.Model):
    # Two models learn in turns.
    for _ in range(100):
        critic.fit(x, y)
        generator.fit(x, y)


def now_and_then(model: keras.Model, sensor):
    # Only when something has drifted.
    for reading in sensor:
        if reading > 3.0:
            model.fit(x, y)


def made_here(model: keras.Model, simulate):
    # Each epoch has data of its own, as much as it takes.
    for _ in range(100):
        inputs, targets = simulate(100_000)
        model.fit(inputs, targets)


def on_batches(model: keras.Model):
    # What the rule asks for.
    for features, target in batches:
        model.train_on_batch(features, target)
    model.fit(batches, epochs=50)


def other_libraries():
    # The estimators of other libraries have a fit() without a pipeline.
    regressor = SGDRegressor()
    for start in range(0, len(x), 32):
        regressor.fit(x[start : start + 32], y[start : start + 32])


def test_fit_is_repeatable():
    # A test.
    model = build()
    for features, target in batches:
        model.fit(features, target)


if __name__ == "__main__":
    network = build()
    compare(range(1, 40)), thrice(network), large_slices(network), on_batches(network), thaw(network)
