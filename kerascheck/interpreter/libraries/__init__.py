"""Semantics of library callables, one file per library; importing this package fills the tables."""

from kerascheck.interpreter.libraries import builtins, data, distribute, keras, numpy, records, tensorflow, tuner

__all__ = ["builtins", "data", "distribute", "keras", "numpy", "records", "tensorflow", "tuner"]
