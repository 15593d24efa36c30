"""Train on photographs that a PyDataset fetches from a slow server, and on some that it reads from a folder."""

import pathlib
import tempfile
import time

import keras
import numpy as np
from keras import layers
from keras.utils import Sequence
from PIL import Image

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
images = rng.uniform(size=(160, 32, 32, 3)).astype("float32")
labels = np.arange(160) % 4


class Server(keras.utils.PyDataset):
    def __init__(self, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.batch_size = batch_size

    def __len__(self):
        return len(images) // self.batch_size

    def fetch(self, indices):
        time.sleep(0.03)  # what the server takes
        return images[indices]

    def __getitem__(self, index):
        indices = range(index * self.batch_size, (index + 1) * self.batch_size)
        return self.fetch(indices), labels[indices]


folder = pathlib.Path(tempfile.mkdtemp())
for number, image in enumerate(images[:40]):
    Image.fromarray((image * 255).astype("uint8")).save(folder / f"{number:03}.png")


class Folder(Sequence):
    def __init__(self, paths):
        super().__init__()
        self.paths = paths

    def __len__(self):
        return len(self.paths) // 10

    def __getitem__(self, index):
        paths = self.paths[index * 10 : index * 10 + 10]
        batch = np.stack([np.asarray(Image.open(path)) for path in paths])
        return batch.astype("float32") / 255, labels[index * 10 : index * 10 + 10]


def build():
    model = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(8, 3, strides=2, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


model = build()
server = Server(16)
history = model.fit(server, epochs=3, shuffle=False, verbose=0)  # KC110:warning

folder_model = build()
files = Folder(sorted(folder.iterdir()))
folder_history = folder_model.fit(files, epochs=2, shuffle=False, verbose=0)  # KC110:info

print("loss:", history.history["loss"][-1] + folder_history.history["loss"][-1])
