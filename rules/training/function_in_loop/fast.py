"""Fits a line to noisy points, with functions that are made once."""

import tensorflow as tf

tf.random.set_seed(0)

slope = tf.Variable(0.0)
bias = tf.Variable(0.0)
optimizer = tf.keras.optimizers.SGD(0.1)
points = tf.random.normal((512, 1))
targets = 3.0 * points + 1.0
batches = tf.data.Dataset.from_tensor_slices((points, targets)).batch(32)


@tf.function
def squared_error(x, y):
    return tf.reduce_mean(tf.square(slope * x + bias - y))


class Watcher:
    def __init__(self):
        self.norm = 0.0
        self.size = tf.function(tf.norm)

    def see(self, values):
        self.norm += float(self.size(values))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = squared_error(x, y)
    gradients = tape.gradient(loss, [slope, bias])
    optimizer.apply_gradients(zip(gradients, [slope, bias]))


optimizer.build([slope, bias])
watcher = Watcher()
for x, y in batches:
    step(x, y)
    watcher.see(x)

errors = [squared_error(x, y) for x, y in batches]
losses = []
for x, y in batches:
    losses.append(float(squared_error(x, y)))
print("norm:", round(watcher.norm, 3), "first error:", float(errors[0]))
print("loss:", sum(losses))
