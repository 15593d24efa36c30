"""What the callables of libraries do, one file for each library; importing this package fills the tables."""

from kerascheck.interpreter.libraries import builtins, data, distribute, keras, numpy, tensorflow, tuner

__all__ = ["builtins", "data", "distribute", "keras", "numpy", "tensorflow", "tuner"]
