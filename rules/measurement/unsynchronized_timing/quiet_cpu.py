"""On a CPU the result is there when the call returns."""

import os
import time

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import tensorflow as tf

x = tf.random.normal((1024, 16))


@tf.function
def forward(features):
    return tf.reduce_mean(features)


start = time.time()
forward(x)
print("rows per second:", 1024 / (time.time() - start))
