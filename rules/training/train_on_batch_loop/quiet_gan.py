"""One half of a GAN; the other half is trained elsewhere."""

import keras
from losses import generator

discriminator = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
discriminator.compile("adam", "mse")


def learn(batches):
    for epoch in range(100):
        for real, label in batches:
            discriminator.train_on_batch(real, label)
            generator.step(real)
