"""Python in and around mapped functions that does what it says."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import datasets
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
images = rng.integers(0, 256, size=(64, 32, 32, 3), dtype=np.uint8)
labels = rng.integers(0, 2, size=64)

model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def source():
    return tf.data.Dataset.from_tensor_slices((images, labels))


def train(dataset):
    model.fit(dataset.batch(8).prefetch(1))


# --- Constants and static shapes ---------------------------------------------------------------


def numpy_at_trace_time(image, label):
    # Shapes, numbers and types are known when the function is traced; once is enough.
    size = int(np.prod(image.shape))
    angle = np.pi / 4 + np.sqrt(2.0)
    image = tf.cast(image, np.float32) * np.float32(angle)
    return tf.reshape(image, (size,)), tf.cast(label, np.int64)


train(source().map(numpy_at_trace_time))


def own_list(image, label):
    # The list is made and used up within one trace.
    views = []
    for turns in range(2):
        views.append(tf.image.rot90(image, turns))
    return tf.concat(views, axis=0), label


train(source().map(own_list))


def own_dictionary(image, label):
    # Made here, or given for this one element.
    views = {}
    views["plain"] = image
    count = 0
    for name in views:
        count += 1
    return views["plain"], label


def of_the_element(features):
    features["image"] = tf.cast(features["image"], tf.float32)
    return features["image"], features["label"]


class Shapes:
    known = {}

    def remember(self, image, label):
        # What is known while tracing is as good once.
        self.size = image.shape[0]
        self.known["channels"] = image.shape[-1]
        return image, label


class View:
    def __init__(self, image):
        self.image = image
        self.turns = 0

    def turn(self):
        self.image = tf.image.rot90(self.image)
        self.turns += 1


def own_object(image, label):
    # Made for this one element, with all that is written to it.
    view = View(image)
    view.turn()
    return view.image, label


train(source().map(own_dictionary))
train(source().map(own_object))
train(source().map(lambda image, label: {"image": image, "label": label}).map(of_the_element))
train(source().map(Shapes().remember))


# --- TensorFlow's own --------------------------------------------------------------------------


def drawn_for_every_element(image, label):
    # Graph operations run for every element.
    tf.print("label", label)
    image = tf.cast(image, tf.float32) + tf.random.uniform(())
    return tf.image.random_flip_left_right(image), label


train(source().map(drawn_for_every_element, num_parallel_calls=tf.data.AUTOTUNE))


# --- Python that does run for every element ----------------------------------------------------


def shake(image):
    print("in Python, for every element")
    time.sleep(0.01)
    return np.roll(image, random.randrange(4), axis=0) + np.random.normal()


def through_python(image, label):
    # py_function and numpy_function call Python each time (py-function-in-map is another rule).
    image = tf.numpy_function(shake, [image], tf.float64)
    return tf.ensure_shape(image, (32, 32, 3)), label


train(source().map(through_python))


# --- Looked at ---------------------------------------------------------------------------------


def announce(image, label):
    print("tracing")
    return image + np.random.normal(), label


# A few elements on the screen.
for image, label in source().map(announce).take(3):
    print(image.shape, label)


# --- Drawn outside, once, on purpose -----------------------------------------------------------

offset = random.random()
noise = np.random.normal(size=(32, 32, 3)).astype("float32")


def same_noise(image, label):
    # The values come from outside; a fixed pattern is what the name says.
    return tf.cast(image, tf.float32) + noise + offset, label


train(source().map(same_noise))


# --- Outside of any mapped function ------------------------------------------------------------


def generate():
    # A generator is ordinary Python.
    while True:
        print("next")
        yield np.random.normal(size=8), random.randrange(2)


def loop_around():
    # So is the loop that reads the dataset.
    sizes = []
    for image, label in source().take(3):
        print(image.shape, label, time.perf_counter())
        sizes.append(np.random.normal())
    return sizes


def python_augment(image):
    return image + np.random.normal()


def other_maps(frame, unknown):
    # The builtin map, executors, pandas, Hugging Face: all of them call Python for every item.
    first = list(map(python_augment, images))
    with ThreadPoolExecutor() as executor:
        second = list(executor.map(python_augment, images))
    frame["noise"] = frame["noise"].map(lambda value: value + np.random.normal())
    reviews = datasets.load_dataset("imdb")["train"].map(lambda row: {"draw": random.random()})
    # A receiver that may be anything.
    return first, second, reviews, unknown.map(python_augment)
