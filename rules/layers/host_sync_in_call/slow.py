# raises: TypeError
"""Fits a small regression with a layer that rescales its inputs and a training step that watches its loss."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Rescaled(keras.layers.Layer):
    """Divides by the largest value of the batch."""

    def call(self, inputs):
        largest = float(tf.reduce_max(tf.abs(inputs)))  # KC202
        if tf.reduce_sum(inputs) > 1e6:  # KC202
            return inputs
        # The same again in one function is named with the first.
        smallest = float(tf.reduce_min(inputs))
        return (inputs - smallest) / largest


class Watched(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        if loss.numpy() > 1e6:  # KC202
            self.stop_training = True
        return {"loss": loss}


@tf.function
def mean_error(model, x, y):
    error = tf.reduce_mean(tf.abs(model(x) - y))
    if bool(error > 1e6):  # KC202
        return 0.0
    return round(error.numpy(), 3)  # KC202


@tf.function(autograph=False)
def unconverted(x):
    return x if tf.reduce_sum(x) > 0.0 else -x  # KC202


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)

inputs = keras.Input((8,))
outputs = keras.layers.Dense(1)(keras.layers.Dense(32, activation="relu")(Rescaled()(inputs)))
model = Watched(inputs, outputs)
model.compile(optimizer=keras.optimizers.SGD(0.05))
model.fit(x, y, batch_size=32, epochs=3, verbose=0)
print("error:", mean_error(model, x, y), unconverted(tf.constant(x[0])))
print("loss:", float(tf.reduce_mean(tf.square(model(x) - y))))
