"""Train with a step that XLA compiles, on batches of one size."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
features = np.random.default_rng(0).normal(size=(1010, 32)).astype("float32")
targets = features.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((32,)), layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.001)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((features, targets)).shuffle(1010, seed=0).batch(100, drop_remainder=True).prefetch(1)
for epoch in range(3):
    losses = [float(step(x, y)) for x, y in dataset]

print("loss:", np.mean(losses))
