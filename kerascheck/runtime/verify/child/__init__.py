"""What runs inside the process of the measured script.

This package is loaded by path under the name ``_kerascheck_child`` (see ``__main__.py``), so that it works
in an interpreter in which kerascheck is not installed: it imports the standard library only, and TensorFlow,
Keras, JAX or PyTorch only after the script itself has imported them.
"""
