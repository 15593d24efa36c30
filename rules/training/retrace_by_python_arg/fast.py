"""Trains an autoencoder whose penalty grows with the steps."""

import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

data = np.random.default_rng(0).normal(size=(320, 8)).astype("float32")
batches = tf.data.Dataset.from_tensor_slices(data).batch(16)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(8)])
optimizer = keras.optimizers.SGD(0.05)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(batch, weight, scale=1.0):
    with tf.GradientTape() as tape:
        output = model(batch, training=True)
        loss = scale * tf.reduce_mean(tf.square(output - batch)) + weight * tf.reduce_mean(tf.abs(output))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


class Noise:
    @tf.function
    def add(self, values, amount):
        return values + tf.cast(amount, tf.float32)


@tf.function
def count_words(lines):
    return tf.size(tf.strings.split(lines))


@tf.function
def length(line):
    return tf.strings.length(line)


noise = Noise()
for i, batch in enumerate(batches):
    loss = train_step(batch, tf.constant(0.001 * min(i, 15)))

step = 0
for epoch in range(12):
    for batch in batches.take(2):
        loss = train_step(batch, tf.constant(0.0), scale=tf.constant(1.0 / (epoch + 1)))
        total = tf.reduce_sum(noise.add(batch, tf.constant(step)))
        step += 1

for batch in batches:
    noise.add(batch, amount=tf.constant(random.random()))

texts = [f"text number {i}" for i in range(40)]
words = sum(int(count_words(tf.constant(texts[i : i + 2]))) for i in range(0, 40, 2))
for i in range(20):
    letters = length(tf.constant(f"text {i}"))
for line in np.array(texts).tolist():
    letters = length(tf.constant(line))

print("loss:", float(loss))
