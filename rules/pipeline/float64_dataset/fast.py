"""Fit a small network by hand, on measurements that NumPy made, in 32 bits."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

signals = rng.normal(size=(2048, 256)).astype("float32")
targets = np.tanh(signals.sum(axis=1, keepdims=True) / 16)

first = tf.Variable(rng.normal(size=(256, 256)) / 16, dtype=signals.dtype)
second = tf.Variable(rng.normal(size=(256, 1)) / 16, dtype=signals.dtype)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, first))
        loss = tf.reduce_mean(tf.square(tf.matmul(hidden, second) - y))
    for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
        variable.assign_sub(0.01 * gradient)
    return loss


batches = tf.data.Dataset.from_tensor_slices((signals, targets)).batch(128).prefetch(1)
for _ in range(5):
    for x, y in batches:
        loss = step(x, y)

# --- For a Keras model: memory only --------------------------------------------------------------

profile = np.linspace(0, 1, 1_200_000).reshape(-1, 300).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((profile * 2 - 1, np.zeros(4000, "float32"))).batch(100)
model = keras.Sequential([keras.Input((300,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(dataset, epochs=1, verbose=0)

print("loss:", float(loss) + history.history["loss"][-1])
