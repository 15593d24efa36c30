"""Maps that look serial and are right as they are."""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pool

import datasets
import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(0)
images = rng.integers(0, 256, size=(64, 32, 32, 3), dtype=np.uint8)
labels = rng.integers(0, 2, size=64)
names = ["a", "b"] * 32

model = keras.Sequential([layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
lookup = layers.StringLookup(vocabulary=["a", "b"])


def augment(image, label):
    return tf.image.random_flip_left_right(tf.cast(image, tf.float32)), label


def scale(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


source = tf.data.Dataset.from_tensor_slices((images, labels))


# --- Parallel already --------------------------------------------------------------------------


def parallel_in_every_spelling(options):
    # By keyword, by position, with the older name, with a number: all of them run in parallel.
    model.fit(source.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(8))
    model.fit(source.map(augment, tf.data.AUTOTUNE).batch(8))
    model.fit(source.map(augment, num_parallel_calls=tf.data.experimental.AUTOTUNE).batch(8))
    # A literal above 1 is a choice; on small functions it even beat the autotuner.
    model.fit(source.map(augment, num_parallel_calls=4).batch(8))
    # The options may hold num_parallel_calls: unknown is not absent.
    model.fit(source.map(augment, **options).batch(8))


def serial_on_purpose():
    # Asked for in so many words.
    model.fit(source.map(augment, synchronous=True).batch(8))


def parallel_outside(paths):
    # The interleave runs the inner pipelines in parallel; a second level gains nothing.
    files = tf.data.Dataset.from_tensor_slices(paths)
    records = files.interleave(
        lambda path: tf.data.TFRecordDataset(path).map(lambda record: tf.io.decode_raw(record, tf.float32)),
        cycle_length=4,
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    model.fit(records.batch(8))


def python_inside():
    # numpy_function holds Python's lock: parallel calls wait for each other (py-function-in-map).
    def blur(image, label):
        image = tf.numpy_function(lambda x: x.astype(np.float32), [image], tf.float32)
        return tf.ensure_shape(image, (32, 32, 3)), label

    model.fit(source.map(blur).batch(8))


# --- Not on the way to training ----------------------------------------------------------------


def validation_only(train):
    # One pass over little data per epoch, or one pass at all.
    held_out = source.map(augment).batch(8)
    model.fit(train, validation_data=held_out)
    model.evaluate(source.map(augment).batch(8))
    model.predict(source.map(lambda image, label: tf.image.random_hue(image, 0.1)).batch(8))


def vocabulary():
    # adapt() reads the words once, before training.
    words = tf.data.Dataset.from_tensor_slices(names)
    vectorizer = layers.TextVectorization()
    vectorizer.adapt(words.map(lambda word: lookup.get_vocabulary()[0] + word).batch(8))
    normalization = layers.Normalization()
    normalization.adapt(source.map(lambda image, label: tf.cast(image, tf.float32)))


def inspection():
    # A look at a few elements.
    for image, label in source.map(augment).take(3):
        print(image.shape, label)
    print(next(iter(source.map(augment))))


def unused():
    # Built and returned to nobody that trains in this file: where it goes is unknown.
    probe = source.map(augment)
    print(probe.element_spec)


def make_validation_dataset():
    # Where it goes cannot be seen, but its name says that it is held-out data.
    return source.map(augment).batch(8)


def few():
    # The first elements only, to overfit on.
    model.fit(source.take(32).map(augment).batch(8))


# --- Not tf.data -------------------------------------------------------------------------------


def other_maps(frame: pd.DataFrame, unknown):
    # The builtin, a series, executors, a pool.
    sizes = list(map(len, names))
    frame["label"] = frame["label"].map({"a": 0, "b": 1})
    with ThreadPoolExecutor() as executor:
        sizes += executor.map(len, names)
    with Pool(2) as pool:
        sizes += pool.map(len, names)
    # Hugging Face datasets have their own map, with num_proc.
    reviews = datasets.load_dataset("imdb")["train"].map(lambda row: {"n": len(row["text"])})
    model.fit(reviews.to_tf_dataset(batch_size=8))
    # map_fn is a loop inside one graph.
    tf.map_fn(tf.image.random_flip_left_right, images)
    # A receiver of unknown origin may be anything.
    model.fit(unknown.map(augment))
    return sizes


model.fit(source.map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(8))

# One call at a time of what does nothing is as good as many.
rows = tf.data.Dataset.from_tensor_slices({"image": images, "label": labels})
model.fit(rows.map(lambda row: (row["image"], row["label"]), num_parallel_calls=1).batch(8).prefetch(1))

# Older versions make it parallel, too, when they are told to.
told = tf.data.Options()
told.experimental_optimization.map_parallelization = True
model.fit(source.map(scale).batch(8).prefetch(1).with_options(told))


# A count must go up one by one, and this map does nothing beside counting.
class Numbered:
    def __init__(self):
        self.count = tf.Variable(0, dtype=tf.int64)

    def __call__(self, image, label):
        return image, label, self.count.assign_add(1)


model.fit(source.map(Numbered()).batch(8).prefetch(1))
