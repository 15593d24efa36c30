"""Validates on less than it trains on, in one order, and only on data that it does not train on."""

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


swapped = build().fit(x_train, y_train, validation_data=(x_test, y_test), epochs=3, verbose=0)

# --- As datasets, in a helper ---------------------------------------------------------------------


def batches(inputs, targets):
    return tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(32).prefetch(tf.data.AUTOTUNE)


train = batches(x_train[:1024], y_train[:1024])
validation = batches(x_test, y_test)
twice = build().fit(train, validation_data=validation, epochs=2, verbose=0)

# --- The training data after each epoch -----------------------------------------------------------

model = build()
for epoch in range(3):
    loss = model.fit(train, epochs=1, verbose=0).history["loss"][-1]

# --- With an end -------------------------------------------------------------------------------


def validate_once(network: keras.Model, files):
    finite = validation
    network.fit(train, validation_data=finite, epochs=3)
    network.evaluate(finite.prefetch(1))
    network.predict(batches(x_test, y_test))


# --- In the order of the files -------------------------------------------------------------


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (224, 224)), 0.0


def validate_in_one_order(network: keras.Model, files, held_out):
    images = tf.data.Dataset.from_tensor_slices(files).shuffle(5000).map(decode).batch(32)
    others = tf.data.Dataset.from_tensor_slices(held_out).map(decode).batch(32)
    network.fit(images, validation_data=others, epochs=3)


print("loss:", swapped.history["loss"][-1] + twice.history["loss"][-1] + loss)
