"""Train on rows that are sorted by class, through shuffles that hardly mix them."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
BUFFER, BATCH = 10, 32

labels = np.sort(rng.integers(0, 4, size=600))
rows = (rng.normal(size=(600, 8)) + labels[:, None]).astype("float32")


def classifier():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


source = tf.data.Dataset.from_tensor_slices((rows, labels))

nothing = source.shuffle(1).batch(20).prefetch(1)  # KC127
history = classifier().fit(nothing, epochs=2, verbose=0)

# --- Less than a batch -------------------------------------------------------------------------

hardly = (
    source.shuffle(BUFFER, seed=1)  # KC127
    .repeat(2)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
model = classifier()
for row, label in hardly:
    loss = model.train_on_batch(row, label)


class Trainer:
    def __init__(self, batch_size=64):
        self.dataset = source.map(lambda row, label: (row / 2.0, label)).shuffle(buffer_size=50, seed=2)  # KC127
        self.batches = self.dataset.batch(batch_size).prefetch(1)

    def train(self):
        return classifier().fit(self.batches, epochs=2, verbose=0)


kept = Trainer().train()
print("loss:", history.history["loss"][-1] + kept.history["loss"][-1] + float(loss))
