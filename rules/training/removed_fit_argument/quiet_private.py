"""TensorFlow's private copy of Keras 2 keeps these methods and arguments, whatever keras is."""

import numpy as np
from tensorflow.python.keras.layers import Dense
from tensorflow.python.keras.models import Sequential


def batches():
    while True:
        yield np.zeros((32, 4)), np.zeros((32, 1))


model = Sequential([Dense(1, input_shape=(4,))])
model.compile("adam", "mse")
model.fit_generator(batches(), steps_per_epoch=10, epochs=3, workers=4)
print(model.predict(np.zeros((32, 4)), workers=2))
