import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

pixels = rng.integers(0, 256, (64, 192, 192, 3), dtype=np.uint8)
jpegs = [tf.io.encode_jpeg(image).numpy() for image in pixels]


def augment(jpeg):
    image = tf.image.random_flip_left_right(tf.io.decode_jpeg(jpeg, channels=3))
    return tf.image.resize(image, (48, 48))


data = tf.data.Dataset.from_tensor_slices(jpegs).map(augment).batch(32).repeat(400)
total = 0.0
for batch in data:
    total += float(batch[0, 0, 0, 0])
