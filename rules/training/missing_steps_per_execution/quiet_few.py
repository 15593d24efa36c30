"""Data of so few examples that an epoch is one step."""

import numpy as np
import tensorflow as tf

celsius = np.array([-40, -10, 0, 8, 15, 22, 38], dtype=float)
fahrenheit = celsius * 1.8 + 32
noise = np.random.normal(size=(7,))

model = tf.keras.Sequential([tf.keras.layers.Dense(units=4, input_shape=[1]), tf.keras.layers.Dense(units=1)])
model.compile(loss="mean_squared_error", optimizer=tf.keras.optimizers.Adam(0.1))
history = model.fit(celsius, fahrenheit + noise, epochs=500, verbose=False)

# Read when all is over.
table = np.load("table.npy")
