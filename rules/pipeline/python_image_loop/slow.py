"""Train on photographs that a loop reads into one array."""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.utils import img_to_array, load_img
from PIL import Image

keras.utils.set_random_seed(0)
folder = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for number in range(600):
    Image.fromarray(rng.integers(0, 256, size=(300, 300, 3), dtype=np.uint8)).save(folder / f"{number % 2}-{number}.jpg")


def load(paths):
    images, labels = [], []
    for path in paths:
        image = Image.open(path).resize((32, 32))  # KC112:info
        images.append(np.asarray(image) / 255.0)
        labels.append(int(path.name[0]))
    return np.array(images, dtype="float32"), np.array(labels)


def build():
    model = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(4, 3, strides=2, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


x, y = load(sorted(folder.iterdir()))
model = build()
history = model.fit(x[:500], y[:500], batch_size=50, epochs=2, shuffle=False, verbose=0)

# --- The same for a dataset --------------------------------------------------------------------

paths = sorted(folder.iterdir())
pixels = np.stack([img_to_array(load_img(path, target_size=(32, 32))) for path in paths])  # KC112:info
dataset = tf.data.Dataset.from_tensor_slices((pixels / 255, y)).batch(50)
second = build()
last = second.fit(dataset, epochs=2, verbose=0)

# --- And for what an ImageDataGenerator makes of an array that is filled one by one ---------------

read = []
for path in paths:
    read.append(np.asarray(Image.open(path).resize((32, 32))))  # KC112:info
filled = np.empty((len(read), 32, 32, 3), dtype="float32")
for number, picture in enumerate(read):
    filled[number] = picture
flow = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255).flow(filled, y, batch_size=50)
build().fit(flow, epochs=1, verbose=0)

print("loss:", history.history["loss"][-1] + last.history["loss"][-1])
