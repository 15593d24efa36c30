"""Runs a script as written and as repaired, and says what each repair is worth.

Nothing here imports TensorFlow or Keras: they are imported by the script, in a child process (``child/``).
"""
