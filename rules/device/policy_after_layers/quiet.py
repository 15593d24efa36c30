"""Policies in their place: before the layers they are for, or after the last of them."""

import keras
import numpy as np
from keras import layers, mixed_precision

x, y = np.load("x.npy"), np.load("y.npy")


# The function stands above the policy and is called below it.
def build():
    return keras.Sequential([keras.Input((32,)), layers.Dense(512, activation="relu"), layers.Dense(1)])


# A class is a definition only, too.
class Block(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = layers.Dense(units)

    def call(self, inputs):
        return self.dense(inputs)


def mixed():
    # The policy comes first.
    mixed_precision.set_global_policy("mixed_float16")
    model = build()
    model.compile("adam", "mse")
    model.fit(x, y)
    # Back to the default, when the model is built and trained.
    mixed_precision.set_global_policy("float32")


def compare():
    # Two models, and a policy for each: the second is not meant for the first.
    results = {}
    mixed_precision.set_global_policy("float32")
    baseline = build()
    baseline.compile("adam", "mse")
    results["float32"] = baseline.fit(x, y).history["loss"]
    mixed_precision.set_global_policy("mixed_bfloat16")
    half = build()
    half.compile("adam", "mse")
    results["mixed_bfloat16"] = half.fit(x, y).history["loss"]
    return results


def sweep():
    # Each round sets its policy before it builds its model.
    for name in ("float32", "mixed_float16", "mixed_bfloat16"):
        keras.config.set_dtype_policy(name)
        model = keras.Sequential([keras.Input((32,)), Block(256), layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(x, y)


def restored():
    # The policy of before is put back.
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    model = build()
    keras.config.set_dtype_policy(before)
    return model


def one_layer():
    # No global policy: the layer has its own, at any time.
    model = build()
    policy = mixed_precision.DTypePolicy("mixed_float16")
    return keras.Sequential([model, layers.Dense(64, dtype=policy)])


def either(half):
    # Layer and policy are in different branches.
    if half:
        mixed_precision.set_global_policy("mixed_float16")
    else:
        return build()
    return build()


def for_the_teacher():
    # What was loaded keeps the policy that it was saved with.
    teacher = keras.models.load_model("teacher.keras")
    mixed_precision.set_global_policy("mixed_float16")
    student = build()
    student.compile("adam", "mse")
    student.fit(x, teacher.predict(x))


def applied_only():
    # Nothing is trained with the policy any more.
    model = build()
    mixed_precision.set_global_policy("mixed_float16")
    return model.predict(x)


if __name__ == "__main__":
    mixed()
