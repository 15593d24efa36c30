"""The Keras models of a program: their layers in order, their sizes, and what is done with them."""

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
"""Columns of a table, or units of a layer, of which the number is not known: few tables for dense layers are wider than a picture of MNIST, 784."""


_CONTAINERS = frozenset({SEQUENTIAL, MODEL})
_WIDTHS = frozenset({DENSE, *CONVOLUTIONS})


@dataclass(eq=False, slots=True)
class Layer:
    """A layer in its place in a model.

    Attributes:
        value: the layer: a Made of ``keras.layers.X``, an Instance of a class of the tree, or a model.
        made: the call that constructs it, where it is seen.
        certain: no condition decides whether the model has it.
        shape: what goes in, as far as literals tell; see :mod:`kerascheck.interpreter.layer_shapes`.
        times: how many of it the loops make at most in which it is constructed; None where that is not known.
    """

    value: Value
    made: Call | None
    certain: bool
    shape: Shape = None
    times: int | None = 1

    @property
    def name(self) -> str | None:
        """The canonical name of a layer of Keras; None for one of the tree."""
        return self.value.name if isinstance(self.value, ExternalInstance) else None


@dataclass(eq=False, slots=True)
class Model:
    """A model that the program builds.

    Attributes:
        module, node: the call that constructs it.
        value: what a variable with the model in it holds.
        layers: its layers in order; of a nested model, a wrapper and a layer of the tree also those within.
        closed: nothing that is not seen has weights; the code of its own layers may do more than call those.
        repeated: a loop may add a layer more often than it is listed.
        outputs: the layers whose results are the results of the model; None where one of them is not known.
        inputs: the shape of each input, as far as it is known.
        parameters: how many weights it has, without those of frozen embeddings; None where that is not known.
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
        """Nothing is among its layers that is not seen, and no code of the tree, of which all is never known."""
        return (
            self.closed
            and self.kind != "subclassed"
            and not any(isinstance(layer.value, Instance) for layer in self.layers)
        )

    @property
    def is_trained(self) -> bool:
        """The program is seen to train it with ``fit``, or a function makes it ready for that: it compiles it with a loss.

        What is compiled outside of functions and not fitted is meant for evaluation and export.
        """
        return bool(self.fits) or any(
            call.given("loss") is not None and call.path.frame.function is not None for call in self.compiles
        )

    @property
    def largest_input(self) -> float:
        """How many numbers an example of its largest input holds; infinite where that is not known."""
        return max(map(shapes.example_size, self.inputs), default=inf)

    @property
    def most_parameters(self) -> int | None:
        """How many weights it has, or has at most.

        Where a stack of dense layers over a table does not say how many columns that has or how wide a layer is, such as
        ``Dense(y.shape[1])``, that is taken to be :data:`UNKNOWN_WIDTH`. Layers that loops and conditions make are counted as often
        as they can be there. None for all other models of which the number is not known.
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
        # A table has its columns, and what a picture or a sequence holds is known where its size is; what lays it flat comes first.
        first = next(layer for layer in layers if layer.name in _WIDTHS)
        if any(
            shape is None or len(shape) != 2 and (None in shape[1:] or not first.shape or len(first.shape) != 2)
            for shape in self.inputs
        ):
            return None
        total, before = 0, None
        # What comes out of one turn of a loop goes into the next.
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
        """The same for convolutions over pictures or series of a known size: none goes over more channels than another one, or all together, makes."""
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
        """Whether all its layers are among those of Keras that are named, or of the tree; what the latter hold is listed too."""
        return all(layer.name is None or layer.name in names for layer in self.layers)

    @property
    def is_counted(self) -> bool:
        """Whether it tells more of its most parameters than that they are those of a few dense layers: it convolves, or a loop makes layers."""
        return any(layer.name in CONVOLUTIONS or layer.times != 1 for layer in self.layers)


def layer_place(model: Model, layer: Layer) -> CodeLocation | Call | None:
    """Where a model gets a layer: in its list of layers, by ``add``, or where the layer is called on a tensor; where it is made, if that stands there or cannot be told."""
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
