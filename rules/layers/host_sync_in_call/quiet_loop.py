"""A model that only a hand-written loop calls, eagerly, has values in its call()."""

import tensorflow as tf
from tensorflow import keras


class Peeking(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, inputs):
        print(float(tf.reduce_mean(inputs)))
        return self.dense(inputs)


model, optimizer = Peeking(), keras.optimizers.SGD()
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones((4, 2))))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
