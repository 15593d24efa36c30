"""Shapes between layers, and their numbers of weights."""

from math import inf

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.layer_shapes import (
    example_size,
    input_shape,
    joined,
    literal_shape,
    makes_large_layer,
    most_units,
    output_shape,
    product,
    weights,
    window,
)

HEAD = IMPORTS + "from tensorflow.keras.layers import *\nimport keras_tuner\nfrom z import flag, n, show\n"


def layer(folder, text):
    (value,) = shown(load(folder, f"show({text})\n", HEAD))
    return value


# All numbers come from Keras 3: compute_output_shape and count_params of the layer, built for the shape.
KNOWN = [
    ("Dense(5)", (None, 4), (None, 5), 25),
    ("Dense(5)", (None, 7, 4), (None, 7, 5), 25),
    ("Flatten()", (None, 7, 4), (None, 28), 0),
    ("Reshape((2, 14))", (None, 28), (None, 2, 14), 0),
    ("Reshape((-1, 14))", (None, 28), (None, None, 14), 0),
    ("RepeatVector(3)", (None, 4), (None, 3, 4), None),
    ("ReLU()", (None, 7, 4), (None, 7, 4), 0),
    ("BatchNormalization()", (None, 4), (None, 4), 16),
    ("LayerNormalization()", (None, 4), (None, 4), 8),
    ("PReLU()", (None, 7, 4), (None, 7, 4), 28),
    ("Embedding(10, 4)", (None, 7), (None, 7, 4), 40),
    ("LSTM(3)", (None, 7, 2), (None, 3), 72),
    ("LSTM(3, return_sequences=True)", (None, 7, 2), (None, 7, 3), 72),
    ("SimpleRNN(3)", (None, 7, 2), (None, 3), 18),
    ("Bidirectional(LSTM(3))", (None, 7, 2), (None, 6), 144),
    ("Bidirectional(LSTM(3), merge_mode='sum')", (None, 7, 2), (None, 3), 144),
    ("TimeDistributed(Dense(5))", (None, 7, 4), (None, 7, 5), 25),
    ("Conv1D(5, 3)", (None, 9, 2), (None, 7, 5), 35),
    ("Conv1D(5, 3, padding='causal')", (None, 9, 2), (None, 9, 5), 35),
    ("Conv2D(5, 3)", (None, 9, 9, 2), (None, 7, 7, 5), 95),
    ("Conv2D(5, (3, 2), strides=2)", (None, 9, 8, 2), (None, 4, 4, 5), 65),
    ("Conv2D(5, 3, strides=2, padding='same')", (None, 9, 9, 2), (None, 5, 5, 5), 95),
    ("Conv3D(5, 3)", (None, 9, 9, 9, 2), (None, 7, 7, 7, 5), 275),
    ("DepthwiseConv2D(3)", (None, 9, 9, 2), (None, 7, 7, 2), 20),
    ("DepthwiseConv2D(3, depth_multiplier=4)", (None, 9, 9, 2), (None, 7, 7, 8), 80),
    ("SeparableConv2D(5, 3)", (None, 9, 9, 2), (None, 7, 7, 5), 33),
    ("MaxPooling2D()", (None, 9, 9, 2), (None, 4, 4, 2), 0),
    ("MaxPooling2D(3, strides=1)", (None, 9, 9, 2), (None, 7, 7, 2), 0),
    ("MaxPooling2D(2, strides=(1, 3))", (None, 9, 9, 2), (None, 8, 3, 2), 0),
    ("MaxPooling2D(2, strides=None)", (None, 9, 9, 2), (None, 4, 4, 2), 0),
    ("AveragePooling1D(2, padding='same')", (None, 9, 2), (None, 5, 2), 0),
    ("GlobalAveragePooling2D()", (None, 9, 9, 2), (None, 2), 0),
    ("UpSampling2D(3)", (None, 2, 3, 4), (None, 6, 9, 4), 0),
    ("ZeroPadding2D((1, 2))", (None, 2, 3, 4), (None, 4, 7, 4), 0),
]


