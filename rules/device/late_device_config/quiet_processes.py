"""Each job configures its devices in a process of its own; the tensors of the parent do not count."""

import multiprocessing

import keras
import tensorflow as tf


def job(seed):
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.zeros((64, 8)), tf.zeros((64, 1)))


if __name__ == "__main__":
    print(tf.reduce_sum(tf.range(10)))
    context = multiprocessing.get_context("spawn")
    for seed in range(4):
        process = context.Process(target=job, args=(seed,))
        process.start()
        process.join()
