# /// script
# dependencies = ["tensorflow==2.3.1"]
# ///
"""Written for a version that has them."""

import tensorflow as tf

tf.keras.mixed_precision.experimental.set_policy("mixed_float16")
print(tf.data.experimental.AUTOTUNE)
