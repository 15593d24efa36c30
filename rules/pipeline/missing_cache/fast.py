"""Train on JPEG files that are read and decoded anew in every epoch."""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
folder = pathlib.Path(tempfile.mkdtemp())

paths, labels = [], []
for number in range(200):
    path = folder / f"{number}.jpg"
    image = rng.integers(0, 256, size=(96, 96, 3), dtype=np.uint8)
    path.write_bytes(tf.io.encode_jpeg(image).numpy())
    paths.append(str(path))
    labels.append(number % 4)


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (64, 64)), label


def scale(image, label):
    return image / 255.0, label


photographs = (
    tf.data.Dataset.from_tensor_slices((paths, labels))
    .map(load, num_parallel_calls=tf.data.AUTOTUNE)
    .map(scale, num_parallel_calls=tf.data.AUTOTUNE)
    .cache()
    .batch(20)
    .prefetch(tf.data.AUTOTUNE)
)
model = keras.Sequential([keras.Input((64, 64, 3)), layers.Conv2D(4, 3, strides=4, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(4)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(photographs, epochs=3, verbose=0)

# --- A loop written by hand, over records ------------------------------------------------------

records = str(folder / "rows.tfrecord")
with tf.io.TFRecordWriter(records) as writer:
    for _ in range(200):
        row = tf.train.Feature(float_list=tf.train.FloatList(value=rng.normal(size=8)))
        writer.write(tf.train.Example(features=tf.train.Features(feature={"row": row})).SerializeToString())


def parse(serialized):
    return tf.io.parse_example(serialized, {"row": tf.io.FixedLenFeature([8], tf.float32)})["row"]


rows = tf.data.TFRecordDataset(records).batch(20).map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache().prefetch(1)
regression = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
regression.compile("sgd", "mse")
for _ in range(3):
    for batch in rows:
        loss = regression.train_on_batch(batch, tf.reduce_sum(batch, axis=1))

print("loss:", history.history["loss"][-1] + float(loss))
