"""A network that has to satisfy an equation."""

import keras
import numpy as np
from scipy.integrate import odeint

keras.backend.set_floatx("float64")
t = np.linspace(0, 1, 100)
x = odeint(lambda y, t: -y, 1.0, t)
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(t[:, None], x)
