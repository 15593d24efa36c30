"""The backend chosen in time, or where it makes no difference."""

import importlib.util
import os

# The first line that counts.
os.environ["KERAS_BACKEND"] = "jax"

import keras
from keras import layers

# What is set already, as notebooks say it in every part.
os.environ["KERAS_BACKEND"] = "jax"

# What Keras takes by itself.
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

# Another variable, and reading this one.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
print(os.environ["KERAS_BACKEND"], importlib.util.find_spec("jax"))

model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])


def switch(backend):
    # Nobody is seen to call it: the modules may be imported anew afterwards.
    os.environ["KERAS_BACKEND"] = backend
