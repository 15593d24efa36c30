"""A program that is written for several devices: it scales its batches."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.MirroredStrategy()
batch_size = 64 * strategy.num_replicas_in_sync

with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")

model.fit(np.load("x.npy"), np.load("y.npy"), batch_size=batch_size)
