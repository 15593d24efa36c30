"""Models that are not that small, or are watched batch by batch, and trainings that are short."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import callbacks, layers

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")
options = dict(vars(args))


def small():
    return keras.Sequential([layers.Input((10,)), layers.Dense(16, activation="relu"), layers.Dense(1)])


# Given, perhaps given, or of no use.
given = small()
given.compile("adam", "mse", steps_per_execution=8)
given.fit(x, y, epochs=50)
perhaps = small()
perhaps.compile("adam", "mse", **options)
perhaps.fit(x, y, epochs=50)
eager = small()
eager.compile("adam", "mse", run_eagerly=True)
eager.fit(x, y, epochs=50)

# Layers whose steps take their time, and sizes that are not known.
pictures = keras.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])
pictures.compile("adam", "mse")
pictures.fit(x, y, epochs=50)
sequences = keras.Sequential([layers.Input((20, 4)), layers.LSTM(8), layers.Dense(1)])
sequences.compile("adam", "mse")
sequences.fit(x, y, epochs=50)
wide = keras.Sequential([layers.Input((784,)), layers.Dense(2048, activation="relu"), layers.Dense(10)])
wide.compile("adam", "mse")
wide.fit(x, y, epochs=50)
unknown = keras.Sequential([layers.Flatten(), layers.Dense(16), layers.Dense(1)])
unknown.compile("adam", "mse")
unknown.fit(x, y, epochs=50)


class Own(layers.Layer):
    def call(self, inputs):
        return tf.sort(inputs)


own = keras.Sequential([layers.Input((10,)), Own(), layers.Dense(1)])
own.compile("adam", "mse")
own.fit(x, y, epochs=50)

# Large batches, and batches of a size that is not known.
batches = small()
batches.compile("adam", "mse")
batches.fit(x, y, epochs=50, batch_size=65536)
asked = small()
asked.compile("adam", "mse")
asked.fit(x, y, epochs=50, batch_size=args.batch)
generated = small()
generated.compile("adam", "mse")
generated.fit(make_batches(), epochs=50)

# Short, or of few steps.
short = small()
short.compile("adam", "mse")
short.fit(x, y)
counted = small()
counted.compile("adam", "mse")
counted.fit(np.zeros((2000, 10)), np.zeros(2000), epochs=4)
few = small()
few.compile("adam", "mse")
few.fit(x, y, epochs=50, steps_per_epoch=5)
few_rows = small()
few_rows.compile("adam", "mse")
few_rows.fit(np.zeros((200, 10)), np.zeros(200), epochs=9000)


# Watched in every batch.
class Watch(callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print(batch, logs)


watched = small()
watched.compile("adam", "mse")
watched.fit(x, y, epochs=50, callbacks=[Watch()])
guarded = small()
guarded.compile("adam", "mse")
guarded.fit(x, y, epochs=50, callbacks=[callbacks.TerminateOnNaN()])
saved = small()
saved.compile("adam", "mse")
saved.fit(x, y, epochs=50, callbacks=[callbacks.ModelCheckpoint("m.keras", save_freq=100)])
drawn = small()
drawn.compile("adam", "mse")
drawn.fit(x, y, epochs=50, callbacks=[callbacks.TensorBoard("logs", update_freq="batch")])
printed = small()
printed.compile("adam", "mse")
printed.fit(x, y, epochs=50, callbacks=[callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: print(batch))])
called_back = small()
called_back.compile("adam", "mse")
called_back.fit(x, y, epochs=50, callbacks=make_callbacks())
