"""tf_keras is Keras 2, where fit() still takes these arguments."""

import numpy as np
import tf_keras as keras


class Rows(keras.utils.Sequence):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return np.zeros((32, 4)), np.zeros((32, 1))


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Rows(), epochs=3, workers=4, use_multiprocessing=True, max_queue_size=20)
print(model.predict(Rows(), workers=2))
