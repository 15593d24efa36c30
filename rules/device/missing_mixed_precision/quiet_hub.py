"""The layers of a model of TensorFlow Hub keep the types they were saved with; the rest is narrow."""

import tensorflow as tf
import tensorflow_hub as hub
from tensorflow import keras

other = keras.layers.Conv2D(512, 3)
model = keras.Sequential(
    [
        hub.KerasLayer("https://tfhub.dev/google/imagenet/resnet_v2_50/feature_vector/5", trainable=True),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(5),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(keras.utils.image_dataset_from_directory("flowers", image_size=(224, 224)).prefetch(tf.data.AUTOTUNE), epochs=10)
