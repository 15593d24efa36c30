import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

images = rng.random((256, 48, 48, 3), dtype="float32")
labels = rng.integers(0, 10, 256)


def augment(image, label):
    for _ in range(6):
        image = tf.image.random_contrast(tf.image.random_brightness(image, 0.1), 0.9, 1.1)
    return image, label


data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat(40).map(augment).batch(32)
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
