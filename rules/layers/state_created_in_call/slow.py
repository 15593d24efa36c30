# raises: ValueError
"""A layer that makes its inner layers where it uses them, and a step that makes its optimizer."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Block(keras.layers.Layer):
    def call(self, inputs):
        hidden = keras.layers.Dense(16, activation="relu")(inputs)  # KC204
        scale = tf.Variable(0.5)  # KC204
        return keras.layers.Concatenate()([inputs, hidden * scale])


class Trained(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        gradients = tape.gradient(loss, self.trainable_variables)
        keras.optimizers.SGD(0.05).apply_gradients(zip(gradients, self.trainable_variables))  # KC204
        return {"loss": loss}


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)

inputs = keras.Input((8,))
model = Trained(inputs, keras.layers.Dense(1)(Block()(inputs)))
model.compile()
history = model.fit(x, y, batch_size=32, epochs=3, verbose=0)
print("loss:", history.history["loss"][-1])
