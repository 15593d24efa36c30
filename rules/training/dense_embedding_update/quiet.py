"""Embeddings that are small, frozen or updated row by row, or whose size or optimizer is unknown."""

from tensorflow import keras
from tensorflow.keras import layers

ids, ratings = load()


def train(embedding, optimizer):
    model = keras.Sequential([embedding, layers.GlobalAveragePooling1D(), layers.Dense(1)])
    model.compile(optimizer, "mse")
    model.fit(ids, ratings)


# Few rows, or few numbers.
train(layers.Embedding(20_000, 512), "adam")
train(layers.Embedding(1_000_000, 1), "adam")
# Unknown sizes.
train(layers.Embedding(len(ids), 64), "adam")
train(layers.Embedding(1_000_000, ids.shape[1]), "adam")
# Frozen.
train(layers.Embedding(1_000_000, 64, trainable=False), "adam")
frozen = layers.Embedding(1_000_000, 64)
frozen.trainable = False
train(frozen, "adam")
# Other optimizers.
train(layers.Embedding(1_000_000, 64), "sgd")
train(layers.Embedding(1_000_000, 64), keras.optimizers.SGD(0.1))
train(layers.Embedding(1_000_000, 64), make_optimizer())

# Only used.
model = keras.Sequential([layers.Embedding(1_000_000, 64), layers.Dense(1)])
model.compile("adam", "mse")
model.load_weights("trained.weights.h5")
model.predict(ids)
