import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

pixels = rng.integers(0, 256, (64, 192, 192, 3), dtype=np.uint8)
jpegs = [tf.io.encode_jpeg(image).numpy() for image in pixels]
labels = rng.integers(0, 10, 64)


def augment(jpeg, label):
    image = tf.image.random_flip_left_right(tf.io.decode_jpeg(jpeg, channels=3))
    return tf.image.resize(image, (32, 32)), label


data = tf.data.Dataset.from_tensor_slices((jpegs, labels)).repeat().map(augment).batch(32)
model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

if __name__ == "__main__":
    model.fit(data, epochs=2, steps_per_epoch=400, verbose=0)
