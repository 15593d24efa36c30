"""In tf.keras 2 a model whose optimizer wraps its own."""

import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.mixed_precision.set_global_policy("mixed_float16")
x = np.load("x.npy")

optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD())
model = keras.Sequential([keras.layers.Dense(1)])
for _ in range(1000):
    with tf.GradientTape() as tape:
        loss = optimizer.get_scaled_loss(tf.reduce_mean(model(x) ** 2))
    gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, model.trainable_variables))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
