"""Tags every step of a sequence, and sorts short clips: layers wrapped step by step."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
steps = 24
signal = rng.normal(size=(96, steps, 8)).astype("float32")
tags = (signal[:, :, 0] > 0).astype("int32")

tagger = keras.Sequential(
    [
        layers.TimeDistributed(layers.Dense(8), name="scale", input_shape=(steps, 8)),  # KC209
        layers.Bidirectional(layers.GRU(12, return_sequences=True)),
        layers.TimeDistributed(layers.Dense(16, activation="relu")),  # KC209:warning
        layers.TimeDistributed(layers.LayerNormalization(), name="norm"),  # KC209
        layers.TimeDistributed(layers.Dense(2)),  # KC209
        layers.TimeDistributed(layers.Activation("softmax")),  # KC209
    ]
)
tagger.compile("adam", "sparse_categorical_crossentropy")
history = tagger.fit(signal, tags, epochs=2, batch_size=32, verbose=0)

frames = rng.random((16, 12, 16, 16, 1)).astype("float32")
moving = rng.integers(0, 2, 16)


def classifier():
    eye = keras.Sequential([layers.Input((16, 16, 1)), layers.Conv2D(4, 3, activation="relu"), layers.GlobalAveragePooling2D()])
    clips = layers.Input((12, 16, 16, 1))
    x = layers.TimeDistributed(eye)(clips)  # KC209:info
    x = layers.LSTM(8)(x)
    return keras.Model(clips, layers.Dense(2, activation="softmax")(x))


model = classifier()
model.compile("adam", "sparse_categorical_crossentropy")
clips = model.fit(frames, moving, epochs=2, batch_size=8, verbose=0)
print("loss:", history.history["loss"][-1] + clips.history["loss"][-1])
