"""Trains a regression network in mixed precision."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

keras.utils.set_random_seed(0)


def build_model(units):
    return keras.Sequential(
        [
            keras.Input((16,)),
            layers.Dense(units, activation="relu"),
            layers.Dense(units, activation="relu"),
            layers.Dense(1, dtype="float32"),
        ]
    )


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(128, 16)).astype("float32")
    y = x[:, :1] * x[:, 1:2]

    model = build_model(64)
    mixed_precision.set_global_policy("mixed_float16")  # KC302
    model.compile("adam", "mse")
    history = model.fit(x, y, batch_size=32, epochs=3, verbose=0)
    print("loss:", history.history["loss"][-1])


if __name__ == "__main__":
    main()
