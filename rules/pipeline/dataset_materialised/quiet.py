"""Lists of datasets, and other lists, that have a purpose."""

import pathlib

import keras
import numpy as np
import tensorflow as tf
from somewhere import images, labels, texts

dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")

# A few elements.
print(len(list(dataset.take(3))), len(list(dataset.take(2).as_numpy_iterator())))

# What is kept, looked up, or compared afterwards.
in_memory = list(dataset)
vocabulary = np.unique(np.concatenate(list(tf.data.Dataset.from_tensor_slices(texts).batch(1000).as_numpy_iterator())))
truth = np.concatenate([y for _, y in dataset])

# Other lists.
print(len(list(pathlib.Path("images").glob("*.png"))), len(list(labels)))

# Known without reading, and one epoch by hand.
print(len(dataset))
for x, y in dataset.as_numpy_iterator():
    model.train_on_batch(x, y)
model.fit(dataset)


def test_number_of_batches():
    assert len(list(dataset)) == 10
