"""Results read back to Python seldom, or where few steps would run on."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 6)).astype("float32")
y = np.sin(x[:, :1])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def validation_step(a, b):
    return tf.reduce_mean(tf.square(model(a) - b))


@tf.function
def epoch_step(batches):
    # A whole epoch in compiled code.
    total = tf.constant(0.0)
    for a, b in batches:
        total += train_step(a, b)
    return total


losses = []
for epoch in range(10):
    for i, (a, b) in enumerate(dataset):
        loss = train_step(a, b)
        losses.append(loss)
        # Text that is no tensor, and an element of the dataset.
        print("step", i, f"of {len(losses)}", f"{b}")
        # Once in so many steps.
        if i % 100 == 0:
            print(float(loss))
    # Once per epoch.
    print(loss.numpy(), np.mean(losses))
    for a, b in dataset:
        # Nothing is trained here.
        print(float(validation_step(a, b)))

for epoch in range(1000):
    # Many steps in one turn.
    print(float(epoch_step(dataset)))

for a, b in dataset.take(20):
    # Twenty turns.
    print(float(train_step(a, b)))


def test_loss():
    for a, b in dataset:
        assert float(train_step(a, b)) < 10
