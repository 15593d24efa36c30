"""Watch the rate of wrong characters of a reader while it trains."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
strips = rng.normal(size=(96, 60, 16)).astype("float32")
texts = rng.integers(0, 40, size=(96, 6)).astype("int32")


def error_rate(texts, probabilities):
    lengths = tf.fill([tf.shape(probabilities)[0]], tf.shape(probabilities)[1])
    found, _ = tf.nn.ctc_greedy_decoder(tf.math.log(tf.transpose(probabilities, (1, 0, 2)) + 1e-7), lengths)
    return tf.edit_distance(found[0], tf.sparse.from_dense(tf.cast(texts, tf.int64)))


class ErrorRate(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        strips, texts = held_out
        logs["val_error_rate"] = float(tf.reduce_mean(error_rate(texts, self.model.predict_on_batch(strips))))


def ctc_loss(texts, probabilities):
    labels = tf.fill([tf.shape(texts)[0]], 6)
    steps = tf.fill([tf.shape(texts)[0]], 60)
    logits = tf.math.log(probabilities + 1e-7)
    return tf.nn.ctc_loss(tf.cast(texts, tf.int32), logits, labels, steps, logits_time_major=False, blank_index=-1)


model = keras.Sequential(
    [
        keras.Input((60, 16)),
        layers.Conv1D(24, 5, padding="same", activation="relu"),
        layers.Dense(41, activation="softmax"),
    ]
)
model.compile("adam", ctc_loss)
train = tf.data.Dataset.from_tensor_slices((strips[:64], texts[:64])).batch(16).prefetch(1)
held_out = strips[64:], texts[64:]
history = model.fit(train, validation_data=held_out, epochs=20, callbacks=[ErrorRate()], verbose=0)
print("loss:", history.history["loss"][-1])
