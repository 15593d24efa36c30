"""The configuration stands last in the file and runs first."""

import keras
import tensorflow as tf


def main():
    configure(memory_limit=2048)
    with tf.distribute.MirroredStrategy().scope():
        model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        model.compile("adam", "mse")
    model.fit(tf.zeros((64, 8)), tf.zeros((64, 1)))


def configure(memory_limit):
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit)])


if __name__ == "__main__":
    main()
