"""Measures a script against versions of it with fixes, and reports the speed-up of each fix.

Nothing here imports TensorFlow or Keras. The script imports them in a child process (``child/``).
"""
