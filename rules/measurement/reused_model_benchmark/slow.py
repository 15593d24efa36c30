"""Compares batch sizes and learning rates on one model."""

import time

import keras
import numpy as np

keras.utils.set_random_seed(8)

rng = np.random.default_rng(8)
x = rng.normal(size=(512, 9)).astype("float32")
y = np.sin(x[:, :1]).astype("float32")


def build():
    network = keras.Sequential([keras.Input((9,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(1)])
    network.compile(keras.optimizers.SGD(0.01), "mse")
    return network


model = build()
for batch_size in (32, 64, 128):
    start = time.perf_counter()
    model.fit(x, y, batch_size=batch_size, epochs=1, verbose=0)  # KC603:info
    print(batch_size, "took", time.perf_counter() - start)

losses = {}
for rate in (0.003, 0.01, 0.03):
    model.optimizer.learning_rate = rate
    history = model.fit(x, y, epochs=2, verbose=0)  # KC603
    losses[rate] = history.history["loss"][-1]
print("best:", min(losses, key=losses.get))
print("loss:", min(losses.values()))
