"""A compiled epoch that makes its dataset from arrays, inside."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
features = rng.normal(size=(8192, 256)).astype("float32")
targets = rng.normal(size=(8192, 1)).astype("float32")
model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def train_epoch():
    loss = tf.zeros(())
    dataset = tf.data.Dataset.from_tensor_slices((features, targets)).batch(64).prefetch(2)  # KC131
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(3):
    loss = train_epoch()
print("loss:", float(loss))
