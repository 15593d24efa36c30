"""Trains on photographs that Python reads between the steps: in a helper, in a generator, and in a loop of its own."""

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


def read(path):
    return np.asarray(Image.open(path), dtype="float32") / 255


def batches():
    for start in range(0, len(paths), 16):
        images = []
        for path in paths[start : start + 16]:
            images.append(read(path))
        yield np.array(images), labels[start : start + 16]


model = build()
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = model.loss(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(6):
    for x, y in batches():  # KC430:warning
        loss = train_step(x, y)

# --- The same with train_on_batch, and a helper for each batch ---------------------------------

second = build()
for start in range(0, len(paths), 16):
    x = np.stack([read(path) for path in paths[start : start + 16]])  # KC430:warning
    last = second.train_on_batch(x, labels[start : start + 16])

print("loss:", float(loss) + float(last))
