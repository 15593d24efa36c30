"""Trains on endless batches for as many steps as there are examples, and on a small part of finite batches."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(3)
BATCH_SIZE = 16
x_train = rng.normal(size=(160, 6)).astype("float32")
y_train = x_train[:, :1] * x_train[:, 1:2]
x_val = rng.normal(size=(80, 6)).astype("float32")
y_val = x_val[:, :1] * x_val[:, 1:2]


def build():
    network = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    network.compile("adam", "mse")
    return network


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(160).batch(BATCH_SIZE).repeat()
validation = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(BATCH_SIZE).repeat()

model = build()
history = model.fit(
    train.prefetch(1),
    epochs=2,
    steps_per_epoch=len(x_train),  # KC418:warning
    validation_data=validation,
    validation_steps=x_val.shape[0],  # KC418:warning
    verbose=0,
)

# --- The number has a name, and another call uses it ---------------------------------------------

count = len(x_val)
score = model.evaluate(validation, steps=count, verbose=0)  # KC418:warning

# --- Repeated first, in a function ----------------------------------------------------------------


def fit_features(features, targets):
    rows = tf.data.Dataset.from_tensor_slices({"x": features, "y": targets}).repeat().shuffle(160)
    batches = rows.map(lambda row: (row["x"], row["y"])).batch(8).prefetch(tf.data.AUTOTUNE)
    steps = len(features)
    return build().fit(batches, steps_per_epoch=steps, epochs=1, verbose=0)  # KC418:warning


fit_features(x_train, y_train)

# --- Divided twice --------------------------------------------------------------------------------

finite = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(4)
small = build().fit(finite, steps_per_epoch=len(finite) // 4, epochs=2, verbose=0)  # KC418:warning
again = build().fit(finite, steps_per_epoch=len(x_train) // 4 // 4, epochs=2, verbose=0)  # KC418:warning

print("loss:", history.history["loss"][-1] + score + small.history["loss"][-1] + again.history["loss"][-1])
