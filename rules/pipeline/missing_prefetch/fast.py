"""Train on compressed records and on arrays, in a compiled loop, in a Python loop and with fit."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

PIXELS = 96 * 96
EPOCHS = 200

folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "scans.tfrecord.gz")
scans = rng.integers(0, 16, size=(512, PIXELS), dtype=np.uint8)
stages = rng.integers(0, 4, size=512)

options = tf.io.TFRecordOptions(compression_type="GZIP", compression_level=1)
with tf.io.TFRecordWriter(path, options) as writer:
    for scan, stage in zip(scans, stages):
        writer.write(scan.tobytes() + bytes([stage]))

model = keras.Sequential([keras.Input((PIXELS,)), keras.layers.Dense(24, "relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def load(path, shuffle_buffer):
    dataset = tf.data.TFRecordDataset(path, compression_type="GZIP")
    if shuffle_buffer:
        dataset = dataset.shuffle(shuffle_buffer, seed=3)
    return dataset.batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def train_step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = loss_fn(targets, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_epoch(dataset):
    # The loop is compiled too: the runtime puts no buffer between a batch and its step.
    loss = tf.constant(0.0)
    for records in dataset:
        values = tf.io.decode_raw(records, tf.uint8, fixed_length=PIXELS + 1)
        loss = train_step(tf.cast(values[:, :-1], tf.float32) / 16.0, values[:, -1])
    return loss


train_records = load(path, shuffle_buffer=128)
for epoch in range(EPOCHS):
    compiled_loss = train_epoch(train_records)

# --- A Python loop around a compiled step: TensorFlow 2.11 and later add the prefetch ----------

compiled_step = tf.function(train_step)

windows = (
    tf.data.Dataset.from_tensor_slices((scans.astype("float32") / 16.0, stages))
    .shuffle(512, seed=4)
    .batch(64)
    .prefetch(tf.data.AUTOTUNE)
)
for inputs, targets in windows:
    python_loss = compiled_step(inputs, targets)

# --- fit: the same -----------------------------------------------------------------------------

train_ds = tf.data.Dataset.from_tensor_slices((scans[:256].astype("float32") / 16.0, stages[:256]))
train_ds = train_ds.cache()
train_ds = train_ds.shuffle(256, seed=5).batch(64).prefetch(tf.data.AUTOTUNE)

model.compile(optimizer="sgd", loss=loss_fn)
history = model.fit(train_ds, epochs=2, verbose=0)

print("loss:", (float(compiled_loss) + float(python_loss) + history.history["loss"][-1]) / 3)
