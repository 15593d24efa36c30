"""Train on photographs; the shuffle buffers hold them decoded."""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
folder = pathlib.Path(tempfile.mkdtemp())
BUFFER = 2000

paths, labels, encoded = [], [], []
for number in range(150):
    path = folder / f"{number}.jpg"
    encoded.append(tf.io.encode_jpeg(rng.integers(0, 256, size=(64, 64, 3), dtype=np.uint8)).numpy())
    path.write_bytes(encoded[-1])
    paths.append(str(path))
    labels.append(number % 3)


def read(path, label):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [160, 160]), label


def decode(jpeg, label):
    return tf.io.decode_image(jpeg, channels=3, expand_animations=False), label


def smaller(image, label):
    return tf.image.resize(image, (200, 200)), label


def classifier(side):
    model = keras.Sequential([keras.Input((side, side, 3)), layers.AveragePooling2D(40), layers.Rescaling(1 / 255), layers.Flatten(), layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


photographs = (
    tf.data.Dataset.from_tensor_slices((paths, labels))
    # More than there are: mixes all of them.
    .shuffle(BUFFER)
    .map(read, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(25)
    .prefetch(tf.data.AUTOTUNE)
)
history = classifier(160).fit(photographs, epochs=2, verbose=0)

# --- Decoded and resized in two maps -----------------------------------------------------------

pictures = tf.data.Dataset.from_tensor_slices((encoded, labels))
pictures = pictures.shuffle(1000).map(decode, num_parallel_calls=tf.data.AUTOTUNE).map(smaller, num_parallel_calls=tf.data.AUTOTUNE)
resized = classifier(200).fit(pictures.batch(25).prefetch(1), epochs=2, verbose=0)

# --- Nothing tells how large the images are ----------------------------------------------------

model = classifier(64)
small = tf.data.Dataset.from_tensor_slices((encoded, labels)).shuffle(buffer_size=1000).map(decode, num_parallel_calls=4)
for images, classes in small.batch(25).prefetch(1):
    loss = model.train_on_batch(images, classes)

# --- In a class, from records, and for whoever imports this -------------------------------------


class Faces:
    def __init__(self, files):
        self.dataset = tf.data.Dataset.from_tensor_slices(files).shuffle(BUFFER).map(self.load)

    def load(self, path):
        image = tf.io.decode_png(tf.io.read_file(path), channels=1)
        return tf.image.resize_with_crop_or_pad(image, 112, 112)

    def fit(self, autoencoder):
        autoencoder.fit(self.dataset.batch(32), epochs=10)


FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.io.decode_jpeg(example["image"]), example["label"]


def training_data(pattern):
    records = tf.data.TFRecordDataset(tf.io.gfile.glob(pattern))
    examples = records.shuffle(10_000).map(parse, num_parallel_calls=tf.data.AUTOTUNE).filter(lambda image, label: label > 0)
    return examples.repeat().batch(64)


def endless_training_data(pattern):
    images = tf.data.TFRecordDataset(tf.io.gfile.glob(pattern)).shuffle(2048).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    flipped = images.map(lambda image, label: (tf.image.random_flip_left_right(image), label), num_parallel_calls=tf.data.AUTOTUNE)
    return flipped.repeat().batch(64)


print("loss:", history.history["loss"][-1] + resized.history["loss"][-1] + float(loss))
