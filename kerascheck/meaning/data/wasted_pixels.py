"""Work on pixels of images that a later crop or resize of the same function throws away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, SequenceValue, Tensor, Value, flat, options_of
from kerascheck.knowledge.callables import (
    CASE,
    CAST,
    COND,
    ENSURE_SHAPE,
    IMAGE_BRIGHTNESS,
    IMAGE_COLORS,
    IMAGE_CONVERT_IMAGE_DTYPE,
    IMAGE_CROP_TO_BOUNDING_BOX,
    IMAGE_FLIPS,
    IMAGE_RANDOM_CROP,
    IMAGE_RESIZE,
    IMAGE_STANDARDIZATION,
    ONE_HOT,
    TF_SHAPE,
    having,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.data.mapped_functions import SIZING, pixels_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines

_CUTTING = frozenset({IMAGE_CROP_TO_BOUNDING_BOX, IMAGE_RANDOM_CROP, IMAGE_RESIZE})
_PARTS = frozenset({"element", "item"})  # origins of tensors that are parts of others
_CHOOSING = frozenset({CASE, COND})
# They return an image of the same size.
_KEEPING = having(Trait.EACH_ALONE | Trait.WITH_NUMBERS | Trait.NORMALIZES) | {CAST, IMAGE_CONVERT_IMAGE_DTYPE}
_SAME_SIZE = (_KEEPING | IMAGE_FLIPS) - {*SIZING, IMAGE_STANDARDIZATION, ONE_HOT}


@dataclass(frozen=True, slots=True)
class WastedPixels:
    """A crop or resize that throws away pixels whose colors were changed before.

    Attributes:
        op: the dataset operation that runs both.
        colors: the calls that change the colors, last first.
        cut: the crop or resize.
        before: the number of pixels before the cut.
        after: the number of pixels after it.
    """

    op: Operation
    colors: tuple[Call, ...]
    cut: Call
    before: int
    after: int

    @property
    def is_cheap(self) -> bool:
        """Whether only the brightness changes, an addition per pixel."""
        return all(call.name in IMAGE_BRIGHTNESS for call in self.colors)


@dataclass(frozen=True, slots=True)
class _Image:
    """An image before the cut: its pixels, the calls that changed its colors, and all values on the way."""

    pixels: int
    colors: tuple[Call, ...]
    values: tuple[Value, ...]
    calls: tuple[Call, ...]


def wasted_pixels(module: Module, least: float) -> Iterator[WastedPixels]:
    """The crops and resizes of training images, by at least this ratio, that certainly waste a change of colors.

    Each call that cuts is listed once.
    """
    seen = set()
    for op in module.once(Pipelines).operations("map", "map_and_batch"):
        for cut in op.facts.calls if op.may_feed_training else ():
            if cut.name not in _CUTTING or cut.node in seen:
                continue
            after, image = pixels_of(cut), _traced_back(cut.first)
            if after is None or image is None or not image.colors or image.pixels < least * after:
                continue
            if not _is_used_otherwise(op, cut, image):
                seen.add(cut.node)
                yield WastedPixels(op, image.colors, cut, image.pixels, after)


def _traced_back(value: Value | None) -> _Image | None:
    """The way of an image back to the call that gave it a known size; None if unknown."""
    options = [_of_tensor(option) for option in options_of(value)]
    return _joined(options) if options else None


def _of_tensor(value: Value) -> _Image | None:
    if not isinstance(value, Tensor) or not value.operands or value.origin in _PARTS:
        return None
    made = value.operands[0]
    call = made.call if isinstance(made, ExternalInstance) else None
    if call is None:
        # Arithmetic: the first operand that is an image of known size.
        return _with(next(filter(None, map(_traced_back, value.operands)), None), value)
    if call.name in SIZING:
        pixels = pixels_of(call)
        return _Image(pixels, (), (), ()) if pixels is not None and call.name != ENSURE_SHAPE else None
    if call.name in _CHOOSING:
        return _with(_joined([_traced_back(result) for result in value.operands[1:]]), value, call)
    if call.name in IMAGE_COLORS or call.name in _SAME_SIZE:
        return _with(_traced_back(call.first or call.keyword("image")), value, call)
    return None


def _with(image: _Image | None, value: Value, call: Call | None = None) -> _Image | None:
    """The same way, one value longer."""
    if image is None:
        return None
    calls = (call,) if call is not None else ()
    colors = calls if call is not None and call.name in IMAGE_COLORS else ()
    return _Image(image.pixels, colors + image.colors, (value, *image.values), calls + image.calls)


def _joined(images: list[_Image | None]) -> _Image | None:
    """The ways of a value with several origins, which have to have the same size."""
    known = [image for image in images if image is not None]
    if not known or len(known) < len(images) or len({image.pixels for image in known}) > 1:
        return None
    colors = dict.fromkeys(call for image in known for call in image.colors)
    values = {id(value): value for image in known for value in image.values}
    calls = dict.fromkeys(call for image in known for call in image.calls)
    return _Image(known[0].pixels, tuple(colors), tuple(values.values()), tuple(calls))


def _is_used_otherwise(op: Operation, cut: Call, image: _Image) -> bool:
    """Whether something else than the cut needs the large image after a change of its colors."""
    colored = {id(value) for value in image.values}
    own = {id(call) for call in (*image.calls, cut)}
    for call in op.facts.calls:
        if id(call) in own or call.name == TF_SHAPE:
            continue
        given = [call.receiver, *call.arguments.values()]
        if any(id(each) in colored for value in given for each in flat(value)):
            return True
    return any(_leads_to(result, colored, cut) for result in op.facts.results)


def _leads_to(result: Value, wanted: set[int], cut: Call) -> bool:
    """Whether a value is computed from one of some values by another way than a call."""
    pending, seen = [result], set()
    while pending:
        for each in flat(pending.pop()):
            if id(each) in wanted:
                return True
            if id(each) in seen:
                continue
            seen.add(id(each))
            if isinstance(each, Tensor):
                pending += each.operands
            elif isinstance(each, ExternalInstance) and each.call is not None and each.call is not cut:
                pending += [*each.call.arguments.values()]
            elif isinstance(each, SequenceValue):
                pending += each.items
    return False
