"""Steps that count batches, or something of which the link to the data is unknown."""

import keras
import numpy as np
import tensorflow as tf
from project import batches_of, config, generate

x, y = np.load("x.npy"), np.load("y.npy")
x_val, y_val = np.load("x_val.npy"), np.load("y_val.npy")
batch_size = 32
rows = tf.data.Dataset.from_tensor_slices((x, y))
endless = rows.batch(batch_size).repeat()
finite = rows.batch(batch_size)

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")


def counted_in_batches():
    model.fit(endless, steps_per_epoch=len(x) // batch_size, epochs=3)
    model.fit(endless, steps_per_epoch=len(finite), epochs=3)
    model.fit(endless, steps_per_epoch=int(np.ceil(len(x) / batch_size)), epochs=3)


def ends_by_itself():
    # Keras stops the epoch with a warning.
    model.fit(finite, steps_per_epoch=len(x), epochs=3)
    model.fit(rows.batch(batch_size).repeat(2), steps_per_epoch=len(x), epochs=3)
    model.fit(x, y, batch_size=batch_size, steps_per_epoch=len(x))


def one_example_each_step():
    model.fit(rows.repeat().batch(1), steps_per_epoch=len(x), epochs=3)
    model.fit(rows.repeat().map(lambda row, label: (row[None], label[None])), steps_per_epoch=len(x), epochs=3)


def unknown_size():
    model.fit(rows.repeat().batch(config.batch_size), steps_per_epoch=len(x), epochs=3)


def other_rows():
    model.fit(endless, steps_per_epoch=len(x_val), epochs=3)
    model.fit(endless, steps_per_epoch=config.steps, epochs=3)
    model.fit(endless, steps_per_epoch=1000, epochs=3)
    model.fit(endless, validation_data=endless, validation_steps=len(x_val), steps_per_epoch=50)


def more_rows_from_each():
    def pieces(row, label):
        return tf.data.Dataset.from_tensors((row, label)).repeat(32)

    model.fit(rows.flat_map(pieces).batch(batch_size).repeat(), steps_per_epoch=len(x), epochs=3)
    model.fit(rows.filter(lambda row, label: label > 0).batch(batch_size).repeat(), steps_per_epoch=len(x))
    model.fit(rows.batch(8).batch(4).repeat(), steps_per_epoch=len(x))


def made_elsewhere():
    model.fit(batches_of(x, y), steps_per_epoch=len(x), epochs=3)
    model.fit(generate(x, y, batch_size=32), steps_per_epoch=len(x), epochs=3)


def ends_under_a_condition():
    data = rows.batch(batch_size)
    if config.repeats:
        data = data.repeat()
    model.fit(data, steps_per_epoch=len(x), epochs=3)


def bound_again():
    chosen = np.load("chosen.npy")
    count = len(chosen)
    chosen = np.concatenate([chosen] * 32)
    model.fit(tf.data.Dataset.from_tensor_slices(chosen).batch(32).repeat(), steps_per_epoch=count, epochs=3)


def counted_before_it_was_batched():
    data = tf.data.Dataset.from_tensor_slices((x, y))
    steps = len(data) // batch_size
    data = data.batch(batch_size).repeat()
    model.fit(data, steps_per_epoch=steps, epochs=3)


def a_tenth_of_the_batches():
    model.fit(finite, steps_per_epoch=len(finite) // 10, epochs=30)
    model.fit(endless, steps_per_epoch=len(x) // batch_size // 10, epochs=30)
    model.fit(endless, steps_per_epoch=len(x) // 2 // 2, epochs=30)
