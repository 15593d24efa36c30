"""Statements that look like a dataset thrown away and are not."""

import random

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8)).astype("float32")
targets = rng.integers(0, 2, size=64)

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


source = tf.data.Dataset.from_tensor_slices((inputs, targets))


# --- The result is used ------------------------------------------------------------------------


def assigned():
    # To a name, a second name, an attribute of something, an item.
    dataset = source
    dataset = dataset.shuffle(64)
    batched = dataset.batch(8)
    splits = {}
    splits["train"] = batched.prefetch(1)
    model.fit(splits["train"])


def returned():
    return source.batch(8)


def passed_on(datasets):
    # As an argument, into a list, into a generator.
    model.fit(source.batch(8).prefetch(1))
    datasets.append(source.batch(8))
    yield source.batch(16)


def iterated():
    # The loop and the builtin use it up.
    for values, label in source.batch(8).take(3):
        print(values.shape, label)
    list(source.batch(8).as_numpy_iterator())


# --- Called for what it does -------------------------------------------------------------------


def effects(path):
    # save writes files; the others only look at the dataset.
    dataset = source
    dataset.save(path)
    print(dataset.cardinality(), dataset.element_spec)
    options = tf.data.Options()
    options.deterministic = False
    return dataset.with_options(options)


def expected_to_fail():
    # The call is there to raise.
    with pytest.raises(ValueError):
        source.batch(-1)
    try:
        source.map(None)
    except TypeError:
        print("no function")


def test_batch_rejects_zero():
    # A unit test calls it for what happens.
    source.batch(0)


# --- In place, elsewhere -----------------------------------------------------------------------


def lists_and_arrays(frame: pd.DataFrame):
    # These shuffle in place and return None.
    rows = list(range(10))
    random.shuffle(rows)
    rng.shuffle(inputs)
    np.random.shuffle(targets)
    # A frame that is changed in place.
    frame.drop(columns="id", inplace=True)


class Deck:
    def __init__(self, cards):
        self.cards = cards

    def shuffle(self, seed):
        random.Random(seed).shuffle(self.cards)

    def batch(self, size):
        del self.cards[size:]


def other_objects(unknown):
    # A class of the project that works in place, and something of unknown origin.
    deck = Deck(list(range(52)))
    deck.shuffle(1)
    deck.batch(5)
    unknown.shuffle(10)
    unknown.map(print)
    return deck
