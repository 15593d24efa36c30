"""Train with a fixed number of steps on data that are repeated before they are shuffled or cached."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

rows = rng.normal(size=(300, 10)).astype("float32")
prices = rows.sum(axis=1)
STEPS = 15


def scale(row, price):
    return row / 2.0, price / 2.0


def regression():
    model = keras.Sequential([keras.Input((10,)), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


source = tf.data.Dataset.from_tensor_slices((rows, prices))

endless = source.shuffle(300, seed=1).repeat().batch(20).prefetch(1)
history = regression().fit(endless, epochs=3, steps_per_epoch=STEPS, verbose=0)

# --- One call per line -------------------------------------------------------------------------

thrice = (
    source.map(scale)
    .shuffle(buffer_size=300, seed=1)
    # Three epochs in one.
    .repeat(3)
    .batch(20)
    .prefetch(tf.data.AUTOTUNE)
)
model = regression()
for row, price in thrice:
    loss = model.train_on_batch(row, price)

# --- A cache that is never complete ------------------------------------------------------------


class Trainer:
    def __init__(self, dataset):
        dataset = dataset.map(scale).batch(20)
        dataset = dataset.cache()
        dataset = dataset.repeat(-1)
        self.dataset = dataset.prefetch(1)

    def train(self):
        return regression().fit(self.dataset, epochs=2, steps_per_epoch=STEPS, verbose=0)


kept = Trainer(source).train()
print("loss:", history.history["loss"][-1] + kept.history["loss"][-1] + float(loss))
