"""Four examples, to see that it works."""

import tensorflow as tf
from tensorflow import keras

dataset = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0], [3.0], [4.0]], [[2.0], [4.0], [6.0], [8.0]])).batch(1).prefetch(1)
with tf.distribute.MirroredStrategy().scope():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(dataset)
