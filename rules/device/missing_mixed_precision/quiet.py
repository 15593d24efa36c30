"""A policy is set, in a helper and by an argument: the author has thought of it."""

import argparse

import keras
import numpy as np


def configure(precision):
    keras.config.set_dtype_policy(precision)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", default="float32")
    configure(parser.parse_args().precision)
    model = keras.applications.ResNet50(weights=None, classes=10)
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(np.load("x.npy"), np.load("y.npy"), epochs=10)


if __name__ == "__main__":
    main()
