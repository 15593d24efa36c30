"""NumPy arrays and the files behind them, without a dataset of tf.data."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.interpreter.values import (
    Call,
    DictValue,
    External,
    ExternalInstance,
    IteratorValue,
    Method,
    SequenceValue,
    Tensor,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.keras_datasets import LOADED_AS_INTEGERS
from kerascheck.knowledge.python import FILE_READERS, WAITING


def reads_file(call: Call) -> bool:
    """Whether a call reads and decodes a file without holding the GIL.

    Calls that parse or compute in Python do not count, because they block other threads.
    """
    return call.name in FILE_READERS


def waits_without_gil(call: Call) -> bool:
    """Whether a call waits for a network or a clock while other threads run."""
    return call.name in WAITING


def ingredients(value: Value | None, depth: int = 12) -> Iterator[Value]:
    """A value and all values from which it was computed: arguments, operands, items."""
    seen: set[int] = set()
    pending = [(option, depth) for option in options_of(value)]
    while pending:
        current, left = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if left:
            pending += [(option, left - 1) for inner in _parts(current) for option in options_of(inner)]


def _parts(value: Value) -> list[Value]:
    if isinstance(value, Method):
        return [value.receiver]
    if isinstance(value, SequenceValue):
        return value.items
    if isinstance(value, DictValue):
        return list(value.items.values())
    if isinstance(value, IteratorValue):
        return value.over
    if isinstance(value, Tensor):
        return list(value.operands)
    if isinstance(value, ExternalInstance):
        made = [*value.call.arguments.values(), value.call.receiver] if value.call is not None else []
        return [*value.attributes.values(), *made]
    return []


_DOUBLES = frozenset(
    "random.rand random.randn random.random random.random_sample random.normal random.uniform random.standard_normal random.beta random.gamma "
    "random.exponential random.default_rng.random random.default_rng.normal random.default_rng.uniform random.default_rng.standard_normal "
    "random.default_rng.beta random.default_rng.gamma random.default_rng.exponential linspace logspace zeros ones empty eye loadtxt genfromtxt".split()
)
_DOUBLE_TYPES = ("builtins.float", "numpy.float64", "numpy.double", "numpy.float_")
# Functions that return integer arrays: keras/src/datasets (3.15), and NumPy's integer draws.
_INTEGERS = LOADED_AS_INTEGERS | {"numpy.random.randint", "numpy.random.default_rng.integers"}
_INTEGER_TYPES = frozenset("int int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
# Functions that keep the type of their first argument or receiver.
_KEEPING = frozenset(
    "reshape transpose concatenate stack vstack hstack expand_dims squeeze ravel copy clip sort flip repeat tile append pad roll take delete "
    "array asarray ascontiguousarray flatten swapaxes moveaxis".split()
)


def made_as_double(value: Value | None, depth: int = 8) -> Call | None:
    """The call that made a NumPy array of 64-bit floats, if the array certainly still has this type; otherwise None."""
    if not depth or not isinstance(value, ExternalInstance):
        return None
    if value.name == "numpy.ndarray" and value.call is None:
        operands = value.attributes.get("operands")
        # Numbers, and arrays of any other real type, become 64-bit when combined with a 64-bit one.
        found = (
            [made_as_double(operand, depth - 1) for operand in operands.items]
            if isinstance(operands, SequenceValue)
            else []
        )
        operation = value.attributes.get("operation")
        if (
            isinstance(operation, ExternalInstance)
            and operation.call is not None
            and _widens(operation.call, depth - 1)
        ):
            found.append(operation.call)
        return next((call for call in found if call is not None), None)
    call = value.call
    if call is None or not value.name.startswith("numpy.") or call.arguments.unknown_keywords:
        return None
    name = value.name[6:]
    if name.endswith(".astype"):
        given = call.given("dtype")
        double = (
            isinstance(given, External)
            and given.name in _DOUBLE_TYPES
            or constant(given) in ("float64", "float", "double")
        )
        return call if double else None
    if call.keyword("dtype") is not None:
        return None
    if name in _DOUBLES:
        # The second argument of zeros, ones and empty is the type.
        return None if name in ("zeros", "ones", "empty") and call.given("dtype") is not None else call
    last = name.rpartition(".")[2]
    if last in _KEEPING:
        source = call.receiver if call.attribute == last else call.first
        items: list[Value | None] = [*source.items] if isinstance(source, SequenceValue) else [source]
        if last in ("array", "asarray") and isinstance(source, SequenceValue) and _are_numbers(source.items):
            return call
        found = [made_as_double(item, depth - 1) for item in items]
        return found[0] if found and last != "array" or len(found) == 1 else None
    return None


def _widens(operation: Call, depth: int) -> bool:
    """Whether arithmetic on integers returns 64-bit floats: a division, or an operation with a Python float.

    Source: tested with NumPy 2.4. ``uint8`` divided by ``numpy.float32(255)`` gives 32 bits; divided by 255 or 255.0 it
    does not.
    """
    numbers = [constant(operand) for operand in operation.arguments.positional]
    known = all(
        type(number) in (int, float) or _is_integer(operand, depth)
        for number, operand in zip(numbers, operation.arguments.positional)
    )
    return known and (operation.name == "numpy.divide" or any(type(number) is float for number in numbers))


def _is_integer(value: Value | None, depth: int) -> bool:
    """Whether an array certainly holds integers."""
    if not depth or not isinstance(value, ExternalInstance):
        return False
    if value.name in _INTEGERS:
        return value.call is None or value.call.keyword("dtype") is None
    if value.name == "numpy.ndarray" and value.call is None:
        operands = value.attributes.get("operands")
        operation = value.attributes.get("operation")
        if (
            not isinstance(operands, SequenceValue)
            or isinstance(operation, ExternalInstance)
            and operation.name == "numpy.divide"
        ):
            return False
        return all(type(constant(operand)) is int or _is_integer(operand, depth - 1) for operand in operands.items)
    call = value.call
    if call is None or not value.name.startswith("numpy.") or call.arguments.unknown_keywords:
        return False
    last = value.name.rpartition(".")[2]
    if last == "astype":
        given = call.given("dtype")
        name = given.name.rpartition(".")[2] if isinstance(given, External) else constant(given)
        return name in _INTEGER_TYPES
    if last not in _KEEPING or call.keyword("dtype") is not None:
        return False
    source = call.receiver if call.attribute == last else call.first
    items = source.items if isinstance(source, SequenceValue) else [source]
    return bool(items) and all(_is_integer(item, depth - 1) for item in items)


def _are_numbers(items: list[Value]) -> bool:
    """Whether all items of a list are Python numbers, and at least one is a float."""
    floats = [
        isinstance(item, ExternalInstance) and item.name == "builtins.float" or isinstance(constant(item), float)
        for item in items
    ]
    return any(floats) and all(known or type(constant(item)) is int for known, item in zip(floats, items))
