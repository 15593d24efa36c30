"""Weights that are updated seldom for another reason."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 6)).astype("float32")
y = x[:, :1] * x[:, 1:2]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
critic = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def gradients_of(network, a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(a, training=True) - b))
    return tape.gradient(loss, network.trainable_variables)


for i, (a, b) in enumerate(dataset):
    # Applied in every turn.
    gradients = gradients_of(model, a, b)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if i % 5 == 0:
        # The other network is trained in every fifth turn, and its gradients are taken only then.
        updates = gradients_of(critic, b, b)
        optimizer.apply_gradients(zip(updates, critic.trainable_variables))


def flagged(batches, last):
    # A flag decides, which may have nothing to do with a number of steps.
    for a, b in batches:
        gradients = gradients_of(model, a, b)
        if b is last:
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def seldom(batches):
    for i, (a, b) in enumerate(batches):
        if i % 10 == 0:
            # All of it once in ten turns.
            gradients = gradients_of(model, a, b)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def patient(batches, waited=0):
    # What is counted are turns without progress, not all turns: it is never set back here.
    for a, b in batches:
        gradients = gradients_of(model, a, b)
        waited += 1
        if waited == 10:
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def test_accumulation():
    for i, (a, b) in enumerate(dataset):
        gradients = gradients_of(model, a, b)
        if i % 2 == 0:
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
