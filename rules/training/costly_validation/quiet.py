"""Validations that are smaller, limited or of unknown size, and evaluations that tell something new."""

import keras
import numpy as np
import tensorflow as tf
from project import config, files

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_file, y_file = np.load("x.npy"), np.load("y.npy")
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("adam", "sparse_categorical_crossentropy")


def smaller():
    model.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=5)
    model.fit(train, validation_data=test, epochs=5)
    model.fit(x_train[:10_000], validation_data=(x_test, y_test), epochs=5)


def limited():
    model.fit(x_test, y_test, validation_data=(x_train, y_train), validation_freq=10, epochs=50)
    model.fit(test, validation_data=train, validation_steps=5, epochs=5)
    model.fit(test, validation_data=train, validation_steps=config.steps, epochs=5)
    model.fit(test.repeat(), validation_data=train, steps_per_epoch=5000, epochs=5)
    model.fit(test, validation_data=train.take(100), epochs=5)
    model.fit(test.repeat(20), validation_data=train, epochs=5)


def unknown():
    # A slice may be shorter than it says.
    model.fit(x_test[:1000], y_test[:1000], validation_data=(x_file[:5000], y_file[:5000]), epochs=5)
    model.fit(x_file, y_file, validation_data=(x_train, y_train), epochs=5)
    model.fit(test, validation_data=train.unbatch().filter(lambda x, y: y == 3).batch(32), epochs=5)
    model.fit(test, validation_data=config.data, epochs=5)


def with_an_end():
    model.fit(train, validation_data=test.repeat(), validation_steps=100, epochs=5)
    model.evaluate(test.repeat(), steps=100)
    model.evaluate(test.repeat(2))
    model.evaluate(test.repeat().take(100))
    model.evaluate(test.repeat(config.times))


def perhaps_with_an_end(data):
    if config.repeats:
        data = data.repeat()
    model.evaluate(data)
    chosen = test.repeat() if config.repeats else test
    model.evaluate(chosen)


def other_data_after_each_epoch():
    for _ in range(20):
        model.fit(train, epochs=1)
        model.evaluate(test)


def training_data_now_and_then():
    for epoch in range(20):
        model.fit(train, epochs=1)
        if epoch % 5 == 0:
            model.evaluate(train)


def training_data_after_many_epochs():
    for rate in (0.1, 0.01, 0.001):
        model.optimizer.learning_rate = rate
        model.fit(train, epochs=10)
        model.evaluate(train)


def training_data_in_the_end():
    for _ in range(20):
        model.fit(train, epochs=1)
    model.evaluate(train)


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (224, 224)), 0.0


def shuffled_for_little():
    paths = tf.data.Dataset.from_tensor_slices(files)
    model.fit(train, validation_data=paths.shuffle(5000).map(decode).batch(32))
    model.fit(train, validation_data=paths.map(decode).shuffle(100).batch(32))
    shown = paths.map(decode).shuffle(5000).batch(32)
    model.fit(train, validation_data=shown)
    for images, labels in shown.take(1):
        print(images, labels)
