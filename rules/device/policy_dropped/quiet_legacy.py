"""tf.keras 2 keeps the policy."""

import numpy as np
import tf_keras as keras

x, y = np.load("x.npy"), np.load("y.npy")
keras.mixed_precision.set_global_policy("mixed_float16")
keras.backend.clear_session()
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
