"""Names, arguments and paths of Keras 3."""

import keras
import numpy as np

table, target = np.zeros((512, 8), "float32"), np.zeros((512, 1), "float32")


class Halve(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.optimizer.learning_rate = 0.5 ** (epoch + 2)


class Settings:
    lr = 0.1


settings = Settings()
settings.lr = 0.2
schedule = keras.optimizers.schedules.InverseTimeDecay(settings.lr, 1, 0.01)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(learning_rate=schedule), "mse")
best = keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)
weights = keras.callbacks.ModelCheckpoint("w{epoch}.weights.h5", save_weights_only=True)
model.fit(table, target, epochs=2, callbacks=[Halve(), best, weights])
model.save_weights("last.weights.h5")
model.save("last.keras")
