"""The model has a step of its own, which would have to scale the loss: a policy alone is not enough."""

import keras
import numpy as np
import tensorflow as tf


class Classifier(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}


base = keras.applications.ResNet50(weights=None, classes=10)
model = Classifier(base.inputs, base.outputs)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=10)
