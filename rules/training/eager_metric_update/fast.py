"""Tells four kinds of points apart, with a compiled step that updates the metrics."""

import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

points = tf.random.normal((4096, 2))
kinds = tf.cast(points[:, 0] > 0, tf.int32) * 2 + tf.cast(points[:, 1] > 0, tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((points, kinds)).batch(32)

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)
loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = keras.metrics.Mean()
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_object(y, logits)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    note(loss, y, logits)


def note(loss, y, logits):
    mean_loss(loss)
    accuracy.update_state(y, logits)


for epoch in range(2):
    mean_loss.reset_state()
    accuracy.reset_state()
    for x, y in dataset:
        train_step(x, y)

print("accuracy:", float(accuracy.result()))
print("loss:", float(mean_loss.result()))
