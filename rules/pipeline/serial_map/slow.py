"""A text model and an image model, fed by tf.data pipelines whose maps take one element at a time."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# --- Reviews: a vocabulary layer inside the mapped function -----------------------------------

WORDS = [f"word{i}" for i in range(400)]
LENGTH = 600
lookup = layers.StringLookup(vocabulary=WORDS)


def tokenize(text, label):
    text = tf.strings.regex_replace(tf.strings.lower(text), "[^a-z0-9 ]", "")
    words = tf.strings.split(text)[:LENGTH]
    return tf.ensure_shape(lookup(words), [LENGTH]), label


def make_reviews(texts, labels):
    dataset = tf.data.Dataset.from_tensor_slices((texts, labels))
    dataset = dataset.map(tokenize)  # KC101
    dataset = dataset.batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE)


texts = [", ".join(rng.choice(WORDS, size=LENGTH)).title() for _ in range(1280)]
labels = rng.integers(0, 2, size=1280)

reviewer = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int64"),
        layers.Embedding(len(WORDS) + 1, 2),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1, activation="sigmoid"),
    ]
)
reviewer.compile(optimizer="sgd", loss="binary_crossentropy")
reviews = reviewer.fit(make_reviews(texts, labels), epochs=3, verbose=0)

# --- Photographs: from memory, from records, and with random augmentation ---------------------


def to_image(jpeg, label):
    return tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (16, 16)) / 255.0, label


def read_record(record):
    spec = {"jpeg": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    features = tf.io.parse_single_example(record, spec)
    return to_image(features["jpeg"], features["label"])


def augment(jpeg, label):
    image = tf.io.decode_jpeg(jpeg, channels=3)
    image = tf.image.random_crop(tf.image.random_flip_left_right(image), (112, 112, 3))
    return tf.image.resize(image, (16, 16)) / 255.0, label


pixels = rng.integers(0, 256, size=(400, 128, 128, 3), dtype=np.uint8)
jpegs = [tf.io.encode_jpeg(image).numpy() for image in pixels]
classes = rng.integers(0, 2, size=400)

folder = tempfile.TemporaryDirectory()
for shard in range(4):
    with tf.io.TFRecordWriter(os.path.join(folder.name, f"train-{shard}.tfrecord")) as writer:
        for jpeg, label in zip(jpegs[shard::4], classes[shard::4]):
            example = tf.train.Example()
            example.features.feature["jpeg"].bytes_list.value.append(jpeg)
            example.features.feature["label"].int64_list.value.append(int(label))
            writer.write(example.SerializeToString())

model = keras.Sequential([keras.Input((16, 16, 3)), layers.Flatten(), layers.Dense(2)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

# The literal 1 keeps TensorFlow from making this map parallel by itself.
memory = tf.data.Dataset.from_tensor_slices((jpegs, classes))
by_one = memory.map(to_image, num_parallel_calls=1).batch(50)  # KC101
literal = model.fit(by_one, epochs=4, verbose=0)

# No state in the function: TensorFlow 2.6 and later repair this map, earlier ones do not.
plain = memory.map(to_image).shuffle(64, seed=2).batch(50)  # KC101:pedantic
repaired = model.fit(plain, epochs=1, verbose=0)

# A map inside the function given to interleave is never repaired.
shards = tf.data.Dataset.list_files(os.path.join(folder.name, "*.tfrecord"), shuffle=False)
records = shards.interleave(
    lambda path: tf.data.TFRecordDataset(path).map(read_record),  # KC101
    cycle_length=4,
)
interleaved = model.fit(records.batch(50).prefetch(1), epochs=2, verbose=0)

# Random operations have state; the draws come in another order when the calls run in parallel.
augmented = (
    memory.shuffle(400, seed=1)
    .map(augment)  # KC101
    .batch(50)
    .prefetch(2)
)
random = model.fit(augmented, epochs=4, verbose=0)

print("loss with random augmentation:", random.history["loss"][-1])
finals = [h.history["loss"][-1] for h in (reviews, literal, repaired, interleaved)]
print("loss:", sum(finals) / len(finals))
