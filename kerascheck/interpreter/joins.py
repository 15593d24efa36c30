"""Joins of values after branches."""

from __future__ import annotations

from collections.abc import Iterable

from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.values import UNKNOWN, Dataset, DatasetOp, UnionValue, Value, options_of


def join(first: Value, second: Value) -> Value:
    """The join of a variable's values after two branches."""
    if first is second or first == second:
        return first
    options: list[Value] = []
    for option in options_of(first) + options_of(second):
        for position, other in enumerate(options):
            if option == other:
                break
            if isinstance(option, Dataset) and isinstance(other, Dataset):
                longer = _extension(option.stage, other.stage) or _extension(other.stage, option.stage)
                if longer is not None:
                    options[position] = Dataset(longer)
                    break
        else:
            options.append(option)
    if len(options) == 1:
        return options[0]
    return UnionValue(tuple(options)) if len(options) <= MAX_OPTIONS else UNKNOWN


def _extension(base: DatasetOp, longer: DatasetOp) -> DatasetOp | None:
    """A dataset whose operations beyond ``base`` are marked as optional; None if it does not extend ``base``."""
    added: list[DatasetOp] = []
    for stage in longer.upstream():
        if stage is base or (stage.identity is base.identity and stage.input is base.input):
            result = base
            for extra in reversed(added):
                result = DatasetOp(
                    extra.module,
                    extra.node,
                    extra.name,
                    extra.call,
                    (result, *extra.inputs[1:]),
                    extra.path,
                    maybe=True,
                    facts=extra.facts,
                    function=extra.function,
                    origin=extra.identity,
                )
            return result
        added.append(stage)
    return None


def any_of(values: Iterable[Value]) -> Value:
    """The join of several values; UNKNOWN if there are none."""
    merged: Value | None = None
    for value in values:
        merged = value if merged is None else join(merged, value)
    return UNKNOWN if merged is None else merged


def join_variables(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    """The variables after two branches, each with the join of its values."""
    if first is second:
        return first
    merged = dict(second)
    for name, value in first.items():
        other = merged.get(name)
        if other is not value:
            merged[name] = value if other is None else join(value, other)
    return merged
