"""Written for a Keras in which TimeDistributed takes all steps at once."""

from keras.layers.core import Dense
from keras.layers.wrappers import TimeDistributed
from keras.models import Sequential

model = Sequential()
model.add(TimeDistributed(Dense(8), input_shape=(50, 4)))
model.compile("sgd", "mse")
