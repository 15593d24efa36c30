"""Fits a plane on two logical devices, with a compiled step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
)
keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(960, 4)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32, drop_remainder=True)
batches = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)


def train_step(inputs):
    features, labels = inputs
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(features, training=True) - labels)) / 32.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distributed_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for epoch in range(4):
    for inputs in batches:
        loss = distributed_step(inputs)

print("loss:", float(loss))
