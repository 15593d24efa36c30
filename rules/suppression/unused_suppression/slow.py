import numpy as np
import tensorflow as tf
from tensorflow import keras

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

keras.utils.set_random_seed(4)
images = np.random.default_rng(4).random((256, 28, 28)).astype("float32")
digits = np.arange(256) % 10  # noqa: KC119  # KC900


def flip(image, digit):
    return tf.image.random_flip_left_right(image[..., None]), digit


dataset = tf.data.Dataset.from_tensor_slices((images, digits)).cache()  # kerascheck: ignore[augmented]  # KC900
dataset = dataset.map(flip)  # noqa: E501, KC101, KC109, KC302  # KC900
# kerascheck: ignore-file[KC405, unused-layer] the grid search has moved to another file  # KC900
dataset = dataset.batch(32).prefetch(tf.data.AUTOTUNE)  # kerascheck: ignore  # KC900
# noqa: KC555 , F401  # KC900
model = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(dataset, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])  # noqa:KC602: the clock was taken away  # KC900
