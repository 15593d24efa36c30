"""Models in loops that are few, kept, loaded, reused, or built in processes of their own."""

import multiprocessing

import keras
import numpy as np
from settings import GRID
from sklearn.model_selection import KFold

x, y = np.load("x.npy"), np.load("y.npy")


def build(units=16):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(units, "relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model


# A handful.
for units in (8, 16, 32):
    model = build(units)
    model.fit(x, y, epochs=20)

# Folds, and settings that are counted elsewhere.
for train, test in KFold(5).split(x):
    model = build()
    model.fit(x[train], y[train], epochs=20)
for setting in GRID:
    model = build(setting)
    model.fit(x, y, epochs=20)

# A grid of four.
for rate in (0.1, 0.01):
    for units in (8, 16):
        model = build(units)
        model.optimizer.learning_rate = rate
        model.fit(x, y, epochs=20)

# An ensemble: all models are wanted at the end.
ensemble = []
for _ in range(30):
    member = build()
    member.fit(x, y, epochs=5)
    ensemble.append(member)
by_width, scored = {}, []
for width in range(1, 30):
    candidate = build(width)
    candidate.fit(x, y, epochs=5)
    by_width[width] = candidate
for width in range(1, 30):
    candidate = build(width)
    candidate.fit(x, y, epochs=5)
    scored.append((width, candidate))

# Loaded, for another round of training.
for number in range(30):
    model = keras.models.load_model(f"{number}.keras")
    model.fit(x, y, epochs=1)

# A loop that is left in its first turn.
while True:
    model = build()
    print(model.fit(x, y, epochs=5).history["loss"])
    break

# One model, many trainings.
model = build()
start = model.get_weights()
for _ in range(100):
    model.set_weights(start)
    model.fit(x, y, epochs=5)

# Built in a loop, trained nowhere.
for units in range(1, 100):
    print(units, build(units).count_params())


def score(units):
    model = build(units)
    return model.fit(x, y, epochs=5).history["loss"][-1]


# Each turn in a process that ends with it.
with multiprocessing.Pool(1, maxtasksperchild=1) as pool:
    for units in range(1, 100):
        print(units, pool.apply(score, (units,)))


def test_models_are_independent():
    # A test.
    for _ in range(30):
        model = build()
        model.fit(x, y)
