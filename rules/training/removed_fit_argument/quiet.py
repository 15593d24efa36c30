"""Workers and generators that Keras 3 knows, or that are not Keras' own."""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pool

import keras
import numpy as np
import torch


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return np.zeros((32, 4)), np.zeros((32, 1))


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")

# The constructor of a PyDataset is where these arguments live in Keras 3.
rows = Rows(workers=4, use_multiprocessing=True, max_queue_size=20)
model.fit(rows, epochs=3)
model.evaluate(rows)

# A generator goes to fit directly.
model.fit((rows[i % 10] for i in range(30)), steps_per_epoch=10, epochs=3)


# An own class with a method of the old name, called on that class.
class Pipeline:
    def fit_generator(self, batches, workers=1):
        with ThreadPoolExecutor(max_workers=workers) as executor:
            return list(executor.map(model.train_on_batch, batches))

    def fit(self, batches, workers=1):
        return self.fit_generator(batches, workers=workers)


Pipeline().fit_generator(rows, workers=4)
Pipeline().fit(rows, workers=4)


# A model class that overrides fit and takes the argument itself.
class Pooled(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        return self.out(inputs)

    def fit(self, files, workers=2, **kwargs):
        with Pool(workers) as pool:
            arrays = pool.map(np.load, files)
        return super().fit(np.concatenate(arrays), **kwargs)


pooled = Pooled()
pooled.compile("adam", "mse")
pooled.fit(["a.npy", "b.npy"], workers=2, epochs=3)

# Other libraries have such arguments too.
loader = torch.utils.data.DataLoader(torch.zeros(10, 4), num_workers=4)


class Word2Vec:
    def __init__(self, workers):
        self.workers = workers

    def fit(self, corpus, workers=None):
        return self


Word2Vec(workers=4).fit(["a b c"], workers=8)


# Guarded by the version: the branch runs on Keras 2 only.
if keras.__version__.startswith("2."):
    model.fit(rows, epochs=3, workers=4)
else:
    model.fit(rows, epochs=3)


# A function that handles both: the old call is tried under the exception that Keras 3 raises.
def fit_anywhere(batches):
    try:
        return model.fit(batches, workers=4)
    except TypeError:
        return model.fit(batches)


# The same, with whatever is raised.
def predict_anywhere(batches):
    try:
        return model.predict_generator(batches)
    except Exception:
        return model.predict(batches)


# One of two methods, chosen by what there is.
def fit_with_either(batches, old):
    train = model.fit_generator if old else model.fit
    return train(batches)


# A setting of that name which never reaches Keras.
settings = {"workers": 4, "max_queue_size": 10, "use_multiprocessing": False}
print("fit_generator and predict_generator are gone; see", settings)
