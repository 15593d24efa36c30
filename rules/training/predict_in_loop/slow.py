"""Trains a classifier and scores it by batch, by row and by question."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, utils

utils.set_random_seed(0)

rng = np.random.default_rng(0)
x = rng.normal(size=(112, 6)).astype("float32")
y = (x[:, :1] > x[:, 1:2]).astype("float32")
x_train, y_train, x_val, y_val = x[:96], y[:96], x[96:], y[96:]
validation = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(16)

model = Sequential([layers.Input((6,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")


def classify(row):
    return model.predict(row[np.newaxis, :], verbose=0)[0, 0]  # KC405


class Scorer:
    def __init__(self, network):
        self.network = network

    def error(self, rows, labels):
        total = 0.0
        for i in range(len(rows)):
            guess = self.network.predict(np.expand_dims(rows[i], axis=0), verbose=0)  # KC405
            total += float(np.abs(guess[0, 0] - labels[i, 0]))
        return total / len(rows)


for epoch in range(2):
    for start in range(0, len(x_train), 32):
        model.train_on_batch(x_train[start : start + 32], y_train[start : start + 32])
    brier = []
    for features, labels in validation:
        probabilities = model.predict(features, verbose=0)  # KC405
        brier.append(np.mean((probabilities - labels.numpy()) ** 2))


def vote(networks, rows):
    votes = []
    for network in networks:
        votes.append([network.predict(row[np.newaxis], verbose=0)[0, 0] for row in rows])  # KC405
    return np.mean(votes, axis=0)


def settle(network, row, turns):
    for _ in range(turns):
        row = 0.9 * row + 0.1 * network.predict(row[np.newaxis], verbose=0)[0]  # KC405
    return row


settled = [settle(model, row, 12) for row in x_val[:1]]
scores = [classify(row) for row in x_val]
print("positive:", sum(score > 0.5 for score in scores), vote([model, model], x_val[:12]).shape)
print("loss:", float(np.mean(brier)) + Scorer(model).error(x_val, y_val))
