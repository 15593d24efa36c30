"""Train and validate on two parts of a set of pictures, which are decoded before the split."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
pictures = rng.integers(0, 256, size=(600, 48, 48, 3), dtype=np.uint8)
encoded = [tf.io.encode_png(picture).numpy() for picture in pictures]
labels = rng.integers(0, 3, size=600)
HELD_OUT = len(encoded) // 10 * 9


def decode(png, label):
    image = tf.io.decode_png(png, channels=3)
    return tf.cast(tf.ensure_shape(image, (48, 48, 3)), tf.float32) / 255.0, label


def classifier():
    model = keras.Sequential([keras.Input((48, 48, 3)), layers.AveragePooling2D(8), layers.Flatten(), layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


source = tf.data.Dataset.from_tensor_slices((encoded, labels))

last = source.map(decode, num_parallel_calls=tf.data.AUTOTUNE).skip(540).batch(20)  # KC132
history = classifier().fit(last.prefetch(1), epochs=4, verbose=0)

# --- A split in a function ------------------------------------------------------------------------


def split(examples, count):
    decoded = examples.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return decoded.take(count), decoded.skip(count)  # KC132


validation, training = split(source, HELD_OUT)
of_split = classifier().fit(training.batch(20).prefetch(1), validation_data=validation.batch(20), epochs=2, verbose=0)

# --- Batches ------------------------------------------------------------------------------------

batches = source.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(20).skip(10).prefetch(1)  # KC132
model = classifier()
for _ in range(3):
    for images, classes in batches:
        loss = model.train_on_batch(images, classes)

print("loss:", history.history["loss"][-1] + of_split.history["loss"][-1] + float(loss))
