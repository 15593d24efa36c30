"""Trains a teacher, distils it into a student and fine-tunes a regressor, each with a hand-written step."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
x = rng.normal(size=(192, 12)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


def build(width, outputs):
    return keras.Sequential(
        [keras.Input((12,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(outputs)]
    )


teacher = build(32, 2)
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train_step(features, labels):  # KC401
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, teacher(features, training=True))
    gradients = tape.gradient(loss, teacher.trainable_variables)
    optimizer.apply_gradients(zip(gradients, teacher.trainable_variables))
    return loss


class Regression:
    """A training loop in a class of its own."""

    def __init__(self, model, learning_rate):
        self.model = model
        self.optimizer = keras.optimizers.SGD(learning_rate)
        self.seen = keras.metrics.Mean()

    def step(self, features, targets):  # KC401
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(self.model(features, training=True)[:, 0] - targets))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(error, variables), variables))
        self.seen.update_state(error)

    def run(self, batches, epochs):
        for _ in range(epochs):
            self.seen.reset_state()
            for features, labels in batches:
                self.step(features, tf.cast(labels, tf.float32))
        return float(self.seen.result())


def distil(student, batches, epochs):
    student_optimizer = keras.optimizers.Adam(0.01)

    def step(features):  # KC401
        target = tf.nn.softmax(teacher(features, training=False))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.kl_divergence(target, tf.nn.softmax(student(features, training=True))))
        gradients = tape.gradient(loss, student.trainable_variables)
        student_optimizer.apply(gradients, student.trainable_variables)
        return loss

    for _ in range(epochs):
        for features, _labels in batches:
            loss = step(features)
    return float(loss)


for epoch in range(3):
    for batch_x, batch_y in dataset:
        teacher_loss = train_step(batch_x, batch_y)

student_loss = distil(build(8, 2), dataset, epochs=3)
regression_loss = Regression(build(16, 1), 0.05).run(dataset, epochs=3)
print("loss:", float(teacher_loss) + student_loss + regression_loss)
