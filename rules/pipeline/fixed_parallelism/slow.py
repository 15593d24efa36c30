"""Train on spectra with as many parallel calls as somebody's workstation had cores."""

import multiprocessing
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
WORKERS = 32

signals = rng.normal(size=(400, 256)).astype("float32")
labels = rng.integers(0, 3, size=400)


def spectrum(signal, label):
    return tf.abs(tf.signal.rfft(signal)), label


def logarithm(values, label):
    return tf.math.log1p(values), label


def classifier():
    model = keras.Sequential([keras.Input((129,)), layers.Dense(16, activation="relu"), layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


source = tf.data.Dataset.from_tensor_slices((signals, labels))

spectra = source.map(spectrum, num_parallel_calls=16)  # KC116:pedantic
spectra = spectra.batch(20, num_parallel_calls=WORKERS).prefetch(1)  # KC116:pedantic
history = classifier().fit(spectra, epochs=2, verbose=0)

# --- The count of cores ------------------------------------------------------------------------

counted = (
    source.map(spectrum, num_parallel_calls=os.cpu_count())  # KC116:pedantic
    .map(  # KC116:pedantic
        logarithm,
        num_parallel_calls=multiprocessing.cpu_count(),
    )
    .batch(20)
    .prefetch(tf.data.AUTOTUNE)
)
model = classifier()
for values, classes in counted:
    loss = model.train_on_batch(values, classes)


class Trainer:
    def dataset(self):
        workers = 12
        return source.map(spectrum, workers).batch(20)  # KC116:pedantic

    def train(self):
        return classifier().fit(self.dataset(), epochs=2, verbose=0)


Trainer().train()
print("loss:", history.history["loss"][-1] + float(loss))
