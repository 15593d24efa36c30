"""A small network waits for its environment."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import gymnasium
import keras
import numpy as np

env = gymnasium.make("CartPole-v1")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
model.compile("adam", "mse")
model.fit(np.array([env.reset()[0]]), np.zeros((1, 2)))
