"""Trains with a step of its own and tells how long the parts take."""

import time

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)

rng = np.random.default_rng(6)
x = tf.constant(rng.normal(size=(128, 10)), tf.float32)
y = tf.reduce_sum(x[:, :3], axis=1, keepdims=True)

model = tf.keras.Sequential([tf.keras.layers.Input((10,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-2)
optimizer.build(model.trainable_variables)


@tf.function
def forward(features):
    return model(features, training=False)


@tf.function
def step(features, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(features, training=True) - targets))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


forward(x), step(x, y)
times = []
for _ in range(20):
    start = time.perf_counter()
    loss = step(x, y)
    loss.numpy()
    times.append(time.perf_counter() - start)

began = time.perf_counter()
for _ in range(50):
    guess = forward(x)
guess.numpy()
latency = (time.perf_counter() - began) / 50

forward(x)
began = time.perf_counter()
guess = forward(x)
guess.numpy()
print(f"once: {time.perf_counter() - began:.4f} s")

began = time.perf_counter()
guess = model(tf.linalg.matmul(x, x, transpose_a=True))
guess.numpy()
print(f"eagerly: {time.perf_counter() - began:.4f} s")

batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
for epoch in range(2):
    start = time.perf_counter()
    for features, targets in batches:
        loss = step(features, targets)
    loss.numpy()
    print(f"epoch {epoch}: {time.perf_counter() - start:.2f} s")

print(f"step: {1000 * np.median(times):.2f} ms, forward: {1000 * latency:.2f} ms, {guess.shape}")
print("loss:", float(loss))
