"""Datasets of 64-bit floats that reach the computation of a training without a cast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.array_shapes import array_size
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, DictValue, External, SequenceValue, Value
from kerascheck.knowledge.callables import DOUBLE, FLOAT64, having
from kerascheck.knowledge.datasets import FROM_GENERATOR, FROM_TENSOR_SLICES, FROM_TENSORS
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.data.array_origins import ingredients, made_as_double
from kerascheck.meaning.data.pipelines import Operation, Pipelines

_HEAVY = having(Trait.MULTIPLIES)
_CASTS = (".cast", ".saturate_cast", ".convert_image_dtype", ".image.resize")


@dataclass(frozen=True, slots=True)
class DoubleDataset:
    """A training dataset of 64-bit floats.

    Attributes:
        op: the operation that makes it.
        maker: the NumPy call that made the array 64-bit; None if a generator declares them.
        heavy: the matrix multiplication in a training loop outside of Keras' own layers, which cast; None if there is
            none.
    """

    op: Operation
    maker: Call | None
    heavy: Call | None

    @property
    def is_asked_for(self) -> bool:
        """Whether the code requests 64 bits itself."""
        return self.maker is None or self.maker.attribute == "astype"

    @property
    def numbers(self) -> int:
        """The numbers in the array; 0 if unknown."""
        return (array_size(self.maker.result) if self.maker is not None else None) or 0


def double_datasets(module: Module) -> Iterator[DoubleDataset]:
    """The training datasets of 64-bit floats that no later map or loop casts or may cast."""
    pipelines = module.once(Pipelines)
    for op in pipelines.operations(FROM_TENSOR_SLICES, FROM_TENSORS, FROM_GENERATOR):
        if not op.feeds_training or op.call is None:
            continue
        maker = _maker(op)
        if maker is None and not _declares_doubles(op):
            continue
        behind = [stage.facts for inner in op.stages for stage in pipelines.downstream(inner)]
        calls = [call for loop in pipelines.training_loops(op) for call in pipelines.calls_in(loop)]
        if any(facts is not None and (not facts.known or any(map(_casts, facts.calls))) for facts in behind):
            continue
        if not any(map(_casts, calls)):
            yield DoubleDataset(op, maker, next(filter(_is_heavy, calls), None))


def _maker(op: Operation) -> Call | None:
    """The NumPy call that made an array of a dataset 64-bit; None if there is none."""
    arrays = () if op.name == FROM_GENERATOR else _arrays(op.given("tensors"))
    return next((call for call in map(made_as_double, arrays) if call is not None), None)


def _declares_doubles(op: Operation) -> bool:
    """Whether the declared types of a generator are 64-bit floats."""
    if op.name != FROM_GENERATOR:
        return False
    declared = (*ingredients(op.given("output_types")), *ingredients(op.given("output_signature")))
    return any(isinstance(value, External) and value.name in (FLOAT64, DOUBLE) for value in declared)


def _arrays(value: Value | None) -> list[Value | None]:
    """The arrays in a structure."""
    if isinstance(value, SequenceValue):
        return [array for item in value.items for array in _arrays(item)]
    if isinstance(value, DictValue):
        return [array for item in value.items.values() for array in _arrays(item)]
    return [value]


def _casts(call: Call) -> bool:
    return (call.name or "").endswith(_CASTS)


def _is_heavy(call: Call) -> bool:
    return call.name in _HEAVY and not any(frame.traced == "call" for frame in call.path.frames())
