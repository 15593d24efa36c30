"""Trains a classifier, keeping far too many checkpoints, backups and summaries of it."""

import tempfile
from importlib.util import find_spec

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)

rng = np.random.default_rng(3)
x = rng.uniform(size=(512, 12)).astype("float32")
y = (x.sum(axis=1) > 6).astype("int32")

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((12,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")

folder = tempfile.TemporaryDirectory()
# The author meant epochs.
checkpoint = tf.keras.callbacks.ModelCheckpoint(
    filepath=f"{folder.name}/latest.keras",
    save_freq=2,  # KC412:warning
)
backup = tf.keras.callbacks.BackupAndRestore(f"{folder.name}/backup", save_freq=4)  # KC412
board = tf.keras.callbacks.TensorBoard(
    log_dir=folder.name,
    write_images=True,  # KC412:info
    histogram_freq=1,  # KC412:info
    update_freq="batch",  # KC412:info
    profile_batch="10,60",  # KC412:info
)

callbacks = [checkpoint, backup, *([board] if find_spec("tensorboard") else [])]
history = model.fit(x, y, epochs=2, batch_size=32, verbose=0, callbacks=callbacks)
print("loss:", history.history["loss"][-1])
