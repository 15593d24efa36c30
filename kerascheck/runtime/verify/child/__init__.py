"""Code that runs inside the process of the measured script.

This package is loaded by path under the name ``_kerascheck_child`` (see ``__main__.py``), so it works in interpreters
without kerascheck. It imports the standard library only, and TensorFlow, Keras, JAX or PyTorch only after the script
has imported them.

It sends dictionaries as JSON lines (``channel.py``). ``kerascheck/runtime/verify/messages.py`` defines each message:
its keys, types, units and meanings. A key that is not a field there ends the run with an error.
"""
