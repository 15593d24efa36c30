"""Output shapes and weight counts of layers, from literals.

A shape is a tuple of sizes, batch first. Unknown sizes are None, and so is a shape of unknown rank.
Source: ``compute_output_shape`` and ``build`` of the layers in keras/src/layers (3.15).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf, prod

from kerascheck.interpreter.values import Call, Constant, ExternalInstance, SequenceValue, Value, constant, largest
from kerascheck.knowledge.classes import INPUT
from kerascheck.knowledge.layers import (
    BIDIRECTIONAL,
    CONCATENATE,
    CONVOLUTIONS,
    DENSE,
    DEPTHWISE_CONV_2D,
    EMBEDDING,
    FLATTEN,
    INPUT_LAYER,
    KNOWN_LAYERS,
    LAMBDA,
    PRELU,
    RECURRENT,
    REPEAT_VECTOR,
    RESHAPE,
    RESIZING,
    SEPARABLE_CONV_2D,
    TIME_DISTRIBUTED,
    UP_SAMPLING_2D,
    WEIGHTLESS,
    ZERO_PADDING_2D,
    Work,
    layers_where,
)

Shape = tuple[int | None, ...] | None

_UNCHANGED = layers_where(lambda layer: layer.keeps_shape)
_SLIDING = layers_where(lambda layer: layer.work is Work.POOLS and layer.axes < 3 and "Adaptive" not in layer.name)
_POOLS_ALL = layers_where(lambda layer: layer.work is Work.POOLS_ALL)
# Depthwise convolutions, which process each channel separately.
_PER_CHANNEL_CONVOLUTIONS = frozenset({DEPTHWISE_CONV_2D, SEPARABLE_CONV_2D})


def literal_shape(value: Value | None) -> Shape:
    """The sizes in a tuple or list; None for sizes that are not literals."""
    if not isinstance(value, SequenceValue) or value.open:
        return None
    return tuple(constant(item) if isinstance(constant(item), int) else None for item in value.items)


def input_shape(call: Call) -> Shape:
    """The shape given to ``keras.Input``, ``InputLayer`` or the first layer of a Sequential."""
    if call.name in (INPUT, INPUT_LAYER):
        given = call.given("shape") or call.keyword("input_shape")
        # Parentheses alone do not make a tuple; Keras 2 accepts the number.
        shape = (constant(given),) if type(constant(given)) is int else literal_shape(given)
    else:
        shape = literal_shape(call.keyword("input_shape"))
    if shape is None:
        width = call.keyword("input_dim")
        if call.name == EMBEDDING:
            # The table length of an Embedding is not its width; Keras 2 takes the input length separately.
            length = _number(call, "input_length")
            shape = None if length is None else (length,)
        elif width is not None:
            shape = (constant(width) if isinstance(constant(width), int) else None,)
    if shape is not None:
        return (None, *shape)
    return literal_shape(call.keyword("batch_shape") or call.keyword("batch_input_shape"))


def example_size(shape: Shape) -> float:
    """The number of values in one example of a shape; infinite if unknown."""
    size = product(*shape[1:]) if shape else None
    return inf if size is None else size


def joined(each: list[Shape]) -> Shape:
    """The shape of several tensors concatenated along their last axis."""
    known = [shape for shape in each if shape is not None]
    if len(known) < len(each) or any(len(shape) != len(known[0]) for shape in known):
        return None
    widths = [shape[-1] for shape in known if shape[-1] is not None]
    return (*known[0][:-1], sum(widths) if len(widths) == len(known) else None)


def output_shape(layer: Value, shape: Shape) -> Shape:
    """The output shape of a Keras layer for an input shape.

    For several inputs, pass the result of :func:`joined`.
    """
    if not isinstance(layer, ExternalInstance) or layer.call is None:
        return None
    name, call = layer.name, layer.call
    if name in _UNCHANGED:
        return shape
    if name == LAMBDA:
        output = literal_shape(call.given("output_shape"))
        return output and (None, *output)
    if name == REPEAT_VECTOR:
        # The layer accepts only rows of vectors.
        return (shape[0] if shape else None, _number(call, "n"), shape[-1] if shape else None)
    if shape is None:
        return None
    for names, compute in _OUTPUTS:
        if name in names:
            return compute(name, call, shape)
    return None


def _of_concatenate(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    return shape if call.given("axis") is None or constant(call.given("axis")) == -1 else None


def _of_flatten(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    return (shape[0], product(*shape[1:]))


def _of_reshape(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    target = literal_shape(call.given("target_shape"))
    return None if target is None else (shape[0], *(None if size == -1 else size for size in target))


def _of_time_distributed(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    layer = call.given("layer") or Constant(None)
    inner = output_shape(layer, (shape[0], *shape[2:])) if len(shape) > 2 else None
    return inner and (inner[0], shape[1], *inner[1:])


def _of_bidirectional(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    inner = output_shape(call.given("layer") or Constant(None), shape)
    joined = constant(call.given("merge_mode") or Constant("concat")) == "concat"
    return inner and (*inner[:-1], product(inner[-1], 2) if joined else inner[-1])


def _of_recurrent(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    units = _number(call, "units")
    return (*shape[:2], units) if constant(call.given("return_sequences")) is True else (shape[0], units)


def _of_per_channel(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    kernel, strides = _sizes(call, "kernel_size", 2), _sizes(call, "strides", 2, 1)
    same = constant(call.given("padding")) == "same"
    places = _slid(shape[1:-1], kernel, strides, same) if len(shape) == 4 else (None, None)
    depth = product(shape[-1], _depth_multiplier(call))
    return (shape[0], *places, depth if name == DEPTHWISE_CONV_2D else _number(call, "filters"))


def _of_convolution(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    axes = len(shape) - 2
    same = constant(call.given("padding")) in ("same", "causal")
    kernel, strides = _sizes(call, "kernel_size", axes), _sizes(call, "strides", axes, 1)
    return (shape[0], *_slid(shape[1:-1], kernel, strides, same), _number(call, "filters"))


def _of_pooling(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    axes = len(shape) - 2
    window = strides = _sizes(call, "pool_size", axes, 2)
    given = call.given("strides")
    if given is not None and given != Constant(None):
        strides = _sizes(call, "strides", axes, None)
    same = constant(call.given("padding")) == "same"
    return (shape[0], *_slid(shape[1:-1], window, strides, same), shape[-1])


def _of_resized(name: str, call: Call, shape: tuple[int | None, ...]) -> Shape:
    if len(shape) != 4:
        return None
    factors = _sizes(call, "size", 2, 2) if name == UP_SAMPLING_2D else (1, 1)
    added = _sizes(call, "padding", 2, 1) if name == ZERO_PADDING_2D else (0, 0)
    sizes = zip(shape[1:3], factors, added)
    places = (
        None if size is None or factor is None or each is None else size * factor + 2 * each
        for size, factor, each in sizes
    )
    return (shape[0], *places, shape[3])


# The first matching attribute decides.
_OUTPUTS: tuple[tuple[Collection[str], Callable[[str, Call, tuple[int | None, ...]], Shape]], ...] = (
    ({DENSE}, lambda name, call, shape: (*shape[:-1], _number(call, "units"))),
    ({CONCATENATE}, _of_concatenate),
    ({FLATTEN}, _of_flatten),
    ({EMBEDDING}, lambda name, call, shape: (*shape, _number(call, "output_dim"))),
    ({RESHAPE}, _of_reshape),
    ({TIME_DISTRIBUTED}, _of_time_distributed),
    ({BIDIRECTIONAL}, _of_bidirectional),
    (RECURRENT, _of_recurrent),
    (_POOLS_ALL, lambda name, call, shape: (shape[0], shape[-1])),
    (_PER_CHANNEL_CONVOLUTIONS, _of_per_channel),
    (CONVOLUTIONS, _of_convolution),
    (_SLIDING, _of_pooling),
    ({UP_SAMPLING_2D, ZERO_PADDING_2D}, _of_resized),
    ({RESIZING}, lambda name, call, shape: (None,) * len(shape)),
)


def most_units(layer: Value) -> int | None:
    """Upper bound on the units of a dense layer or the filters of a convolution; None if unknown."""
    if not isinstance(layer, ExternalInstance) or layer.call is None:
        return None
    return largest(layer.call.given("filters" if layer.name in CONVOLUTIONS else "units"))


def makes_large_layer(call: Call) -> bool:
    """Whether a layer does enough work for 16-bit arithmetic to matter: it is wide, or of unknown width.

    Dense layers of unknown width do not count, because their number of outputs is often the number of classes, which
    depends on the data.
    """
    layer = KNOWN_LAYERS.get(call.name or "")
    if layer is None or layer.worth_half is None:
        return False
    width = product(*(largest(call.given(parameter)) for parameter in layer.width))
    return layer.name != DENSE if width is None else width >= layer.worth_half


def window(layer: Value) -> int | None:
    """The kernel size of a convolution in positions; one for a dense layer; None if unknown."""
    if not isinstance(layer, ExternalInstance) or layer.call is None:
        return None
    axes = CONVOLUTIONS.get(layer.name)
    return 1 if axes is None else product(*_sizes(layer.call, "kernel_size", axes))


def weights(layer: Value, shape: Shape) -> int | None:
    """The number of weights of a layer for an input shape; None if unknown.

    A frozen Embedding counts as zero: a step looks up some of its rows, and takes as long for 2,000 rows as for 200,000
    (8 ms with an LSTM of 64 units over 50 steps behind it; TensorFlow 2.21, 2 CPU cores).
    """
    if not isinstance(layer, ExternalInstance) or layer.call is None:
        return None
    name, call = layer.name, layer.call
    if name in WEIGHTLESS:
        return 0
    if name == EMBEDDING:
        trainable = layer.attributes.get("trainable") or call.given("trainable")
        return 0 if constant(trainable) is False else product(_number(call, "input_dim"), _number(call, "output_dim"))
    if name == TIME_DISTRIBUTED and shape is not None and len(shape) > 2:
        return weights(call.given("layer") or Constant(None), (shape[0], *shape[2:]))
    if name == BIDIRECTIONAL:
        return product(2, weights(call.given("layer") or Constant(None), shape))
    if not shape or (width := shape[-1]) is None:
        return None
    if name == DENSE:
        return product(width + 1, _number(call, "units"))
    known = KNOWN_LAYERS.get(name)
    if known is not None and known.per_channel:
        return known.per_channel * width
    if name == PRELU:
        return None if call.given("shared_axes") is not None else product(*shape[1:])
    if known is not None and known.gates:
        units = _number(call, "units")
        return None if units is None else known.gates * units * (width + units + 1)
    if name in _PER_CHANNEL_CONVOLUTIONS:
        kernel, depth = product(*_sizes(call, "kernel_size", 2)), product(width, _depth_multiplier(call))
        if kernel is None or depth is None:
            return None
        if name == DEPTHWISE_CONV_2D:
            return (kernel + 1) * depth
        filters = _number(call, "filters")
        return None if filters is None else kernel * depth + (depth + 1) * filters
    if name in CONVOLUTIONS:
        places, filters = window(layer), _number(call, "filters")
        return None if places is None or filters is None else filters * (places * width + 1)
    return None


def _depth_multiplier(call: Call) -> int | None:
    return 1 if call.given("depth_multiplier") is None else _number(call, "depth_multiplier")


def _number(call: Call, parameter: str) -> int | None:
    value = constant(call.given(parameter))
    return value if type(value) is int else None


def _sizes(call: Call, parameter: str, rank: int, default: int | None = None) -> tuple[int | None, ...]:
    """A setting for each axis, from one number for all axes or one number each."""
    value = call.given(parameter)
    each = literal_shape(value)
    if each is not None and len(each) == rank:
        return each
    number = default if value is None else constant(value)
    return (number if type(number) is int else None,) * rank


def _slid(
    sizes: tuple[int | None, ...], window: tuple[int | None, ...], strides: tuple[int | None, ...], same: bool
) -> tuple[int | None, ...]:
    """The number of positions of a sliding window along each axis."""
    found: list[int | None] = []
    for size, width, stride in zip(sizes, window, strides):
        if size is None or not stride:
            found.append(None)
        elif same:
            found.append(-(-size // stride))
        else:
            found.append(None if width is None else max(0, (size - width) // stride + 1))
    return tuple(found)


def product(*numbers: int | None) -> int | None:
    """The product of sizes; None if one is unknown."""
    known = [number for number in numbers if number is not None]
    return prod(known) if len(known) == len(numbers) else None
