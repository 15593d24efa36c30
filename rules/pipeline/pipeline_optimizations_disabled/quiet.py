"""Options of datasets that take nothing away."""

import keras
import tensorflow as tf
from somewhere import debug, features, labels, settings

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")


def scale(x, y):
    return tf.sqrt(x), y


source = tf.data.Dataset.from_tensor_slices((features, labels))

# Everything said in the dataset.
explicit = tf.data.Options()
explicit.autotune.enabled = False
explicit.experimental_optimization.apply_default_optimizations = False
explicit.experimental_optimization.inject_prefetch = False
explicit.experimental_optimization.map_parallelization = False
model.fit(source.map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(1).with_options(explicit))

# Two threads, and one where nothing is parallel.
two = tf.data.Options()
two.threading.private_threadpool_size = 2
model.fit(source.map(scale, num_parallel_calls=2).batch(32).prefetch(1).with_options(two))
one = tf.data.Options()
one.threading.private_threadpool_size = 1
model.fit(source.batch(32).prefetch(1).with_options(one))

# Left on, or decided elsewhere.
on = tf.data.Options()
on.autotune.enabled = True
on.experimental_optimization.inject_prefetch = settings.prefetch
on.experimental_optimization.map_fusion = False
model.fit(source.map(scale).batch(32).with_options(on))

# For debugging only.
careful = tf.data.Options()
if debug:
    careful.autotune.enabled = False
model.fit(source.map(scale).batch(32).with_options(careful))
serial = tf.data.Options()
serial.experimental_optimization.map_parallelization = False
training = source.map(scale).batch(32)
if debug:
    training = training.with_options(serial)
model.fit(training)

# Not trained on, and not used.
held_out = tf.data.Options()
held_out.autotune.enabled = False
model.evaluate(source.map(scale).batch(32).with_options(held_out))
unused = tf.data.Options()
unused.autotune.enabled = False
