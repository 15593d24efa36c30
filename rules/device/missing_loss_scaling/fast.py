"""Own training steps under mixed precision: in models, and in a loop."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers, mixed_precision

keras.utils.set_random_seed(0)
mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = x @ rng.normal(size=(8, 1)).astype("float32")


class Regression(keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self.compute_loss(y=targets, y_pred=predictions)
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


class Clipped(keras.Sequential):
    def backward(self, tape, loss):
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, self.trainable_weights), 10.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))

    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(inputs, training=True) - tf.cast(targets, tf.float16)) ** 2)
            scaled = self.optimizer.scale_loss(tf.cast(loss, tf.float32))
        self.backward(tape, scaled)
        return {"loss": loss}


def build():
    rows = keras.Input((8,))
    return Regression(rows, layers.Dense(1, dtype="float32")(layers.Dense(16, activation="relu")(rows)))


model = build()
model.compile(optimizer="sgd", loss="mse")
total = model.fit(x, y, epochs=2, verbose=0).history["loss"][-1]

clipped = Clipped([keras.Input((8,)), layers.Dense(1)])
clipped.compile(keras.optimizers.SGD(0.1))
total += clipped.fit(x, y, verbose=0).history["loss"][-1]


def loop(steps, optimizer):
    network = keras.Sequential([keras.Input((8,)), layers.Dense(1, dtype="float32")])

    @tf.function
    def step(inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(inputs) - targets) ** 2)
            scaled = optimizer.scale_loss(loss)
        optimizer.apply_gradients(zip(tape.gradient(scaled, network.trainable_variables), network.trainable_variables))
        return loss

    for _ in range(steps):
        loss = step(x, y)
    return float(loss)


total += loop(20, mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1)))

network = keras.Sequential([keras.Input((8,)), layers.Dense(1, dtype="float32")])
optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())
for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((network(x) - y) ** 2)
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
print("loss:", total + float(loss))
