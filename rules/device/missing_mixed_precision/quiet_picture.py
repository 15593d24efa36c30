"""The gradient changes a picture: no model is trained, and a policy leaves the picture's own type as it is."""

import keras
import numpy as np
import tensorflow as tf

network = keras.applications.VGG19(include_top=False)
picture = tf.Variable(np.load("picture.npy"))
wanted = network(np.load("painting.npy"))
optimizer = keras.optimizers.Adam(0.02)
for _ in range(1000):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(picture) - wanted))
    optimizer.apply_gradients([(tape.gradient(loss, picture), picture)])
