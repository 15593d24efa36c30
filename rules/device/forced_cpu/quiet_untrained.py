"""Weights are converted, for which memory counts."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras

keras.models.load_model("large.keras").export("served")
