"""PyDatasets that need no more workers, or have them."""

import cv2
import keras
import numpy as np
import requests
from PIL import Image
from somewhere import labels, loader_settings, paths

model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")


class Photographs(keras.utils.PyDataset):
    def __init__(self, paths, **kwargs):
        super().__init__(**kwargs)
        self.paths = paths

    def __getitem__(self, index):
        return np.stack([cv2.imread(path) for path in self.paths[index]]), labels[index]


class InMemory(keras.utils.PyDataset):
    def __init__(self, images):
        super().__init__()
        # Read once, before training.
        self.images = [np.asarray(Image.open(path)) for path in images]

    def __getitem__(self, index):
        return np.fliplr(self.images[index]) / 255, labels[index]


class Always(keras.utils.PyDataset):
    def __init__(self):
        super().__init__(workers=4)

    def __getitem__(self, index):
        return requests.get(paths[index]).content, labels[index]


class InTheClass(keras.utils.PyDataset):
    workers = 4

    def __getitem__(self, index):
        return requests.get(paths[index]).content, labels[index]


class Processes(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()
        self.use_multiprocessing = True

    def __getitem__(self, index):
        return requests.get(paths[index]).content, labels[index]


class Remembering(keras.utils.PyDataset):
    # Two threads would set it at the same time.
    def __init__(self):
        super().__init__()
        self.size, self.read = 32, 0

    def __getitem__(self, index):
        self.size = min(self.size, len(paths) - index * self.size)
        return self.pictures(index), labels[index]

    def pictures(self, index):
        return np.stack([cv2.imread(path) for path in paths[index : index + self.size]])


class Counting(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()
        self.read = 0

    def __getitem__(self, index):
        return self.pictures(index), labels[index]

    def pictures(self, index):
        self.read += 1
        return cv2.imread(paths[index])


class Torch:
    def __getitem__(self, index):
        return cv2.imread(paths[index])


# Given when it is made, where this can be seen and where it cannot.
model.fit(Photographs(paths, workers=8))
model.fit(Photographs(paths, **loader_settings))
model.fit(Always())

# On the object, on the class.
later = Photographs(paths)
later.workers = 6
model.fit(later)
model.fit(InTheClass())
model.fit(Processes())

# The argument of older versions, and arguments that may be it.
model.fit(Photographs(paths), workers=4)
model.fit(Photographs(paths), **loader_settings)

# Threads do not help what slices and computes.
model.fit(InMemory(paths))

# Threads would meet in an attribute.
model.fit(Remembering())
model.fit(Counting())

# Not trained on.
model.fit(InMemory(paths), validation_data=Photographs(paths))
model.evaluate(Photographs(paths))

# Another library's.
model.fit(Torch())
