"""A session configured in the way of TensorFlow 1 allows growth as well."""

import tensorflow as tf

config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((256, 8)), tf.random.normal((256, 1)), epochs=5)
