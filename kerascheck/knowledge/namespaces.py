"""How canonical names start; the layers' prefix stands in layers.py."""

from __future__ import annotations

TENSORFLOW = "tensorflow."
KERAS = "keras."
TENSORFLOW_DATASETS = "tensorflow_datasets."
KERAS_BACKEND = "keras.backend."
KERAS_OPS = "keras.ops."
