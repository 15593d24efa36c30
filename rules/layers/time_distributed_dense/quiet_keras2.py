"""tf.keras 2 folds the time axis into the batch by itself."""

import tf_keras as keras
from tf_keras.layers import Conv2D, Dense, Input, LSTM, TimeDistributed

model = keras.Sequential([Input((20, 4)), LSTM(8, return_sequences=True), TimeDistributed(Dense(3, activation="softmax"))])
film = keras.Sequential([Input((20, 32, 32, 3)), TimeDistributed(Conv2D(8, 3))])
