"""Nothing is trained here."""

import keras
import numpy as np

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.clear_session()
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
print(model.predict(np.load("x.npy")))
