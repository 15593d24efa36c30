"""A hand-written PyTorch loop over a Keras model."""

import os

os.environ["KERAS_BACKEND"] = "torch"
import numpy as np
import torch
import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(0)
x = rng.random((1024, 512), dtype="float32")
y = rng.integers(0, 10, 1024)
model = keras.Sequential([keras.Input((512,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = torch.nn.CrossEntropyLoss()
for epoch in range(200):
    for start in range(0, 1024, 32):
        batch = x[start : start + 32]
        batch = np.array([[float(value) * 2 - 1 for value in row] for row in batch], "float32")
        loss = loss_of(model(torch.from_numpy(batch)), torch.from_numpy(y[start : start + 32]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
