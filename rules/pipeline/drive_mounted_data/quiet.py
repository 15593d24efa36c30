"""A mounted drive, and data that is not read from it file by file."""

import glob
import shutil

import keras
import tensorflow as tf
from somewhere import labels, settings

model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")


def read(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))


def look_up(path, label):
    return tf.strings.length(path), label


# Copied first: what is read lies on the machine.
shutil.copytree("/content/drive/MyDrive/photos", "/content/photos")
model.fit(keras.utils.image_dataset_from_directory("/content/photos"))

# Read once, then from memory.
model.fit(keras.utils.image_dataset_from_directory("/content/drive/MyDrive/photos").cache())
model.fit(tf.data.Dataset.list_files("/content/drive/MyDrive/photos/*.jpg").map(read).cache().batch(32))

# Records, with many samples in a file; names that are only names.
model.fit(tf.data.TFRecordDataset("gs://bucket/photos-00000.tfrecord").map(lambda x: tf.io.parse_tensor(x, tf.float32)).batch(32))
names = glob.glob("/content/drive/MyDrive/photos/*.jpg")
model.fit(tf.data.Dataset.from_tensor_slices((names, labels)).map(look_up).batch(32))

# A path from elsewhere, a folder of the machine with such a name.
model.fit(keras.utils.image_dataset_from_directory(settings.folder))
model.fit(keras.utils.image_dataset_from_directory("/data/drive/photos"))

# Held-out data, a model.
generator = keras.preprocessing.image.ImageDataGenerator()
model.fit(generator.flow_from_directory("/content/photos"), validation_data=generator.flow_from_directory("/content/drive/MyDrive/test"))
model.evaluate(keras.utils.image_dataset_from_directory("/content/drive/MyDrive/test"))
model.fit(keras.utils.image_dataset_from_directory("/content/photos"), validation_data=keras.utils.image_dataset_from_directory("/content/drive/MyDrive/test"))
model.save("/content/drive/MyDrive/model.keras")
