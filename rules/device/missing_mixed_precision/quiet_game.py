"""An agent plays a game of the program's own: the game sets the pace, not the multiplications."""

import keras
import numpy as np

from game import Board

network = keras.Sequential(
    [
        keras.Input((84, 84, 4)),
        keras.layers.Conv2D(64, 8, strides=4, activation="relu"),
        keras.layers.Conv2D(64, 4, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(512, activation="relu"),
        keras.layers.Dense(9),
    ]
)
network.compile("adam", "huber")
board, replay_buffer = Board(), []
for _ in range(10_000):
    replay_buffer.append(board.play(np.argmax(network(board.seen()[None])[0])))
    chosen = [replay_buffer[i] for i in np.random.randint(len(replay_buffer), size=32)]
    network.train_on_batch(np.stack([seen for seen, _ in chosen]), np.stack([worth for _, worth in chosen]))
