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
    return tf.image.resize(image, (48, 48)), label


data = tf.data.Dataset.from_tensor_slices((jpegs, labels)).repeat(200).map(augment).batch(32)
model = keras.Sequential([keras.Input((48, 48, 3)), keras.layers.Flatten(), keras.layers.Dense(10)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD()
optimizer.build(model.trainable_variables)


@tf.function
def train_epoch(data):
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


for epoch in range(10):
    train_epoch(data)
