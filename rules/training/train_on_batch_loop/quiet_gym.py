"""The next batch depends on the last step."""

import gymnasium
import keras

env = gymnasium.make("CartPole-v1")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
model.compile("adam", "mse")
for episode in range(100):
    for step in range(500):
        state, *_ = env.step(0)
        model.train_on_batch(state[None], model.predict_on_batch(state[None]))
