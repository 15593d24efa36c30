"""Lookups in the pipeline, in models that are not trained, and layers that compute with numbers."""

import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--raw", action="store_true")
args = parser.parse_args()
texts, labels = np.load("texts.npy"), np.load("labels.npy")

# In the pipeline; the model for use is put together afterwards.
vectorize = layers.TextVectorization(1000, output_sequence_length=20)
vectorize.adapt(texts)
model = keras.Sequential([layers.Embedding(1000, 8), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
ds = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(32).map(lambda text, label: (vectorize(text), label))
model.fit(ds)
export = keras.Sequential([keras.Input((1,), dtype="string"), vectorize, model])
export.compile("adam", "mse")
export.evaluate(texts, labels)
export.save("export.keras")

# Numbers into numbers.
scale = layers.Normalization()
bins = layers.Discretization(bin_boundaries=[0.0, 1.0])
mixed = keras.Sequential([scale, bins, layers.CategoryEncoding(3), layers.Dense(1)])
mixed.compile("adam", "mse")
mixed.fit(texts, labels)

# Sometimes in the model.
maybe = keras.Sequential()
if args.raw:
    maybe.add(layers.StringLookup(vocabulary=["a", "b"]))
maybe.add(layers.Embedding(3, 2))
maybe.compile("adam", "mse")
maybe.fit(texts, labels)


class Tagger(keras.Model):
    """Holds a table for what comes out, and prepares texts outside of call."""

    def __init__(self):
        super().__init__()
        self.names = layers.StringLookup(vocabulary=["noun", "verb"], invert=True)
        self.table = layers.IntegerLookup(vocabulary=[1, 2, 3])
        self.dense = layers.Dense(2)

    def prepare(self, numbers):
        return self.table(numbers)

    def call(self, x):
        return self.dense(x)

    def tags(self, x):
        return self.names(tf.argmax(self(x), axis=-1))


tagger = Tagger()
tagger.compile("adam", "mse")
tagger.fit(texts, labels)
