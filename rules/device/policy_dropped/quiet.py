"""Sessions cleared before the policy is set, or with nothing behind them that needs it."""

import keras
import numpy as np
from keras import layers

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def in_order():
    keras.utils.clear_session()
    keras.mixed_precision.set_global_policy("mixed_float16")
    build().fit(x, y)


def again():
    # Set again, for some turns.
    keras.mixed_precision.set_global_policy("mixed_float16")
    for half in (True, False):
        keras.backend.clear_session()
        if half:
            keras.mixed_precision.set_global_policy("mixed_float16")
        build().fit(x, y)


def each_turn():
    # Cleared at the end of each turn, and set at the start.
    for width in range(4):
        keras.config.set_dtype_policy("mixed_float16")
        build().fit(x, y)
        keras.utils.clear_session()


def at_the_end():
    # Nothing is made behind it.
    keras.mixed_precision.set_global_policy("mixed_float16")
    build().fit(x, y)
    keras.utils.clear_session()


def whole_precision():
    keras.mixed_precision.set_global_policy("float32")
    keras.utils.clear_session()
    build().fit(x, y)


def chosen(policy):
    keras.mixed_precision.set_global_policy(policy)
    keras.utils.clear_session()
    build().fit(x, y)


def maybe(half):
    if half:
        keras.mixed_precision.set_global_policy("mixed_float16")
    keras.utils.clear_session()
    build().fit(x, y)


def cleared_for_some(fresh):
    keras.mixed_precision.set_global_policy("mixed_float16")
    if fresh:
        keras.utils.clear_session()
    build().fit(x, y)
