"""An option chooses the type, whatever the code behind it does."""

import argparse

import keras
import numpy as np

from types_of_layers import use

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float32")
use(parser.parse_args().dtype)
model = keras.applications.ResNet50(weights=None, classes=10)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=10)
