"""An agent that learns from each move it makes, and needs a number for the next."""

import gymnasium
import tensorflow as tf
from tensorflow import keras

env = gymnasium.make("Pendulum-v1")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


def learn(state):
    with tf.GradientTape() as tape:
        action = model(state[None])
        loss = tf.reduce_mean(tf.square(action))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return action


for episode in range(100):
    state, _ = env.reset()
    done = False
    while not done:
        state, reward, over, cut, _ = env.step([float(learn(state)[0, 0])])
        done = over or cut
