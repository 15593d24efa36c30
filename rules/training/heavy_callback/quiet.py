"""Checkpoints and summaries that are rare, cheap, asked for, or not counted here."""

import argparse

import tensorflow as tf
from tensorflow.keras.callbacks import BackupAndRestore, ModelCheckpoint, TensorBoard

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
parser.add_argument("--every", type=int, default=1)
args = parser.parse_args()

steps = len(open("train.csv").readlines()) // 32

callbacks = [
    # Once per epoch, which is the default.
    ModelCheckpoint("each.keras"),
    ModelCheckpoint("each.keras", save_freq="epoch"),
    BackupAndRestore("backup"),
    # Every few minutes.
    ModelCheckpoint("often.weights.h5", save_weights_only=True, save_freq=2000),
    BackupAndRestore("backup", save_freq=500),
    # Epochs in batches, and a number from the command line.
    ModelCheckpoint("fifth.keras", save_freq=5 * steps),
    ModelCheckpoint("any.keras", save_freq=args.every),
    # Writes only what is better than all before.
    ModelCheckpoint("best.keras", monitor="loss", save_best_only=True, save_freq=10),
    # Curves per epoch, histograms now and then, a look at ten batches.
    TensorBoard("logs"),
    TensorBoard("logs", histogram_freq=0, write_images=True, update_freq="epoch", profile_batch=0),
    TensorBoard("logs", histogram_freq=25, update_freq=500, profile_batch=(10, 20)),
    TensorBoard("logs", update_freq=args.every, profile_batch="2,4"),
]

if args.debug:
    # Somebody asks for it.
    callbacks.append(TensorBoard("debug", histogram_freq=1, write_images=True, update_freq="batch", profile_batch=(1, 90)))
    callbacks.append(ModelCheckpoint("debug.keras", save_freq=1))


def test_checkpoints_can_be_read(folder):
    # A test wants a file at once.
    model.fit(tf.ones((4, 2)), tf.ones((4, 1)), callbacks=[ModelCheckpoint(folder / "m.keras", save_freq=1)])


class Schedule:
    # Of the same name, in a class of one's own.
    def __init__(self, save_freq):
        self.save_freq = save_freq


Schedule(save_freq=1)

model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.ones((64, 2)), tf.ones((64, 1)), callbacks=callbacks)
