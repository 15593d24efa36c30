"""Fits, evaluates and applies a model on batches of two clouds of points."""

import keras
import numpy as np

keras.utils.set_random_seed(0)


class Blobs(keras.utils.PyDataset):
    """Batches of two clouds of points."""

    def __init__(self, batches, seed, **kwargs):
        super().__init__(**kwargs)
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 2, size=(batches, 32, 1)).astype("float32")
        self.points = (rng.normal(size=(batches, 32, 4)) + self.labels).astype("float32")

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


def endless(batches):
    while True:
        for index in range(len(batches)):
            yield batches[index]


class Experiment:
    def __init__(self, model):
        self.model = model

    def score(self, batches):
        return self.model.evaluate(batches, verbose=0)


train = Blobs(8, seed=1)
validation = Blobs(2, seed=2)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))

model.fit(endless(train), steps_per_epoch=8, epochs=2, verbose=0)
model.fit(
    train,
    epochs=2,
    shuffle=False,
    verbose=0,
)
before = model.evaluate(endless(validation), steps=2, verbose=0)
scores = model.predict(validation, verbose=0)
after = Experiment(model).score(validation)
print("loss:", before + after + float(np.mean(scores)))
