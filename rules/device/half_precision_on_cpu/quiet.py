"""GPUs that are seen, or hidden only sometimes."""

import os
import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

if "--cpu" in sys.argv:
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:1], "GPU")
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1, dtype="float32")])
model.compile("adam", "mse", jit_compile=True)
model.fit(np.load("x.npy"), np.load("y.npy"))
