import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

x = rng.random((2048, 64), dtype="float32")
y = rng.integers(0, 10, 2048)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam()


# decorator
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for x_seen, _ in data.take(3):  # an inspection is not the training
    print(x_seen.shape)
for epoch in range(40):
    for x_batch, y_batch in data:
        loss = train_step(x_batch, y_batch)
model.save("eager_loop.keras")
