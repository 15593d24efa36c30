"""Memory growth for every GPU that TensorFlow sees."""

import tensorflow as tf


def every_device():
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)


def every_index():
    gpus = tf.config.list_physical_devices("GPU")
    for i in range(len(gpus)):
        tf.config.experimental.set_memory_growth(gpus[i], True)


def in_a_comprehension():
    [tf.config.experimental.set_memory_growth(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]


def first_is_the_only_visible():
    # The others are hidden, so nothing can differ between devices.
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[0], "GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)


def list_of_the_visible(index):
    # What is visible was cut down to one device before.
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[index : index + 1], "GPU")
    visible = tf.config.get_visible_devices("GPU")
    tf.config.experimental.set_memory_growth(visible[0], True)


def exactly_one():
    # The branch is for machines with one GPU.
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) == 1:
        tf.config.experimental.set_memory_growth(gpus[0], True)
    else:
        every_device()


def one_after_the_other():
    # The first by hand, the rest in a loop.
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[0], True)
    for gpu in gpus[1:]:
        tf.config.experimental.set_memory_growth(gpu, True)


def own_choice(device):
    # A parameter: which devices it gets is for the caller to say.
    tf.config.experimental.set_memory_growth(device, True)


def switched_off():
    # False is the default, and so equal for all.
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[0], False)
