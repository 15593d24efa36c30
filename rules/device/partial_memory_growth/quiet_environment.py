"""The environment shows one GPU to the process; the first of the list is all there is."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "2"

import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
