"""Image generators that nobody waits for, and things that only share the name."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.utils import image_dataset_from_directory
from tensorflow.keras.preprocessing.image import ImageDataGenerator, load_img

from project import augmentation

rng = np.random.default_rng(0)
images = rng.integers(0, 256, size=(64, 64, 64, 3)).astype("float32")
labels = rng.integers(0, 2, size=64)

model = keras.Sequential([layers.Rescaling(1 / 255), layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def modern():
    # The replacement.
    train = image_dataset_from_directory("photos", image_size=(64, 64))
    flip = layers.RandomFlip("horizontal")
    train = train.map(lambda x, y: (flip(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)
    model.fit(train.prefetch(1))


def held_out(train):
    # One pass over the validation images.
    validation = ImageDataGenerator(rescale=1 / 255).flow_from_directory("validation", target_size=(64, 64))
    model.fit(train, validation_data=validation)
    model.evaluate(validation)
    return model.predict(ImageDataGenerator().flow_from_directory("test", class_mode=None, shuffle=False))


def features(backbone):
    # One pass in all: the features are kept, the images are not read again.
    photos = ImageDataGenerator(rescale=1 / 255).flow_from_directory("photos", shuffle=False)
    return backbone.predict(photos)


def inspection():
    # A look at a few augmented images.
    generator = ImageDataGenerator(horizontal_flip=True).flow(images, labels, batch_size=4)
    batch, _ = next(generator)
    print(batch.shape)


def one_image(path):
    # The helpers of the same module read single images.
    return np.asarray(load_img(path))


def namesake(train):
    # Another library's class of that name.
    generator = augmentation.ImageDataGenerator(images, labels)
    model.fit(generator)
    # Made and never used for anything.
    ImageDataGenerator(rescale=1 / 255)


model.fit(images, labels)
