"""Recurrent layers that cuDNN runs, or of which the file does not tell."""

import argparse

import keras
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--activation", default="tanh")
parser.add_argument("--recurrent-dropout", type=float, default=0.0)
parser.add_argument("--unroll", action="store_true")
args = parser.parse_args()

act = args.activation
inputs = keras.Input((None, 16))

# The defaults are what cuDNN asks for.
x = layers.LSTM(64, return_sequences=True)(inputs)
x = layers.GRU(64, return_sequences=True)(x)

# The same values, written out, as names or as functions.
x = layers.LSTM(64, activation="tanh", recurrent_activation="sigmoid", return_sequences=True)(x)
x = layers.GRU(64, activation=keras.activations.tanh, reset_after=True, return_sequences=True)(x)
x = layers.LSTM(64, unroll=False, use_bias=True, recurrent_dropout=0.0, use_cudnn="auto", return_sequences=True)(x)
x = layers.LSTM(64, use_cudnn=True, return_sequences=True)(x)

# Dropout of the inputs, masks, state and direction are no obstacle of their own.
x = layers.LSTM(64, dropout=0.3, return_sequences=True, return_state=False, go_backwards=True)(x)
x = layers.Bidirectional(layers.LSTM(64, return_sequences=True))(x)

# Values that are known when the program runs only.
x = layers.LSTM(64, activation=act, return_sequences=True)(x)
x = layers.LSTM(64, recurrent_dropout=args.recurrent_dropout, return_sequences=True)(x)
x = layers.GRU(64, unroll=args.unroll, return_sequences=True)(x)


def encoder(units, activation="relu", **options):
    # A parameter: the default is not what every caller gives.
    return keras.Sequential([layers.LSTM(units, activation=activation), layers.GRU(units, **options)])


# SimpleRNN and convolutional LSTM have no cuDNN kernel under any arguments.
x = layers.SimpleRNN(64, activation="relu", return_sequences=True)(x)
frames = layers.ConvLSTM2D(8, 3, activation="relu", recurrent_dropout=0.2)


class ClippedCell(layers.Layer):
    """A cell of one's own."""

    def __init__(self, units):
        super().__init__()
        self.units = self.state_size = units
        self.mix = layers.Dense(units)

    def call(self, inputs, states):
        output = keras.ops.clip(self.mix(keras.ops.concatenate([inputs, states[0]], axis=-1)), -1.0, 1.0)
        return output, [output]


# RNN is the only way to run an own cell, or cells stacked within one time step.
x = layers.RNN(ClippedCell(64), return_sequences=True)(x)
x = layers.RNN([layers.LSTMCell(64), layers.LSTMCell(32)], return_sequences=True)(x)

# RNN over a cell that is no stock LSTM or GRU cell.
x = layers.RNN(layers.SimpleRNNCell(32))(x)

# A cell called by hand, one step at a time.
cell = layers.LSTMCell(32)
h, state = cell(x, [x, x])

# A cell that also runs step by step, as in a decoder, shares its weights with the RNN.
shared = layers.LSTMCell(32)
_, *states = layers.RNN(shared, return_state=True)(inputs)
word, states = shared(inputs[:, -1], states)

model = keras.Model(inputs, layers.Dense(1)(x))
