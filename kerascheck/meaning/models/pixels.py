"""The range of the pixels that reach a pretrained network, from the data of ``fit`` through the layers before it.

Everything on the way must be known; a single unknown operation makes the range unknown.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.keras_data import flow_call
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    DatasetOp,
    ExternalInstance,
    Function,
    Method,
    SequenceValue,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.applications import IMAGENET, expected_range, is_network, keeps_images, prepares_images
from kerascheck.knowledge.callables import CAST, IMAGE_RESIZE, OPS_CAST
from kerascheck.knowledge.classes import IMAGE_DATA_GENERATOR, INPUT, KERAS_TENSOR, MODEL_ADD, SEQUENTIAL
from kerascheck.knowledge.datasets import FROM_TENSOR_SLICES, IMAGE_DATASET_FROM_DIRECTORY
from kerascheck.knowledge.keras_datasets import LOADED_AS_INTEGERS
from kerascheck.knowledge.layers import INPUT_LAYER, LAYERS, RESCALING
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Model
from kerascheck.syntax.written import assignment

_MOVING = frozenset(
    f"{LAYERS}{name}"
    for name in "CenterCrop Identity RandomCrop RandomFlip RandomRotation RandomTranslation RandomZoom Resizing".split()
)
"""Layers that move pixels and keep their range."""
_KEEPING = frozenset({CAST, IMAGE_RESIZE, OPS_CAST})
_KEEPING_ARRAYS = frozenset("array asarray astype copy expand_dims reshape".split())
_SAME_EXAMPLES = frozenset("batch cache prefetch repeat shuffle skip take with_options".split())
_MOVING_OPTIONS = frozenset(
    "fill_mode height_shift_range horizontal_flip rescale rotation_range shear_range validation_split vertical_flip "
    "width_shift_range zoom_range".split()
)
"""Arguments of ImageDataGenerator; others may change the range."""


class Range(enum.Enum):
    """The values of pixels."""

    DATA = enum.auto()
    """Those of the data that the model gets."""
    BYTES = enum.auto()
    """0 to 255."""
    UNIT = enum.auto()
    """0 to 1: something divides bytes by 255."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """A range of pixels and the division that made it; without one, None."""

    range: Range
    scaled: CodeLocation | Call | None = None


@dataclass(frozen=True, slots=True)
class WrongImages:
    """A network of ``keras.applications`` that gets images outside of its range.

    Attributes:
        network: its constructor call.
        scaled: the division by 255 that it repeats itself; None if it gets bytes and needs smaller numbers.
        expected: the values that it expects, in words.
        fit: the training that shows the data; None if the model itself divides.
    """

    network: Call
    scaled: CodeLocation | Call | None
    expected: str
    fit: Call | None

    @property
    def is_scale_right(self) -> bool:
        """Whether the network expects numbers of the size of bytes, so only their mean and order are wrong."""
        return self.expected.startswith("BGR")


def wrong_images(module: Module) -> Iterator[WrongImages]:
    """The networks that certainly get images outside of their range, once each."""
    reader, seen = _Reader(module), set()
    for model in module.once(models_of):
        for network, before in reader.networks(model):
            for fit in model.fits if before.range is Range.DATA else (None,):
                pixels = before if fit is None else reader.of_data(fit.given("x"))
                found = _judged(network, pixels, fit)
                if found is not None and network.node not in seen:
                    seen.add(network.node)
                    yield found


def _judged(network: Call, pixels: Pixels | None, fit: Call | None) -> WrongImages | None:
    name, weights = network.name or "", network.keyword("weights")
    # The position of the weights depends on the network.
    is_default = weights is None and len(network.arguments.positional) < 2 and not network.arguments.unknown_positional
    if pixels is None or not is_default and constant(weights) != IMAGENET:
        return None
    if pixels.range is Range.UNIT and prepares_images(name):
        included = network.keyword("include_preprocessing")
        known = included is None or constant(included) is True
        return WrongImages(network, pixels.scaled, "0 to 255", fit) if known else None
    expected = expected_range(name)
    return WrongImages(network, None, expected, fit) if pixels.range is Range.BYTES and expected is not None else None


class _Reader:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._calls = module.once(CallIndex)

    def networks(self, model: Model) -> Iterator[tuple[Call, Pixels]]:
        """The pretrained networks of a model with the pixels that reach them."""
        if model.kind == "sequential":
            pixels: Pixels | None = Pixels(Range.DATA)
            for item in self._items(model.value):
                network = _network(item)
                if network is not None and pixels is not None:
                    yield network, pixels
                pixels = self._after(item, pixels)
        elif model.kind == "functional":
            inputs = model.call.given("inputs")
            network = _network(inputs.receiver) if isinstance(inputs, Method) and inputs.name == "input" else None
            if network is not None:
                yield network, Pixels(Range.DATA)
            for call in self._calls.of_methods("__call__") if network is None else ():
                network = _network(call.receiver)
                if network is not None and any(layer.value is call.receiver for layer in model.layers):
                    pixels = self._into(call.first)
                    if pixels is not None:
                        yield network, pixels

    def _items(self, value: Value) -> list[Value | None]:
        """The layers of a Sequential model; a None for those that are not visible or conditional."""
        call = value.call if isinstance(value, ExternalInstance) else None
        given = call.given("layers") if call is not None else None
        if call is None or given is not None and not (isinstance(given, SequenceValue) and not given.open):
            return [None]
        added = [
            None if any(add.path.conditions(within=call.path)) else add.given("layer")
            for add in self._calls.named(MODEL_ADD)
            if any(option is value for option in options_of(add.receiver))
        ]
        return [*(given.items if given is not None else []), *added]

    def _after(self, layer: Value | None, pixels: Pixels | None) -> Pixels | None:
        """The pixels that a layer returns."""
        if pixels is None or not isinstance(layer, ExternalInstance) or layer.call is None:
            return None
        if layer.name in _MOVING or layer.name in (INPUT_LAYER, KERAS_TENSOR):
            return pixels
        if layer.name == RESCALING:
            offset = layer.call.given("offset")
            divides = _is_255th(layer.call.given("scale")) and (offset is None or constant(offset) == 0)
            return Pixels(Range.UNIT, layer.call) if divides and pixels.range is not Range.UNIT else None
        if layer.name == SEQUENTIAL:
            for item in self._items(layer):
                pixels = self._after(item, pixels)
            return pixels
        return None

    def _into(self, value: Value | None) -> Pixels | None:
        """The pixels of a symbolic tensor."""
        call = value.call if isinstance(value, ExternalInstance) and value.name == KERAS_TENSOR else None
        if call is None:
            return None
        if call.name == INPUT:
            return Pixels(Range.DATA)
        if call.attribute == "__call__":
            return self._after(call.receiver, self._into(call.first))
        return self._into(call.first) if keeps_images(call.name or "") else None

    def of_data(self, value: Value | None) -> Pixels | None:
        """The pixels of training data: an array, a dataset, or the images of an ImageDataGenerator."""
        options = options_of(value)
        if len(options) != 1:
            return None
        data = options[0]
        flow = flow_call(data)
        if flow is not None:
            return _of_generator(flow)
        if isinstance(data, Dataset):
            return self._of_dataset(data.stage)
        return _of_array(data)

    def _of_dataset(self, last: DatasetOp) -> Pixels | None:
        pixels: Pixels | None = None
        for stage in reversed(list(last.upstream())):
            if stage.maybe:
                return None
            if stage.name == IMAGE_DATASET_FROM_DIRECTORY:
                pixels = Pixels(Range.BYTES)
            elif stage.name == FROM_TENSOR_SLICES:
                given = stage.given("tensors")
                pixels = _of_array(given.items[0] if isinstance(given, SequenceValue) and given.items else given)
            elif stage.name == "map":
                pixels = self._mapped(stage.function, pixels)
            elif stage.name not in _SAME_EXAMPLES:
                return None
        return pixels

    def _mapped(self, function: Value, pixels: Pixels | None) -> Pixels | None:
        """The first result of a function of straight-line code for elements with these pixels."""
        if not isinstance(function, Function) or pixels is None or not function.node.params.params:
            return None
        node = function.node
        known: dict[str, Pixels | None] = {node.params.params[0].name.value: pixels}
        if isinstance(node, cst.Lambda):
            return self._of_expression(function, node.body, known)
        for line in node.body.body:
            for small in line.body if isinstance(line, cst.SimpleStatementLine) else (None,):
                assigned = assignment(small)
                if isinstance(small, cst.Return) and small.value is not None:
                    return self._of_expression(function, small.value, known)
                if assigned is None:
                    return None
                found = self._of_expression(function, assigned.value, known)
                for target in assigned.targets:
                    if not isinstance(target, cst.Name):
                        return None
                    known[target.value] = found
        return None

    def _of_expression(
        self, function: Function, node: cst.BaseExpression, known: dict[str, Pixels | None]
    ) -> Pixels | None:
        if isinstance(node, cst.Tuple):
            first = node.elements[0] if node.elements else None
            return self._of_expression(function, first.value, known) if isinstance(first, cst.Element) else None
        if isinstance(node, cst.Name):
            return known.get(node.value)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            before = self._of_expression(function, node.left, known)
            by_255 = isinstance(node.right, (cst.Integer, cst.Float)) and node.right.evaluated_value == 255
            scaled = by_255 and before is not None and before.range is Range.BYTES
            return Pixels(Range.UNIT, CodeLocation(function.module, node)) if scaled else None
        if not isinstance(node, cst.Call) or not node.args:
            return None
        calls, before = self._calls.at(node), self._of_expression(function, node.args[0].value, known)
        if calls and all(call.name in _KEEPING or keeps_images(call.name or "") for call in calls):
            return before
        layers = {id(call.receiver): call.receiver for call in calls if call.attribute == "__call__"}
        return self._after(layers.popitem()[1], before) if len(layers) == 1 else None


def _of_generator(flow: Call) -> Pixels | None:
    """The pixels of ``flow`` or ``flow_from_...``: those of files, or of the given arrays."""
    receiver = flow.receiver
    made = receiver.call if isinstance(receiver, ExternalInstance) else None
    if (
        made is None
        or made.name != IMAGE_DATA_GENERATOR
        or made.arguments.positional
        or made.arguments.unknown_keywords
    ):
        return None
    if not _MOVING_OPTIONS.issuperset(made.arguments.keywords):
        return None
    before = _of_array(flow.first) if flow.attribute == "flow" else Pixels(Range.BYTES)
    if made.keyword("rescale") is None:
        return before
    from_files = before is not None and before.range is Range.BYTES
    return Pixels(Range.UNIT, made) if from_files and _is_255th(made.keyword("rescale")) else None


def _of_array(value: Value | None) -> Pixels | None:
    """The pixels of a NumPy array: from a data set of Keras, possibly divided by 255."""
    options = options_of(value)
    array = options[0] if len(options) == 1 else None
    if not isinstance(array, ExternalInstance):
        return None
    if array.name in LOADED_AS_INTEGERS:
        return Pixels(Range.BYTES)
    if array.name == "numpy.ndarray" and array.call is None:
        operands, operation = array.attributes.get("operands"), array.attributes.get("operation")
        items = operands.items if isinstance(operands, SequenceValue) else []
        if operation is None:
            return _of_array(items[0]) if len(items) == 1 else None
        if not isinstance(operation, ExternalInstance) or operation.name != "numpy.divide" or len(items) != 2:
            return None
        before = _of_array(items[0]) if constant(items[1]) == 255 else None
        return Pixels(Range.UNIT, operation.call) if before is not None and before.range is Range.BYTES else None
    call = array.call
    if call is not None and array.name.startswith("numpy.") and array.name.rpartition(".")[2] in _KEEPING_ARRAYS:
        return _of_array(call.receiver if array.name.startswith("numpy.ndarray.") else call.first)
    return None


def _network(value: Value | None) -> Call | None:
    """The constructor call of a network of ``keras.applications``; None for other values."""
    return value.call if isinstance(value, ExternalInstance) and is_network(value.name) else None


def _is_255th(value: Value | None) -> bool:
    scale = constant(value)
    return isinstance(scale, float) and abs(scale * 255 - 1) < 0.02
