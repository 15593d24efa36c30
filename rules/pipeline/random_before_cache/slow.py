"""Train on cached photographs; the cache keeps the random draws of the first epoch."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

pixels = rng.integers(0, 256, size=(300, 72, 72, 3), dtype=np.uint8)
jpegs = [tf.io.encode_jpeg(image).numpy() for image in pixels]
labels = rng.integers(0, 3, size=300)


def decode(jpeg, label):
    return tf.cast(tf.io.decode_jpeg(jpeg, channels=3), tf.float32) / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_crop(image, (64, 64, 3)), label


def augmented(jpegs, labels):
    return (
        tf.data.Dataset.from_tensor_slices((jpegs, labels))
        .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()  # KC114
        .batch(50)
        .prefetch(tf.data.AUTOTUNE)
    )


def classifier():
    model = keras.Sequential(
        [
            keras.Input((64, 64, 3)),
            layers.Conv2D(4, 3, strides=4, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


history = classifier().fit(augmented(jpegs, labels), epochs=3, verbose=0)

# --- The order of the examples is random too ---------------------------------------------------

rows = rng.normal(size=(1000, 10)).astype("float32")
sums = rows.sum(axis=1)

table = tf.data.Dataset.from_tensor_slices((rows, sums)).shuffle(1000).cache().batch(50)  # KC114

noisy = tf.data.Dataset.from_tensor_slices((rows, sums))
noisy = noisy.shuffle(1000).map(lambda row, total: (row + tf.random.normal((10,)), total))
noisy = noisy.cache().batch(50)  # KC114

regression = keras.Sequential([keras.Input((10,)), layers.Dense(1)])
regression.compile(optimizer="sgd", loss="mse")
table_history = regression.fit(table.prefetch(1), epochs=3, verbose=0)
noisy_history = regression.fit(noisy.prefetch(1), epochs=3, verbose=0)

print("loss:", sum(h.history["loss"][-1] for h in (history, table_history, noisy_history)))
