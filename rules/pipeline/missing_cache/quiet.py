"""Maps that a cache would not serve, or that nobody repeats."""

import keras
import tensorflow as tf
from keras import layers
from project import config, make, transform

paths = [f"images/{number}.jpg" for number in range(100)]
labels = [number % 2 for number in range(100)]
source = tf.data.Dataset.from_tensor_slices((paths, labels))
files = tf.data.Dataset.from_tensor_slices(paths)

model = keras.Sequential([layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (64, 64)), label


# --- Kept already ------------------------------------------------------------------------------


def kept():
    model.fit(source.map(load).cache().shuffle(100).batch(8), epochs=5)


def kept_as_a_snapshot():
    model.fit(source.map(load).snapshot("/tmp/snapshot").batch(8), epochs=5)


def bytes_are_kept():
    # The files fit in memory and the images do not.
    encoded = source.map(lambda path, label: (tf.io.read_file(path), label)).cache()
    model.fit(encoded.map(lambda data, label: (tf.io.decode_png(data), label)).batch(8), epochs=5)


def kept_by_a_helper():
    model.fit(transform(source.map(load)).batch(8), epochs=5)
    model.fit(source.map(load).apply(transform).batch(8), epochs=5)


# --- One pass ----------------------------------------------------------------------------------


def one_epoch():
    model.fit(files.map(tf.io.read_file).batch(8))
    model.fit(files.map(tf.io.read_file).batch(8), epochs=1)


def unknown_number_of_epochs():
    model.fit(files.map(tf.io.read_file).batch(8), epochs=config.epochs)


def a_stream():
    # One pass over very many files, cut into five parts.
    model.fit(files.map(tf.io.read_file).batch(8), epochs=5, steps_per_epoch=2)


def continued():
    model.fit(files.map(tf.io.read_file).batch(8), epochs=5, initial_epoch=4)


def other_data_each_time():
    for number in range(5):
        part = tf.data.Dataset.list_files(f"part{number}/*.jpg").map(lambda path: load(path, 0))
        model.fit(part.batch(8), epochs=1)


def steps_of_one_iterator():
    iterator = iter(files.map(tf.io.read_file).batch(8))
    for _ in range(1000):
        model.train_on_batch(*next(iterator))


# --- Not the same in each epoch ----------------------------------------------------------------


def augmented(path, label):
    image, label = load(path, label)
    return tf.image.random_flip_left_right(image), label


def scaled(path, label):
    image, label = load(path, label)
    return layers.RandomRotation(0.1)(image), label


def by_python(path, label):
    image = tf.numpy_function(transform, [tf.io.read_file(path)], tf.float32)
    return image, label


def by_a_helper(path, label):
    image, label = load(path, label)
    return transform(image), label


def one_of_several(paths, label):
    return tf.random.shuffle(tf.strings.split(paths, ","))[0], label


def shards(path, label):
    return tf.data.Dataset.from_tensors((path, label)).map(load).map(augmented_image)


def augmented_image(image, label):
    return tf.image.random_brightness(image, 0.1), label


def shuffled_shards(path, label):
    picked = tf.random.shuffle(tf.strings.split(path, ","))
    return tf.data.Dataset.from_tensor_slices((picked, tf.repeat(label, 2))).map(load)


def random_before():
    # Which files are read is drawn before.
    model.fit(source.map(one_of_several).map(load).batch(8), epochs=5)
    model.fit(source.map(transform).map(load).batch(8), epochs=5)
    # The function that makes the inner datasets draws, too.
    model.fit(source.flat_map(shards).batch(8), epochs=5)
    model.fit(source.interleave(shuffled_shards).batch(8), epochs=5)


def random_results():
    model.fit(source.map(augmented).batch(8), epochs=5)
    model.fit(source.map(scaled).batch(8), epochs=5)
    model.fit(source.map(by_python).batch(8), epochs=5)
    model.fit(source.map(by_a_helper).batch(8), epochs=5)


# --- Repeated before, or from somewhere else -----------------------------------------------------------


def repeated_first():
    # A cache would keep everything three times, and nothing at all behind an endless repeat.
    model.fit(files.repeat(3).map(tf.io.read_file).batch(8), epochs=5)
    model.fit(files.repeat().map(tf.io.read_file).batch(8), epochs=5, steps_per_epoch=10)


def from_elsewhere(dataset: tf.data.Dataset):
    # It may be repeated already, or read from a cache.
    model.fit(dataset.map(tf.io.read_file).batch(8), epochs=5)
    model.fit(make().map(tf.io.read_file).batch(8), epochs=5)


# --- Not on the way to training, or nothing to save --------------------------------------------


def held_out(data):
    model.fit(data, validation_data=source.map(load).batch(8), epochs=5)
    for _ in range(5):
        model.evaluate(source.map(load).batch(8))


def a_handful():
    model.fit(source.take(16).map(load).batch(8), epochs=5)


def cheap():
    model.fit(source.map(lambda path, label: (tf.strings.length(path), label)).batch(8), epochs=5)
