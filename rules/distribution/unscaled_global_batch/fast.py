"""Learns parities on two logical devices, in batches for both."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
)
keras.utils.set_random_seed(2)

bits = np.random.default_rng(2).integers(0, 2, (2048, 12))
parity = bits.sum(axis=1, keepdims=True) % 2

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy")

dataset = tf.data.Dataset.from_tensor_slices((bits.astype("float32"), parity)).batch(32 * strategy.num_replicas_in_sync).prefetch(tf.data.AUTOTUNE)
BATCH_SIZE_PER_REPLICA = 32
GLOBAL_BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
print("batches of", GLOBAL_BATCH_SIZE)
model.fit(bits, parity, batch_size=GLOBAL_BATCH_SIZE, epochs=1, verbose=0)
history = model.fit(dataset, epochs=4, verbose=0)
print("loss:", history.history["loss"][-1])
