"""A hand-written JAX step over a Keras model."""

import os

os.environ["KERAS_BACKEND"] = "jax"
import jax
import numpy as np
import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(0)
x = rng.random((1024, 512), dtype="float32")
y = rng.integers(0, 10, 1024)
model = keras.Sequential([keras.Input((512,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def compute_loss(trainable, fixed, x, y):
    logits, fixed = model.stateless_call(trainable, fixed, x)
    return loss_of(y, logits), fixed


@jax.jit
def train_step(trainable, fixed, slots, x, y):
    (loss, fixed), gradients = jax.value_and_grad(compute_loss, has_aux=True)(trainable, fixed, x, y)
    trainable, slots = optimizer.stateless_apply(slots, gradients, trainable)
    return loss, trainable, fixed, slots


trainable, fixed = [v.value for v in model.trainable_variables], [v.value for v in model.non_trainable_variables]
slots = [v.value for v in optimizer.variables]
for epoch in range(200):
    for start in range(0, 1024, 32):
        batch = x[start : start + 32]
        batch = np.array([[float(value) * 2 - 1 for value in row] for row in batch], "float32")
        loss, trainable, fixed, slots = train_step(trainable, fixed, slots, batch, y[start : start + 32])
