"""One script per backend: the variable is for those that are started."""

import os
import subprocess
import sys

import keras

print("here:", keras.config.backend())
for backend in ("jax", "torch"):
    os.environ["KERAS_BACKEND"] = backend
    subprocess.run([sys.executable, "train.py"], check=True)
