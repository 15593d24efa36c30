"""Reinforcement learning: the environment sets the pace, not the multiplications."""

import gymnasium
import keras
import numpy as np

environment = gymnasium.make("CartPole-v1")
network = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(2048, activation="relu"), keras.layers.Dense(2048, activation="relu"), keras.layers.Dense(2)]
)
network.compile("adam", "huber")
memory = []
for _ in range(500):
    state, _info = environment.reset()
    finished = False
    while not finished:
        action = environment.action_space.sample()
        following, reward, finished, _cut, _info = environment.step(action)
        memory.append((state, action, reward, following))
        state = following
        batch = [memory[i] for i in np.random.randint(len(memory), size=32)]
        states = np.stack([item[0] for item in batch])
        targets = network.predict_on_batch(states)
        targets[np.arange(32), [item[1] for item in batch]] = [item[2] for item in batch]
        network.train_on_batch(states, targets)
