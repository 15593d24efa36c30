"""Nothing is trained here: the model is loaded and applied."""

import keras
import numpy as np

model = keras.models.load_model("model.keras")
print(model.evaluate(np.load("x.npy"), np.load("y.npy")))
print(model.predict(np.load("x.npy")).argmax(axis=-1))
