"""Steps under mixed precision that scale their loss, and others that need not."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
x, y = np.load("x.npy"), np.load("y.npy")


# The loss is scaled in a function that the step calls.
class Scaled(keras.Model):
    def gradients(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.optimizer.scale_loss(self.compute_loss(y=targets, y_pred=self(inputs, training=True)))
        return tape.gradient(loss, self.trainable_variables)

    def train_step(self, data):
        self.optimizer.apply_gradients(zip(self.gradients(data), self.trainable_variables))
        return {}


# Keras' own step does the work, and something is added.
class Added(keras.Model):
    def train_step(self, data):
        logs = super().train_step(data)
        with tf.GradientTape() as tape:
            penalty = tf.add_n([tf.reduce_sum(weight**2) for weight in self.trainable_variables])
        self.optimizer.apply_gradients(zip(tape.gradient(penalty, self.trainable_variables), self.trainable_variables))
        return logs


# Optimizers that compile does not wrap.
class Adversaries(keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(data))
        self.first.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}


class Plain(keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=targets, y_pred=self(inputs, training=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}


# Never made here.
class Exported(keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=targets, y_pred=self(inputs, training=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}


def layered(kind, **options):
    rows = keras.Input((8,))
    return kind(rows, layers.Dense(1, dtype="float32")(rows), **options)


model = layered(Scaled)
model.compile("sgd", "mse")
model.fit(x, y)
added = layered(Added)
added.compile("sgd", "mse")
added.fit(x, y)

pair = layered(Adversaries)
pair.first = keras.optimizers.SGD()
pair.compile()
pair.fit(x)

# compile leaves the optimizer alone.
unwrapped = layered(Plain)
unwrapped.compile("sgd", "mse", auto_scale_loss=False)
unwrapped.fit(x, y)

# A model that computes in float32.
single = layered(Plain, dtype="float32")
single.compile("sgd", "mse")
single.fit(x, y)

# Never compiled.
only_applied = layered(Plain)
only_applied.predict(x)


# A loop that scales, and one whose optimizer comes from outside.
def loop(model, optimizer):
    for _ in range(1000):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


scaling = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD())
for _ in range(1000):
    with tf.GradientTape() as tape:
        loss = scaling.scale_loss(tf.reduce_mean(model(x) ** 2))
    scaling.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

# The policy is dropped, then another, then one that depends.
keras.utils.clear_session()
dropped = layered(Plain)
dropped.compile("sgd", "mse")
dropped.fit(x, y)

keras.mixed_precision.set_global_policy("mixed_bfloat16")
wide = layered(Plain)
wide.compile("sgd", "mse")
wide.fit(x, y)

if tf.config.list_physical_devices("GPU"):
    keras.mixed_precision.set_global_policy("mixed_float16")
either = layered(Plain)
either.compile("sgd", "mse")
either.fit(x, y)