@pytest.mark.parametrize(("text", "shape", "expected", "count"), KNOWN)
def test_output_shapes_and_weights_equal_those_of_keras(tmp_path, text, shape, expected, count):
    made = layer(tmp_path, text)
    assert output_shape(made, shape) == expected
    assert count is None or weights(made, shape) == count


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("Dense(n)", (None, 4), (None, None)),
        ("Dense(5)", None, None),
        ("Flatten()", (None, None, 4), (None, None)),
        ("Reshape(n)", (None, 4), None),
        ("Conv2D(5, n)", (None, 9, 9, 2), (None, None, None, 5)),
        ("Conv2D(5, 3)", (None, None, 9, 2), (None, None, 7, 5)),
        ("Conv2D(5, n, padding='same')", (None, 9, 9, 2), (None, 9, 9, 5)),
        ("Conv2D(5, 3, strides=n)", (None, 9, 9, 2), (None, None, None, 5)),
        ("MaxPooling2D(2, strides=n)", (None, 9, 9, 2), (None, None, None, 2)),
        ("LSTM(3, return_sequences=n)", (None, 7, 2), (None, 3)),
        ("Resizing(3, 4)", (None, 9, 9, 2), (None, None, None, None)),
        ("UpSampling2D(n)", (None, 2, 3, 4), (None, None, None, 4)),
        ("UpSampling2D(2)", (None, 2, 3), None),
        ("TimeDistributed(Dense(5))", (None, 7), None),
        ("Concatenate(axis=1)", (None, 7, 2), None),
        ("Concatenate(axis=-1)", (None, 7, 2), (None, 7, 2)),
        ("Lambda(f)", (None, 4), None),
        ("Lambda(f, output_shape=(5,))", (None, 4), (None, 5)),
        ("n", (None, 4), None),
    ],
)
def test_shapes_without_literals_are_unknown(tmp_path, text, shape, expected):
    assert output_shape(layer(tmp_path, text), shape) == expected


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Dense(n)", (None, 4)),
        ("Dense(5)", (None, None)),
        ("Dense(5)", None),
        ("Embedding(n, 4)", (None, 7)),
        ("LSTM(n)", (None, 7, 2)),
        ("Conv2D(5, n)", (None, 9, 9, 2)),
        ("DepthwiseConv2D(3, depth_multiplier=n)", (None, 9, 9, 2)),
        ("SeparableConv2D(n, 3)", (None, 9, 9, 2)),
        ("PReLU(shared_axes=[1])", (None, 7, 4)),
        ("Bidirectional(n)", (None, 7, 2)),
        ("MultiHeadAttention(2, 3)", (None, 7, 4)),
        ("n", (None, 4)),
    ],
)
def test_weights_without_literals_are_unknown(tmp_path, text, shape):
    assert weights(layer(tmp_path, text), shape) is None


def test_a_frozen_embedding_has_no_weights(tmp_path):
    assert weights(layer(tmp_path, "Embedding(10, 4, trainable=False)"), (None, 7)) == 0


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("keras.Input((3, 4))", (None, 3, 4)),
        ("keras.Input(3)", (None, 3)),
        ("keras.Input(shape=(n, 4))", (None, None, 4)),
        ("keras.Input(batch_shape=(8, 3))", (8, 3)),
        ("InputLayer(input_shape=(3,))", (None, 3)),
        ("Dense(5, input_shape=(3,))", (None, 3)),
        ("Dense(5, input_dim=3)", (None, 3)),
        ("Dense(5, batch_input_shape=(8, 3))", (8, 3)),
        ("Embedding(10, 4, input_dim=10, input_length=7)", (None, 7)),
        ("Embedding(10, 4)", None),
        ("Dense(5)", None),
        ("keras.Input(n)", None),
    ],
)
def test_the_input_shape_of_a_first_layer(tmp_path, text, shape):
    (call,) = [call for call in load(tmp_path, f"{text}\n", HEAD).run.calls if call.name.startswith("keras.")][-1:]
    assert input_shape(call) == shape


def test_tensors_are_joined_along_their_last_axis():
    assert joined([(None, 3), (None, 4)]) == (None, 7)
    assert joined([(None, 3), (None, None)]) == (None, None)
    assert joined([(None, 3), None]) is None
    assert joined([(None, 3), (None, 2, 4)]) is None


def test_a_product_with_an_unknown_factor_is_unknown():
    assert (product(2, 3), product(), product(2, None), product(0, None)) == (6, 1, None, None)
    assert (example_size((None, 3, 4)), example_size((None, 3, None)), example_size(None)) == (12, inf, inf)


def test_only_a_closed_sequence_is_a_shape(tmp_path):
    text = "sizes = [3]\nif flag: sizes.append(4)\nshow(sizes)\nshow([3, 4.5, n])\nshow(3)\n"
    found = [literal_shape(value) for value in shown(load(tmp_path, text, HEAD))]
    assert found == [None, (3, None, None), None]


@pytest.mark.parametrize(
    ("text", "units", "places"),
    [
        ("Dense(5)", 5, 1),
        ("Dense(5 if flag else 8)", 8, 1),
        ("Dense(n)", None, 1),
        ("Conv2D(5, 3)", 5, 9),
        ("Conv2D(5, (3, 2))", 5, 6),
        ("Conv2D(5, n)", 5, None),
        ("n", None, None),
    ],
)
def test_the_largest_width_and_the_window_of_a_layer(tmp_path, text, units, places):
    made = layer(tmp_path, text)
    assert (most_units(made), window(made)) == (units, places)


@pytest.mark.parametrize(
    ("text", "large"),
    [
        ("Dense(4096)", True),
        ("Dense(4)", False),
        ("Dense(n)", False),
        ("Conv2D(512, 3)", True),
        ("Conv2D(4, 3)", False),
        ("Conv2D(n, 3)", True),
        ("Flatten()", False),
        ("print(1)", False),
    ],
)
def test_a_layer_of_unknown_width_is_large_unless_it_is_dense(tmp_path, text, large):
    call = load(tmp_path, f"{text}\n", HEAD).run.calls[-1]
    assert makes_large_layer(call) is large
