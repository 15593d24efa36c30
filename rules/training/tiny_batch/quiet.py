"""Batches that are large enough, have a reason to be small, or are not known."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")
ds = tf.data.Dataset.from_tensor_slices((x, y))
strategy = tf.distribute.get_strategy()


def small():
    model = keras.Sequential([layers.Input((10,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


# The default for convolutions over larger pictures, what is written down, and sizes that are not literals.
digits = keras.Sequential([layers.Input((64, 64, 1)), layers.Conv2D(4, 3, strides=8), layers.GlobalAveragePooling2D(), layers.Dense(1)])
digits.compile("adam", "mse")
digits.fit(x, y)
small().fit(x, y, batch_size=24)
small().fit(x, y, batch_size=32)
small().fit(x, y, batch_size=args.batch)
small().fit(x, y, batch_size=2 * strategy.num_replicas_in_sync)
small().fit(ds.batch(4).unbatch().batch(64))
# Not the batches of training.
small().fit(ds.batch(32), validation_data=ds.batch(1))
small().evaluate(x, y, batch_size=1)
small().predict(ds.batch(1))



class RaiseRate(keras.callbacks.Callback):
    # How far it gets depends on the number of batches.
    def on_batch_end(self, batch, logs=None):
        self.model.optimizer.learning_rate = self.model.optimizer.learning_rate * 1.01


small().fit(x, y, batch_size=4, callbacks=[RaiseRate()])

# A hundred rows, written out as columns: the default, and batches of which there are few.
columns = np.array([range(100), range(301, 401)])
short = keras.Sequential([layers.Input((2,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
short.compile("adam", "mse")
short.fit(columns.T, np.array(range(100)))
short.fit([np.transpose(columns)[:40]], np.array(range(40)), batch_size=16)

# Enough to do in a step, and not enough memory for more.
pictures = keras.Sequential([layers.Input((256, 256, 3)), layers.Conv2D(4, 3, strides=8), layers.GlobalAveragePooling2D(), layers.Dense(1)])
pictures.compile("adam", "mse")
pictures.fit(x, y, batch_size=4)
sizes = keras.Sequential([layers.Input((None, None, 3)), layers.Conv2D(4, 3), layers.GlobalAveragePooling2D(), layers.Dense(1)])
sizes.compile("adam", "mse")
sizes.fit(x, y, batch_size=1)
sequences = keras.Sequential([layers.Input(batch_shape=(1, 50, 4)), layers.LSTM(8, stateful=True), layers.Dense(1)])
sequences.compile("adam", "mse")
sequences.fit(x, y, batch_size=1)
steps = keras.Sequential([layers.Input((None, 4)), layers.LSTM(8), layers.Dense(1)])
steps.compile("adam", "mse")
steps.fit(x, y)
wide = keras.Sequential([layers.Input((784,)), layers.Dense(4096, activation="relu"), layers.Dense(10)])
wide.compile("adam", "mse")
wide.fit(x, y, batch_size=8)
unknown = keras.Sequential([layers.Flatten(), layers.Dense(16), layers.Dense(1)])
unknown.compile("adam", "mse")
unknown.fit(x, y, batch_size=8)

# Many small batches for one update.
patient = keras.Sequential([layers.Input((10,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
patient.compile(keras.optimizers.Adam(gradient_accumulation_steps=8), "mse")
patient.fit(x, y, batch_size=4)
