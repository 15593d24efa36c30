"""A GAN: two optimizers in a delicate balance, where half precision is a decision of its own."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

generator = keras.Sequential(
    [
        keras.Input((128,)),
        layers.Dense(7 * 7 * 256),
        layers.Reshape((7, 7, 256)),
        layers.Conv2DTranspose(128, 4, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ]
)
discriminator = keras.Sequential(
    [
        keras.Input((28, 28, 1)),
        layers.Conv2D(128, 4, strides=2, activation="leaky_relu"),
        layers.Conv2D(256, 4, strides=2, activation="leaky_relu"),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
generator_optimizer = keras.optimizers.Adam(1e-4, beta_1=0.5)
discriminator_optimizer = keras.optimizers.Adam(1e-4, beta_1=0.5)
cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(images):
    noise = tf.random.normal((tf.shape(images)[0], 128))
    with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
        fake = discriminator(generator(noise, training=True), training=True)
        real = discriminator(images, training=True)
        generator_loss = cross_entropy(tf.ones_like(fake), fake)
        discriminator_loss = cross_entropy(tf.ones_like(real), real) + cross_entropy(tf.zeros_like(fake), fake)
    for tape, loss, model, optimizer in (
        (generator_tape, generator_loss, generator, generator_optimizer),
        (discriminator_tape, discriminator_loss, discriminator, discriminator_optimizer),
    ):
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


digits = np.load("digits.npy")
dataset = tf.data.Dataset.from_tensor_slices(digits[..., None] / 127.5 - 1.0).batch(64)
for _ in range(20):
    for batch in dataset:
        train_step(batch)
