"""A small network trained in a compiled loop, in a Python loop and by fit; the prefetch stands early."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.data import Dataset

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

SIDE = 64
inputs = rng.normal(size=(1500, SIDE * SIDE)).astype("float32")
targets = rng.integers(0, 4, size=1500)

model = keras.Sequential([keras.Input((SIDE * SIDE,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train_step(values, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(values, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_epoch(dataset):
    # The loop is compiled: nobody adds the missing buffer behind the batch.
    loss = 0.0
    for values, labels in dataset:
        loss = train_step(values, labels)
    return loss


def add_noise(values, labels):
    return values + tf.random.normal(tf.shape(values), stddev=0.01), labels


def examples():
    return Dataset.from_tensor_slices((inputs, targets)).shuffle(1500, seed=6)


noisy = (
    examples()
    .prefetch(tf.data.AUTOTUNE)  # KC125:warning
    .batch(50)
    .map(add_noise)
)
for epoch in range(8):
    compiled_loss = train_epoch(noisy)

# --- A Python loop -----------------------------------------------------------------------------

compiled_step = tf.function(train_step)

pairs = examples().prefetch(10).batch(50, drop_remainder=True)  # KC125:pedantic
for values, labels in pairs:
    python_loss = compiled_step(values, labels)

# --- fit ---------------------------------------------------------------------------------------

dataset = examples().prefetch(buffer_size=tf.data.AUTOTUNE)  # KC125:pedantic
dataset = dataset.batch(50)

model.compile(optimizer="sgd", loss=loss_fn)
history = model.fit(dataset, epochs=2, verbose=0)

print("loss:", float(compiled_loss) + float(python_loss) + history.history["loss"][-1])
