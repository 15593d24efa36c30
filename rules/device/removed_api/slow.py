"""A small classifier with the names of 2020, and the helpers of that time that nobody calls any more."""

import keras
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, mixed_precision as precision

AUTOTUNE = tf.data.experimental.AUTOTUNE  # KC311:pedantic

tf.config.experimental_run_functions_eagerly(False)  # KC311:pedantic
print(len(tf.config.experimental.list_physical_devices("GPU")), "GPUs")  # KC311:pedantic
print(tf.config.experimental.get_visible_devices("GPU"))  # KC311:pedantic
cpus = tf.config.experimental.list_physical_devices("CPU")  # KC311:pedantic
tf.config.experimental.set_visible_devices(cpus, "CPU")  # KC311:pedantic
tf.config.experimental.set_virtual_device_configuration(  # KC311:pedantic
    cpus[0], [tf.config.experimental.VirtualDeviceConfiguration()]  # KC311:pedantic
)
print(tf.config.experimental.list_logical_devices("CPU"))  # KC311:pedantic


def old_session():
    options = tf.GPUOptions(allow_growth=True)  # KC311:info
    config = tf.ConfigProto(gpu_options=options)  # KC311:info
    keras.backend.set_session(tf.Session(config=config))  # KC311:info KC311:info
    return keras.backend.get_session()  # KC311:info


def old_growth():
    config = tf.compat.v1.ConfigProto()  # KC311:pedantic
    config.gpu_options.allow_growth = True
    return tf.compat.v1.InteractiveSession(config=config)


def old_precision():
    policy = precision.experimental.Policy("mixed_float16")  # KC311:info
    tf.keras.mixed_precision.experimental.set_policy(policy)  # KC311:info
    return precision.experimental.LossScaleOptimizer(keras.optimizers.Adam())  # KC311:info


def old_layers(images):
    scaled = layers.experimental.preprocessing.Rescaling(1 / 255.0)(images)  # KC311:info
    scaled = layers.experimental.preprocessing.Resizing(8, 8)(scaled)  # KC311:info
    return layers.CuDNNLSTM(8)(scaled), layers.CuDNNGRU(8)(scaled)  # KC311:info KC311:info


def old_steps(model, step):
    numbers = tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch(tf.identity, 2))  # KC311:pedantic
    first = numbers.make_one_shot_iterator().get_next()  # KC311:info
    strategy = tf.distribute.MirroredStrategy()
    strategy.experimental_run_v2(step, args=(first,))  # KC311:info
    return keras.utils.multi_gpu_model(model, gpus=2)  # KC311:info


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 6)).astype("float32")
y = (x[:, :1] * x[:, 1:2] > 0).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).map(lambda a, b: (a * 2.0, b), num_parallel_calls=AUTOTUNE)
dataset = dataset.prefetch(tf.data.experimental.AUTOTUNE)  # KC311:pedantic

model = keras.Sequential([keras.Input((6,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
print("loss:", model.fit(dataset, epochs=2, verbose=0).history["loss"][-1])
