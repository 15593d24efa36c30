"""Generators that give enough at a time, or that nobody waits for."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8)).astype("float32")
targets = rng.integers(0, 2, size=64)

ONE = (tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.int64))
MANY = (tf.TensorSpec((None, 8), tf.float32), tf.TensorSpec((None,), tf.int64))

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def examples():
    yield from zip(inputs, targets)


def batches():
    for start in range(0, len(inputs), 16):
        yield inputs[start : start + 16], targets[start : start + 16]


def endless_batches():
    while True:
        yield from batches()


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return inputs[16 * index : 16 * index + 16], targets[16 * index : 16 * index + 16]


# --- A batch at a time -------------------------------------------------------------------------


def whole_batches():
    # One Python call per batch: hidden behind the step.
    model.fit(tf.data.Dataset.from_generator(batches, output_signature=MANY).prefetch(1))


def straight_to_fit():
    # Keras prefetches what it reads from a generator or a PyDataset; both give batches.
    model.fit(endless_batches(), steps_per_epoch=4)
    model.fit(Batches())


# --- Once, or in parallel ----------------------------------------------------------------------


def cached():
    # The generator runs in the first epoch only.
    dataset = tf.data.Dataset.from_generator(examples, output_signature=ONE).cache()
    model.fit(dataset.batch(16).prefetch(1), epochs=20)


def several_at_once():
    # Parallel calls on purpose: the generators wait for storage.
    parts = tf.data.Dataset.range(4).interleave(
        lambda part: tf.data.Dataset.from_generator(examples, output_signature=ONE),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    model.fit(parts.batch(16).prefetch(1))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # One pass over little data.
    validation = tf.data.Dataset.from_generator(examples, output_signature=ONE).batch(16)
    model.fit(train, validation_data=validation)
    model.evaluate(tf.data.Dataset.from_generator(examples, output_signature=ONE).batch(16))


def vocabulary(lines):
    # adapt() reads once, before training.
    words = tf.data.Dataset.from_generator(lines, output_signature=tf.TensorSpec((), tf.string))
    vectorizer = keras.layers.TextVectorization()
    vectorizer.adapt(words.batch(16))


def inspection():
    # A look at a few examples.
    dataset = tf.data.Dataset.from_generator(examples, output_signature=ONE)
    for row, target in dataset.batch(2).take(3):
        print(row, target)
    print(dataset.element_spec)


# --- Not tf.data -------------------------------------------------------------------------------


class Tokenizer:
    @classmethod
    def from_generator(cls, lines):
        return cls()


def others(lines):
    # Another class's from_generator, and the builtin map over a generator.
    tokenizer = Tokenizer.from_generator(lines)
    lengths = list(map(len, examples()))
    return tokenizer, lengths


model.fit(tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(16).prefetch(1))


# --- Where it goes cannot be seen --------------------------------------------------------------


def make_validation_dataset():
    # The name says that it is held-out data.
    return tf.data.Dataset.from_generator(examples, output_signature=ONE).batch(16)


def perhaps_batches(one_by_one):
    # batches gives whole batches; only without them a batch is made here.
    dataset = tf.data.Dataset.from_generator(batches, output_signature=MANY)
    if one_by_one:
        dataset = dataset.unbatch().batch(16)
    model.fit(dataset.prefetch(1))
