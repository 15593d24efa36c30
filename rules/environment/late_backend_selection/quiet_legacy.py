"""tf.keras 2 has one backend only."""

import os

import tf_keras

os.environ["KERAS_BACKEND"] = "jax"
print(tf_keras.__version__)
