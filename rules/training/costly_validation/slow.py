"""Validates on more than it trains on, in a shuffled order, and on the training data once more."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(3)
x_train, y_train = rng.normal(size=(4096, 64)).astype("float32"), rng.normal(size=(4096, 1)).astype("float32")
x_test, y_test = rng.normal(size=(512, 64)).astype("float32"), rng.normal(size=(512, 1)).astype("float32")


def build():
    network = keras.Sequential([keras.Input((64,)), keras.layers.Dense(256, activation="tanh"), keras.layers.Dense(1)])
    network.compile("adam", "mse")
    return network


swapped = build().fit(x_test, y_test, validation_data=(x_train, y_train), epochs=3, verbose=0)  # KC419:warning

# --- As datasets, in a helper ---------------------------------------------------------------------


def batches(inputs, targets):
    return tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(32).prefetch(tf.data.AUTOTUNE)


train = batches(x_test, y_test)
validation = batches(x_train[:1024], y_train[:1024])
twice = build().fit(train, validation_data=validation, epochs=2, verbose=0)  # KC419:info

# --- The training data after each epoch -----------------------------------------------------------

model = build()
for epoch in range(3):
    model.fit(train, epochs=1, verbose=0)
    loss = model.evaluate(train, verbose=0)  # KC419:info

# --- Without an end -------------------------------------------------------------------------------


def validate_forever(network: keras.Model, files):
    endless = validation.repeat()
    network.fit(train, validation_data=endless, epochs=3)  # KC419:error
    network.evaluate(endless.prefetch(1))  # KC419:error
    network.predict(batches(x_test, y_test).repeat(-1))  # KC419:error


# --- In another order, after decoding -------------------------------------------------------------


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (224, 224)), 0.0


def validate_in_any_order(network: keras.Model, files, held_out):
    images = tf.data.Dataset.from_tensor_slices(files).shuffle(5000).map(decode).batch(32)
    others = tf.data.Dataset.from_tensor_slices(held_out).map(decode).shuffle(5000).batch(32)  # KC419:warning
    network.fit(images, validation_data=others, epochs=3)


print("loss:", swapped.history["loss"][-1] + twice.history["loss"][-1] + loss)
