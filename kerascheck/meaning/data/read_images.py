"""Images that a Python loop reads into arrays before a training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, SequenceValue, Value, constant
from kerascheck.knowledge.callables import IMAGE_DECODERS
from kerascheck.knowledge.datasets import FROM_TENSOR_SLICES, FROM_TENSORS
from kerascheck.knowledge.python import IMAGE_READERS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.array_origins import ingredients
from kerascheck.meaning.data.fitted_data import epochs_of
from kerascheck.meaning.data.image_flows import flows_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.program.loops import most_iterations
from kerascheck.meaning.program.program import Program

_SAVERS = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "pickle.dump", "joblib.dump"})


@dataclass(frozen=True, slots=True)
class ReadImage:
    """A call that reads an image of a training array.

    Attributes:
        call: the call.
        image: its result.
        consumer: the consumer of the array: a fit, the flow of an ImageDataGenerator, or the operation that makes a
            dataset of arrays.
    """

    call: Call
    image: Value
    consumer: Call | Operation

    @property
    def count(self) -> float:
        """The maximum number of images that it reads."""
        return most_iterations(self.call.path)

    @property
    def epochs(self) -> int | None:
        """The number of epochs that a ``fit`` trains on the arrays; None if unknown."""
        is_fit = isinstance(self.consumer, Call) and self.consumer.attribute == "fit"
        return epochs_of(self.consumer) if is_fit and isinstance(self.consumer, Call) else None

    def is_saved(self, module: Module) -> bool:
        """Whether an array with the image is saved to a file, so the next run can skip the reading."""
        return any(
            part is self.image
            for call in module.once(CallIndex).named(*_SAVERS)
            for given in call.arguments.values()
            for part in ingredients(given)
        )

    def side(self, module: Module) -> float:
        """The longer side of the images in the reading loop, from literals; infinite if there are none."""
        loop = self.call.path.innermost_loop(within="program")
        sizing = [
            call
            for call in (module.once(Pipelines).calls_in(loop) if loop is not None else ())
            if call is self.call or (call.name or call.attribute or "").rpartition(".")[2] == "resize"
        ]
        sizes = (value for call in sizing for value in call.arguments.values() if isinstance(value, SequenceValue))
        return min((_longer_side(size) for size in sizes if len(size.items) >= 2 and not size.open), default=inf)


def images_read_first(module: Module) -> Iterator[ReadImage]:
    """The calls that read images in a loop before a training on all of them, one per training.

    A loop that trains in each iteration reads only what it needs.
    """
    for consumer, arrays in _arrays_trained_on(module):
        for value in ingredients(arrays):
            if (
                not isinstance(value, ExternalInstance)
                or value.name not in IMAGE_READERS | IMAGE_DECODERS
                or value.call is None
            ):
                continue
            if not any(around.trains for around in value.call.path.loops(within="program")):
                yield ReadImage(value.call, value, consumer)


def _arrays_trained_on(module: Module) -> Iterator[tuple[Call | Operation, Value | None]]:
    for call in module.once(Program).model_calls("fit", "train_on_batch"):
        yield call, call.given("x")
    for flow in module.once(flows_of):
        if "x" in flow.signature:
            yield flow, flow.given("x")
    for op in module.once(Pipelines).operations(FROM_TENSOR_SLICES, FROM_TENSORS):
        if op.feeds_training and op.call is not None:
            yield op, op.given("tensors")


def _longer_side(size: SequenceValue) -> float:
    sides = [constant(side) for side in size.items[:2]]
    return max(side if type(side) is int else inf for side in sides)
