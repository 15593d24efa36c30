# raises: NotImplementedError
"""Fits a noisy wave with a hand-written layer, loss and metric."""

import numpy as np
from keras import Input, Sequential, layers, optimizers, utils

utils.set_random_seed(0)


class Periodic(layers.Layer):
    """A dense layer whose outputs are waves of learned frequency and phase."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.gain = np.sqrt(2.0 / units)

    def build(self, input_shape):
        self.frequency = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal")
        self.phase = self.add_weight(shape=(self.units,), initializer="random_uniform")

    def call(self, inputs):
        angle = inputs @ self.frequency + self.phase
        return self.gain * np.sin(angle)  # KC201


def pseudo_huber(y_true, y_pred):
    error = y_true - y_pred
    root = np.sqrt(1.0 + error**2)  # KC201
    return np.mean(root - 1.0, axis=-1)  # KC201


def worst_error(y_true, y_pred):
    gap = np.abs(y_true - y_pred)  # KC201
    return np.max(gap, axis=-1)  # KC201


rng = np.random.default_rng(0)
x = rng.uniform(-3.0, 3.0, size=(256, 2)).astype("float32")
y = np.sin(2.0 * x[:, :1]) + 0.1 * rng.normal(size=(256, 1)).astype("float32")

model = Sequential(
    [
        Input((2,)),
        layers.Lambda(lambda t: np.tanh(t)),  # KC201
        Periodic(16),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=optimizers.Adam(0.01), loss=pseudo_huber, metrics=[worst_error])
history = model.fit(x, y, batch_size=32, epochs=3, verbose=0)
print("loss:", history.history["loss"][-1])
