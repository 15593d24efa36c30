"""Trains on photographs that tf.data reads ahead, during the steps."""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from PIL import Image

keras.utils.set_random_seed(0)
folder = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for number in range(160):
    Image.fromarray(rng.integers(0, 256, size=(192, 192, 3), dtype=np.uint8)).save(folder / f"{number % 2}-{number}.png")
paths = sorted(folder.iterdir())
labels = np.array([int(path.name[0]) for path in paths])


def build():
    model = keras.Sequential([keras.Input((192, 192, 3)), layers.AveragePooling2D(8), layers.Conv2D(4, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def read(path, label):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.cast(image, tf.float32) / 255, label


names = [str(path) for path in paths]
dataset = tf.data.Dataset.from_tensor_slices((names, labels)).map(read, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(tf.data.AUTOTUNE)

model = build()
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = model.loss(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(6):
    for x, y in dataset:
        loss = train_step(x, y)

# --- The same with train_on_batch --------------------------------------------------------------

second = build()
for x, y in dataset:
    last = second.train_on_batch(x, y)

print("loss:", float(loss) + float(last))
