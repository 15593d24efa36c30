"""Train on sensor rows; the operations of the pipeline are called, and their results thrown away."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

rows = rng.normal(20.0, 5.0, size=(1200, 8)).astype("float32")
order = np.argsort(rows[:, 0])
rows = rows[order]
power = rows.sum(axis=1) / 100.0


def scale(values, target):
    return (values - 20.0) / 5.0, target


def build(rows, power, training):
    dataset = tf.data.Dataset.from_tensor_slices((rows, power))
    if training:
        dataset = dataset.shuffle(len(rows), seed=1)
    dataset = dataset.map(scale, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(60)
    dataset = dataset.prefetch(tf.data.AUTOTUNE)
    return dataset


class Data:
    """Both splits of the table."""

    def __init__(self, rows, power):
        self.train = build(rows[::2], power[::2], training=True)
        self.held_out = build(rows[1::2], power[1::2], training=False)
        self.train = self.train.cache().repeat(2)


data = Data(rows, power)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
history = model.fit(data.train, validation_data=data.held_out, epochs=3, verbose=0)

print("validation loss:", history.history["val_loss"][-1])
print("loss:", history.history["loss"][-1])
