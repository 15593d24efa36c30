"""Train on rows that are sorted by class, through shuffles that mix all of them."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
BUFFER, BATCH = 600, 32

labels = np.sort(rng.integers(0, 4, size=600))
rows = (rng.normal(size=(600, 8)) + labels[:, None]).astype("float32")


def classifier():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


source = tf.data.Dataset.from_tensor_slices((rows, labels))

everything = source.shuffle(600).batch(20).prefetch(1)
history = classifier().fit(everything, epochs=2, verbose=0)

# --- All of them -------------------------------------------------------------------------

thoroughly = (
    source.shuffle(BUFFER, seed=1)
    .repeat(2)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
model = classifier()
for row, label in thoroughly:
    loss = model.train_on_batch(row, label)


class Trainer:
    def __init__(self, batch_size=64):
        self.dataset = source.map(lambda row, label: (row / 2.0, label)).shuffle(buffer_size=600, seed=2)
        self.batches = self.dataset.batch(batch_size).prefetch(1)

    def train(self):
        return classifier().fit(self.batches, epochs=2, verbose=0)


kept = Trainer().train()
print("loss:", history.history["loss"][-1] + kept.history["loss"][-1] + float(loss))
