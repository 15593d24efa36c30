"""Files that are read ahead, once, in parallel, rarely, or without a training."""

import functools
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import tensorflow as tf
from tensorflow import keras

paths = find()
y = np.zeros((16, 1))
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
kept = {}

# Before the loop, and once per epoch.
everything = np.stack([cv2.imread(path) for path in paths])
for start in range(0, len(paths), 16):
    model.train_on_batch(everything[start : start + 16], y)
for epoch in range(100):
    chunk = np.stack([cv2.imread(path) for path in paths[epoch::100]])
    for start in range(0, len(chunk), 16):
        model.train_on_batch(chunk[start : start + 16], y)

# In threads, or from a queue.
with ThreadPoolExecutor() as pool:
    for start in range(0, len(paths), 16):
        model.train_on_batch(np.stack(list(pool.map(cv2.imread, paths[start : start + 16]))), y)
    for start in range(0, len(paths), 16):
        model.train_on_batch(np.stack(list(pool.map(lambda path: cv2.imread(path), paths[start : start + 16]))), y)
for step in range(1000):
    model.train_on_batch(waiting.get(), y)


# Kept in memory, in several ways.
@functools.lru_cache(None)
def remembered(path):
    return cv2.imread(path)


def stored(path):
    if path not in kept:
        kept[path] = cv2.imread(path)
    return kept[path]


def returned(path):
    if path in kept:
        return kept[path]
    kept[path] = cv2.imread(path)
    return kept[path]


def tried(path):
    try:
        return kept[path]
    except KeyError:
        kept[path] = cv2.imread(path)
    return kept[path]


for start in range(0, len(paths), 16):
    model.train_on_batch(np.stack([remembered(path) for path in paths[start : start + 16]]), y)
for start in range(0, len(paths), 16):
    model.train_on_batch(np.stack([stored(path) for path in paths[start : start + 16]]), y)
for start in range(0, len(paths), 16):
    model.train_on_batch(np.stack([returned(path) for path in paths[start : start + 16]]), y)
for start in range(0, len(paths), 16):
    model.train_on_batch(np.stack([tried(path) for path in paths[start : start + 16]]), y)


# A generator that reads everything first, and one that another object runs.
def all_first():
    while True:
        images = np.stack([cv2.imread(path) for path in paths])
        for start in range(0, len(images), 16):
            yield images[start : start + 16]


def one_by_one():
    for start in range(0, len(paths), 16):
        yield np.stack([cv2.imread(path) for path in paths[start : start + 16]])


for x in all_first():
    model.train_on_batch(x, y)
for x in in_background(one_by_one()):
    model.train_on_batch(x, y)
for x in tf.data.Dataset.from_generator(one_by_one, tf.float32).prefetch(2):
    model.train_on_batch(x, y)
model.fit(one_by_one(), epochs=5)

# Once in several steps, in few steps, for several epochs, and without a training.
for step in range(1000):
    model.train_on_batch(everything[:16], y)
    if step % 100 == 0:
        model.test_on_batch(np.stack([cv2.imread(path) for path in paths[:16]]), y)
for step in range(3):
    model.train_on_batch(np.stack([cv2.imread(path) for path in paths[:16]]), y)
for start in range(0, len(paths), 16):
    model.fit(np.stack([cv2.imread(path) for path in paths[start : start + 16]]), y, epochs=50)
for start in range(0, len(paths), 16):
    model.fit(np.stack([cv2.imread(path) for path in paths[start : start + 16]]), y, epochs=epochs)
for x in one_by_one():
    model.predict_on_batch(x)
