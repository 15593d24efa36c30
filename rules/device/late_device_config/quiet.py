"""Devices configured in time: what comes before does not start the runtime."""

import argparse
import os

import keras
import tensorflow as tf

# The variables are read when the GPU is first touched, not at import.
os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"

parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, default=64)
args = parser.parse_args()

# Seeds, policies and compiler settings are noted only.
keras.utils.set_random_seed(0)
tf.random.set_seed(0)
keras.mixed_precision.set_global_policy("float32")
tf.config.optimizer.set_jit(False)
tf.config.run_functions_eagerly(False)
keras.backend.clear_session()

# A layer without weights yet, a symbolic input, a loss: no tensor is made.
head = keras.layers.Dense(args.units)
inputs = keras.Input((8,))
loss = keras.losses.MeanSquaredError()

# Files are read without a device.
names = tf.io.gfile.glob("data/*.tfrecord")


# Nothing is traced before the first call.
@tf.function
def normalise(x):
    return (x - tf.reduce_mean(x)) / tf.math.reduce_std(x)


# A function that makes tensors stands above, but is called below.
def make_dataset():
    return tf.data.Dataset.from_tensor_slices(tf.random.normal((64, 8))).batch(8)


def build():
    return keras.Sequential([keras.Input((8,)), head, keras.layers.Dense(8)])


# Listing the physical devices does not start them.
gpus = tf.config.list_physical_devices("GPU")
print(len(gpus), "GPUs", tf.config.get_visible_devices())
if gpus:
    tf.config.set_visible_devices(gpus[:2], "GPU")
    for gpu in gpus[:2]:
        tf.config.experimental.set_memory_growth(gpu, True)

dataset = make_dataset().map(normalise)
model = build()
model.compile("adam", loss)
model.fit(dataset.map(lambda x: (x, x)))


# Reading the settings is possible at any time.
for gpu in gpus:
    print(tf.config.experimental.get_memory_growth(gpu), tf.config.get_logical_device_configuration(gpu))

# What is set already may be set again, as by modules that each do it for themselves.
for gpu in gpus[:2]:
    tf.config.experimental.set_memory_growth(gpu, True)
