"""Datasets without a prefetch in sight that need none."""

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
import torch.utils.data
from tensorflow import keras

from project import input_pipeline

rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8)).astype("float32")
targets = rng.integers(0, 2, size=64)

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def scale(values, label):
    return values / 10.0, label


source = tf.data.Dataset.from_tensor_slices((inputs, targets))


# --- There is one ------------------------------------------------------------------------------


def prefetched():
    # Any buffer will do: one batch ahead is enough for a steady pipeline.
    model.fit(source.batch(8).prefetch(1))
    model.fit(source.batch(8).prefetch(tf.data.AUTOTUNE))
    model.fit(source.batch(8).prefetch(buffer_size=tf.data.experimental.AUTOTUNE))


def finish(dataset):
    return dataset.batch(8).prefetch(2)


def prefetched_in_a_helper():
    # The helper prefetches.
    model.fit(finish(source.shuffle(64)))


def prefetched_on_the_device():
    # These operations hold batches ready by themselves.
    model.fit(source.batch(8).apply(tf.data.experimental.prefetch_to_device("/gpu:0")))


def runs_ahead():
    # Parallel maps and parallel interleaves have a buffer of their own.
    model.fit(source.batch(8).map(scale, num_parallel_calls=tf.data.AUTOTUNE))
    files = tf.data.Dataset.list_files("data/*.tfrecord")
    records = files.interleave(
        lambda path: tf.data.TFRecordDataset(path).batch(8), cycle_length=4, num_parallel_calls=4
    )
    model.fit(records)


def repeated():
    # Nothing is computed behind the prefetch.
    model.fit(source.batch(8).prefetch(1).repeat(), steps_per_epoch=8)
    # Nor behind a batch that a parallel map prepares.
    model.fit(source.map(scale, num_parallel_calls=4).batch(8).repeat(2))


def batches_in_parallel():
    # A batch with parallel calls runs ahead, and so does one right behind a parallel map.
    model.fit(source.batch(8, num_parallel_calls=tf.data.AUTOTUNE))
    model.fit(source.map(scale, num_parallel_calls=4).batch(8))


# --- The source does it ------------------------------------------------------------------------


def keras_utilities():
    # They prefetch (or their last batch is repaired by the runtime) and are not the user's chain.
    model.fit(keras.utils.image_dataset_from_directory("photos", batch_size=8))
    model.fit(keras.utils.text_dataset_from_directory("reviews"))
    model.fit(keras.utils.timeseries_dataset_from_array(inputs, targets, sequence_length=4))
    left, right = keras.utils.split_dataset((inputs, targets), left_size=0.8)
    model.fit(left)


def csv_and_catalogue():
    # make_csv_dataset and tfds.load end in a prefetch.
    model.fit(tf.data.experimental.make_csv_dataset("table.csv", batch_size=8, label_name="y"))
    model.fit(tfds.load("mnist", split="train", as_supervised=True, batch_size=8))


def arrays():
    # fit builds and prefetches its own pipeline.
    model.fit(inputs, targets, batch_size=8)


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # One pass; the step is short.
    model.fit(train, validation_data=source.batch(8))
    model.evaluate(source.batch(8))
    model.predict(source.batch(8))


def statistics():
    # adapt() reads once, before training.
    normalization = keras.layers.Normalization()
    normalization.adapt(source.map(lambda values, label: values).batch(8))


def inspection():
    # A look at a few batches.
    for values, label in source.batch(8).take(3):
        print(values.shape, label)
    print(next(iter(source.batch(8))))


@tf.function
def count(dataset):
    # A compiled loop that reduces the dataset; nothing is trained.
    total = tf.constant(0)
    for values, label in dataset:
        total += tf.shape(values)[0]
    return total


print(count(source.batch(8)))


def few():
    # A handful of elements, to overfit on.
    model.fit(source.take(16).batch(8))


# --- Unknown, or not tf.data -------------------------------------------------------------------


def unknown(dataset):
    # What input_pipeline returns, and what the caller passes, may prefetch already.
    model.fit(input_pipeline("train"))
    model.fit(dataset)


def returned():
    # Who calls this may prefetch.
    return source.batch(8)


def other_loaders(chunks):
    # A PyTorch loader has workers of its own; a list of arrays has nothing to prefetch.
    model.fit(torch.utils.data.DataLoader(chunks, batch_size=8))
    for values, label in chunks:
        model.train_on_batch(values, label)
