"""Memory growth is set, in a helper that main() calls first."""

import keras
import tensorflow as tf


def configure_gpus():
    devices = tf.config.list_physical_devices("GPU")
    try:
        for device in devices:
            tf.config.experimental.set_memory_growth(device, True)
    except RuntimeError as error:
        print(error)
    return len(devices)


def main():
    print(configure_gpus(), "GPUs")
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.random.normal((256, 8)), tf.random.normal((256, 1)), epochs=5)


if __name__ == "__main__":
    main()
