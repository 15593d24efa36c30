"""Train for a number of steps that is counted by reading all batches."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
images = np.random.default_rng(0).integers(0, 256, size=(640, 64, 64, 3), dtype=np.uint8)
labels = np.arange(640) % 4


def prepare(image, label):
    return tf.image.resize(tf.cast(image, tf.float32) / 255, (48, 48), antialias=True), label


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(2)
steps = len(list(dataset))  # KC122:warning
batches = len(list(dataset.as_numpy_iterator()))  # KC122:warning

model = keras.Sequential([keras.Input((48, 48, 3)), layers.Conv2D(4, 3, strides=3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(4)])
schedule = keras.optimizers.schedules.CosineDecay(0.01, decay_steps=2 * steps)
model.compile(keras.optimizers.SGD(schedule), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(dataset.repeat(), epochs=2, steps_per_epoch=batches, verbose=0)

print("loss:", history.history["loss"][-1])
