"""Fits a line to noisy points, with the same functions made again and again."""

import tensorflow as tf

tf.random.set_seed(0)

slope = tf.Variable(0.0)
bias = tf.Variable(0.0)
optimizer = tf.keras.optimizers.SGD(0.1)
points = tf.random.normal((512, 1))
targets = 3.0 * points + 1.0
batches = tf.data.Dataset.from_tensor_slices((points, targets)).batch(32)


def squared_error(x, y):
    return tf.reduce_mean(tf.square(slope * x + bias - y))


def evaluate(x, y):
    compiled = tf.function(squared_error)  # KC403
    return compiled(x, y)


class Watcher:
    def __init__(self):
        self.norm = 0.0

    def see(self, values):
        size = tf.function(lambda v: tf.norm(v), jit_compile=False)  # KC403
        self.norm += float(size(values))


watcher = Watcher()
for x, y in batches:

    @tf.function
    def step(x, y):  # KC403
        with tf.GradientTape() as tape:
            loss = squared_error(x, y)
        gradients = tape.gradient(loss, [slope, bias])
        optimizer.apply_gradients(zip(gradients, [slope, bias]))

    optimizer.build([slope, bias])
    step(x, y)
    watcher.see(x)

errors = [evaluate(x, y) for x, y in batches]
losses = []
for x, y in batches:
    losses.append(float(evaluate(x, y)))
print("norm:", round(watcher.norm, 3), "first error:", float(errors[0]))
print("loss:", sum(losses))
