"""Nothing is trained: the precision of a file is looked at."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(8, 3)])
model.compile("adam", "mse", jit_compile=True)
print(model.layers[0].compute_dtype)
