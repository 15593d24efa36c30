"""Knowledge of Python, TensorFlow and Keras by canonical name: ``names.layers.DENSE`` is "keras.layers.Dense".

Example:
    >>> call("keras.layers.Dense(1)").name == names.layers.DENSE
    True
"""

from __future__ import annotations

from kerascheck.knowledge import callables, classes, datasets, devices, layers, namespaces, symbols

__all__ = [
    "callables",
    "classes",
    "datasets",
    "devices",
    "layers",
    "namespaces",
    "symbols",
]
