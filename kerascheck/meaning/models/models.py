"""Keras models of a program: layers in order, sizes, and uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf

import libcst as cst

from kerascheck.interpreter import layer_shapes as shapes
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.layer_shapes import Shape
from kerascheck.interpreter.values import Call, ExternalInstance, Instance, ModuleLike, SequenceValue, Value, options_of
from kerascheck.knowledge.classes import APPLICATIONS, LAYER_INIT, MODEL, SEQUENTIAL
from kerascheck.knowledge.layers import (
    CONCATENATE,
    CONVOLUTIONS,
    DENSE,
    FLATTEN,
    OF_COLUMNS,
    PACKAGE,
    WEIGHTLESS,
    layers_where,
)
from kerascheck.knowledge.namespaces import OF_KERAS_APPLICATIONS

_PER_CHANNEL = layers_where(lambda layer: layer.per_channel > 0)
UNKNOWN_WIDTH = 784
"""Assumed number of columns of a table, or units of a layer, if unknown.

Few tables for dense layers are wider than an MNIST image, 784.
"""


_CONTAINERS = frozenset({SEQUENTIAL, MODEL})
_WIDTHS = frozenset({DENSE, *CONVOLUTIONS})


@dataclass(eq=False, slots=True)
class Layer:
    """A layer at its position in a model.

    Attributes:
        value: the layer: an ExternalInstance of ``keras.layers.X``, an Instance of a project class, or a model.
        made: its constructor call, if visible.
        certain: whether the model has it unconditionally.
        shape: its input shape, by literals; see :mod:`kerascheck.interpreter.layer_shapes`.
        times: the maximum number of layers that its loops construct; None if unknown.
    """

    value: Value
    made: Call | None
    certain: bool
    shape: Shape = None
    times: int | None = 1

    @property
    def name(self) -> str | None:
        """The canonical name of a Keras layer; None for a project layer."""
        return self.value.name if isinstance(self.value, ExternalInstance) else None


@dataclass(eq=False, slots=True)
class Model:
    """A model that the program builds.

    Attributes:
        module, node: its constructor call.
        value: the value of a variable that holds the model.
        layers: its layers in order, including those inside nested models, wrappers and project layers.
        closed: whether all weights are visible; the code of its own layers may do more than call layers.
        repeated: whether a loop may add a layer more often than listed.
        outputs: the layers that return the model's outputs; None if one is unknown.
        inputs: the shape of each input, if known.
        parameters: the number of weights, without frozen embeddings; None if unknown.
        compiles, fits: the calls of its ``compile``, and of ``fit`` and ``fit_generator``.
    """

    module: ModuleLike
    call: Call
    value: Value
    kind: str
    """"sequential", "functional" or "subclassed"."""
    layers: list[Layer] = field(default_factory=list)
    closed: bool = True
    repeated: bool = False
    outputs: list[Layer] | None = None
    inputs: list[Shape] = field(default_factory=list)
    parameters: int | None = None
    compiles: list[Call] = field(default_factory=list)
    fits: list[Call] = field(default_factory=list)

    @property
    def node(self) -> cst.CSTNode:
        return self.call.node

    @property
    def complete(self) -> bool:
        """Whether all layers are visible, and none is project code, which is never fully known."""
        return (
            self.closed
            and self.kind != "subclassed"
            and not any(isinstance(layer.value, Instance) for layer in self.layers)
        )

    @property
    def is_trained(self) -> bool:
        """Whether the program trains it with ``fit``, or a function compiles it with a loss.

        A model that is compiled outside of functions and never fitted is meant for evaluation and export.
        """
        return bool(self.fits) or any(
            call.given("loss") is not None and call.path.frame.function is not None for call in self.compiles
        )

    @property
    def largest_input(self) -> float:
        """Number of values in an example of its largest input; infinite if unknown."""
        return max(map(shapes.example_size, self.inputs), default=inf)

    @property
    def most_parameters(self) -> int | None:
        """The number of weights, or an upper bound.

        Covers stacks of dense layers over a table. An unknown column count or layer width, such as
        ``Dense(y.shape[1])``, counts as :data:`UNKNOWN_WIDTH`. Layers in loops and conditions count as often as
        possible. None for all other models of unknown size.
        """
        if self.parameters is not None:
            return self.parameters
        if (
            not self.closed
            or not any(layer.name in _WIDTHS for layer in self.layers)
            or self.kind != "subclassed"
            and not self.inputs
        ):
            return None
        layers = {
            id(layer.value): layer
            for layer in self.layers
            if not isinstance(layer.value, Instance) and layer.name not in _CONTAINERS
        }.values()
        if any(layer.name in CONVOLUTIONS for layer in layers):
            return self._most_of_convolutions(layers)
        # A table has columns, while the size of a picture or sequence is either known or not. A flattening layer comes
        # first.
        first = next(layer for layer in layers if layer.name in _WIDTHS)
        if any(
            shape is None or len(shape) != 2 and (None in shape[1:] or not first.shape or len(first.shape) != 2)
            for shape in self.inputs
        ):
            return None
        total, before = 0, None
        # The output of an iteration is the input of the next.
        looped = max(
            (
                shapes.most_units(layer.value) or UNKNOWN_WIDTH
                for layer in layers
                if layer.name == DENSE and layer.times != 1
            ),
            default=0,
        )
        for layer in layers:
            shape = layer.shape or (None, before)
            if (
                layer.name not in OF_COLUMNS
                or layer.times is None
                or layer.name == FLATTEN
                and not self.inputs
                and None in shape[1:]
            ):
                return None
            width = max(shape[-1] or UNKNOWN_WIDTH, 0 if layer.times == 1 else looped)
            if layer.name == DENSE:
                units = shapes.most_units(layer.value)
                again = looped if self.kind == "sequential" else width
                total += layer.times and (width + 1 + (layer.times - 1) * (again + 1)) * (units or UNKNOWN_WIDTH)
                before = units if self.kind == "sequential" and layer.times == 1 else None
            elif layer.name not in WEIGHTLESS:
                total += layer.times * 4 * width
        return total

    def _most_of_convolutions(self, layers: Iterable[Layer]) -> int | None:
        """The same for convolutions over images or series of known size.

        No convolution has more input channels than another one returns, or than all return together.
        """
        widths = {layer: shapes.most_units(layer.value) for layer in layers if layer.name in _WIDTHS}
        each = {layer: units for layer, units in widths.items() if units is not None}
        channels = [shape[-1] for shape in self.inputs if shape and shape[-1] is not None]
        if not channels or len(channels) < len(self.inputs) or len(each) < len(widths):
            return None
        joined = any(layer.name == CONCATENATE for layer in layers)
        widest = (
            sum(channels) + sum(units * (layer.times or 0) for layer, units in each.items())
            if joined
            else max(*channels, *each.values())
        )
        total = 0
        for layer in layers:
            width = layer.shape[-1] if layer.shape and layer.times == 1 else widest
            if layer.times is None or layer.name == FLATTEN and (layer.shape is None or None in layer.shape[1:]):
                return None
            if layer in each:
                window = shapes.window(layer.value)
                if window is None or width is None:
                    return None
                total += layer.times * (window * width + 1) * each[layer]
            elif layer.name in _PER_CHANNEL:
                total += layer.times * 4 * (width or widest)
            elif layer.name not in WEIGHTLESS:
                return None
        return total

    def consists_of(self, names: Collection[str]) -> bool:
        """Whether all its Keras layers, including those inside project layers, have one of these names."""
        return all(layer.name is None or layer.name in names for layer in self.layers)

    @property
    def is_counted(self) -> bool:
        """Whether the upper bound covers more than a few dense layers: convolutions, or layers made in a loop."""
        return any(layer.name in CONVOLUTIONS or layer.times != 1 for layer in self.layers)


def layer_place(model: Model, layer: Layer) -> CodeLocation | Call | None:
    """The place where a model receives a layer: its list of layers, ``add``, or the call of the layer on a tensor.

    If there is none, or the constructor is at that place, returns the constructor call.
    """
    listed, written = (
        (model.call.given("layers"), model.call.written("layers")) if model.kind == "sequential" else (None, None)
    )
    if isinstance(listed, SequenceValue) and written is not None and isinstance(written.value, (cst.List, cst.Tuple)):
        single = takewhile(lambda element: isinstance(element, cst.Element), written.value.elements)
        for item, element in zip(listed.items, single):
            if item is layer.value:
                return CodeLocation(model.module, element.value)
    for call in reversed(model.module.run.calls):
        added = (
            call.attribute == "add"
            and any(option is model.value for option in options_of(call.receiver))
            and call.given("layer") is layer.value
        )
        called = (
            model.kind == "functional"
            and call.attribute == "__call__"
            and call.receiver is layer.value
            and call.order < model.call.order
        )
        if added or called:
            return (
                CodeLocation(call.module, call.arguments.nodes[0].value)
                if added and 0 in call.arguments.nodes
                else call
            )
    return layer.made


def makes_layer(call: Call) -> bool:
    """Whether a call constructs a layer, or a model of ``keras.applications``."""
    name = call.name or ""
    owner, _, last = name.rpartition(".")
    return (
        name == LAYER_INIT
        or last[:1].isupper()
        and (owner in (PACKAGE, APPLICATIONS) or owner.startswith(OF_KERAS_APPLICATIONS) and owner.count(".") == 2)
    )
