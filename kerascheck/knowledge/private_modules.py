"""Modules of TensorFlow without a public interface, which the live measurement reads where they exist."""

AUTOGRAPH_API = "tensorflow.python.autograph.impl.api"
"""Converts Python functions, and caches the results."""
SCRIPT_OPS = "tensorflow.python.ops.script_ops"
"""Registers the Python functions that graphs call."""
