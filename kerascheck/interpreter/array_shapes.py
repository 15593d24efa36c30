"""Shapes of arrays, tables and model inputs.

Shapes are known for NumPy's constructors, the bundled data sets of Keras and scikit-learn, and table columns. They stay
known through operations that keep a shape or change it in a known way. All other shapes are unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kerascheck.interpreter.layer_shapes import Shape, input_shape, literal_shape, product
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Constant,
    DatasetOp,
    DictValue,
    External,
    ExternalInstance,
    IteratorValue,
    Method,
    SequenceValue,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.callables import ARRAY_MAKERS
from kerascheck.knowledge.classes import INPUT, KERAS_TENSOR
from kerascheck.knowledge.datasets import BATCHING, FROM_TENSOR_SLICES
from kerascheck.knowledge.keras_datasets import LOADED

Index = Value | tuple[Value | None, Value | None, Value | None] | str
"""An index expression: a value, the three parts of a slice, or "..."."""

# Bundled tables and table generators, from the documentation of sklearn.datasets (1.5).
_TABLES = {
    "load_iris": (150, 4), "load_wine": (178, 13), "load_breast_cancer": (569, 30), "load_digits": (1797, 64), "load_diabetes": (442, 10),
    "fetch_california_housing": (20640, 8),
}  # fmt: skip
_MADE_TABLES = {
    "make_moons": 2,
    "make_circles": 2,
    "make_blobs": 2,
    "make_classification": 20,
    "make_regression": 100,
    "make_friedman1": 10,
}
_SCALERS = frozenset(
    "sklearn.preprocessing." + name
    for name in "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer QuantileTransformer PowerTransformer".split()
)
# Draws of whole vectors or from a population: the size is not the full shape, or is another argument.
_OF_VECTORS = frozenset("multivariate_normal dirichlet multinomial choice permutation shuffle".split())
# Functions that shuffle an array, as x[order].
_ORDERS = frozenset({"numpy.arange", "numpy.random.permutation", "numpy.random.default_rng.permutation"})
_SAME_SHAPE = frozenset(
    "astype copy clip abs absolute sqrt log log1p exp array asarray ascontiguousarray nan_to_num flip sort to_numpy fillna round".split()
)
# Dataset operations that keep the number of elements or reduce it.
_SAME_LENGTH = frozenset("map shuffle cache prefetch with_options enumerate filter skip shard".split())
_ROWS_CHANGE = frozenset("dropna sample concatenate vstack".split())


def shape_of(value: Value | None, depth: int = 12) -> Shape:
    """The shape of an array or table, inferred from its constructor and later operations."""
    shapes = {_shape_of(option, depth) for option in options_of(value)} if depth else set()
    return shapes.pop() if len(shapes) == 1 else None


def array_size(value: Value | None) -> int | None:
    """The number of elements of an array; None if unknown."""
    shape = shape_of(value)
    return None if shape is None else product(*shape)


def length_of(stage: DatasetOp) -> int | None:
    """Upper bound on the number of elements of a dataset, from literals; None if unknown or infinite."""
    count: int | None = None
    for current in reversed(list(stage.upstream())):
        if current.is_source:
            count = _rows_written_out(current)
        elif current.name == "take":
            taken = constant(current.given("count"))
            if type(taken) is int and taken >= 0:
                count = taken if count is None else min(count, taken)
        elif current.name in BATCHING:
            size = constant(batch_size(current))
            count = math.ceil(count / size) if count is not None and type(size) is int and size > 0 else None
        elif current.name == "repeat":
            times = constant(current.given("count"))
            count = count * times if count is not None and type(times) is int and times >= 0 else None
        elif current.name not in _SAME_LENGTH:
            count = None
    return count


def _rows_written_out(source: DatasetOp) -> int | None:
    """The number of rows of a literal list in a dataset's source; arrays and ranges may be larger elsewhere."""
    first = source.given("tensors") if source.name == FROM_TENSOR_SLICES else None
    while (
        isinstance(first, (SequenceValue, DictValue))
        and not first.open
        and first.items
        and not (isinstance(first, SequenceValue) and first.kind == "list")
    ):
        first = first.items[0] if isinstance(first, SequenceValue) else next(iter(first.items.values()))
    return len(first.items) if isinstance(first, SequenceValue) and not first.open else None


def as_group(shape: Shape) -> SequenceValue:
    """The value of an array's ``.shape``."""
    return SequenceValue("tuple", [UNKNOWN if size is None else Constant(size) for size in shape or ()])


def shaped(source: Value, shape: Shape) -> ExternalInstance:
    """An array of a given shape, derived from another value."""
    return ExternalInstance(
        "numpy.ndarray",
        None,
        {"operands": SequenceValue("tuple", [source]), "shape": UNKNOWN if shape is None else as_group(shape)},
    )


def parts_of(value: Value) -> SequenceValue | None:
    """The arrays that a loader of a bundled data set returns; None for other calls."""
    if not isinstance(value, ExternalInstance) or value.call is None:
        return None
    if value.name in LOADED:
        x, y, x_test, y_test = (shaped(value, shape) for shape in LOADED[value.name])
        return SequenceValue("tuple", [SequenceValue("tuple", [x, y]), SequenceValue("tuple", [x_test, y_test])])
    table = _table(value)
    whole = constant(value.call.keyword("return_X_y")) is True or value.name.startswith("sklearn.datasets.make_")
    return (
        SequenceValue("tuple", [shaped(value, table), shaped(value, table[:1])])
        if table is not None and whole
        else None
    )


def split_of(value: Value, split: Call, first: bool) -> Value:
    """One result of ``train_test_split``: the training rows if ``first``, else the test rows."""
    shape = shape_of(value)
    if not shape:
        return UNKNOWN
    rows = _rows_of_split(shape[0], split.keyword("test_size"), split.keyword("train_size"))
    return shaped(value, (rows[0] if first else rows[1], *shape[1:]))


def _rows_of_split(rows: int | None, test: Value | None, train: Value | None) -> tuple[int | None, int | None]:
    """The number of rows of both parts.

    Source: ``_validate_shuffle_split`` in sklearn/model_selection/_split.py (1.5).
    """
    sizes = [_rows_of_share(rows, size, rounding) for size, rounding in ((train, math.floor), (test, math.ceil))]
    if test is None and train is None:
        sizes[1] = None if rows is None else math.ceil(0.25 * rows)
    for one, other, given in ((0, 1, train), (1, 0, test)):
        rest = sizes[other]
        if given is None and rows is not None and rest is not None:
            sizes[one] = rows - rest
    return sizes[0], sizes[1]


def _rows_of_share(rows: int | None, size: Value | None, rounding: Callable[[float], int]) -> int | None:
    given = constant(size)
    if type(given) is float:
        return None if rows is None else rounding(given * rows)
    return given if type(given) is int else None


def columns_of(key: Value) -> ExternalInstance | None:
    """The table that ``table[["a", "b"]]`` returns; None for other keys."""
    if (
        isinstance(key, SequenceValue)
        and key.kind == "list"
        and key.items
        and not key.open
        and all(isinstance(constant(item), str) for item in key.items)
    ):
        return ExternalInstance("pandas.DataFrame", None, {"shape": as_group((None, len(key.items)))})
    return None


def subscripted(shape: Shape, indices: Sequence[Index]) -> Shape:
    """The shape of a subscripted array."""
    if shape is None:
        return None
    left, result = list(shape), list[int | None]()
    new = [
        index
        for index in indices
        if index == Constant(None) or isinstance(index, External) and index.name.endswith(".newaxis")
    ]
    for position, index in enumerate(indices):
        if index in new:
            result.append(1)
        elif isinstance(index, str):
            after = sum(1 for later in indices[position + 1 :] if later not in new)
            result += left[: len(left) - after]
            left = left[len(left) - after :]
        elif not left:
            return None
        elif isinstance(index, tuple):
            result.append(_cut(left.pop(0), index))
        elif type(constant(index)) is int:
            left.pop(0)
        elif isinstance(index, ExternalInstance) and index.name in _ORDERS:
            result.append(left.pop(0))
        else:
            return None
    return (*result, *left)


def slice_of(index: Index) -> slice[int | None, int | None, int | None] | None:
    """A slice from literals; None if a part of it is unknown."""
    if not isinstance(index, tuple) or any(part is not None and type(constant(part)) is not int for part in index):
        return None
    return slice(*(constant(part) for part in index))


def _cut(size: int | None, index: Index) -> int | None:
    written = slice_of(index)
    if written == slice(None):
        return size
    if (
        size is None
        and written is not None
        and written.step in (None, 1)
        and (written.start or 0) >= 0
        and written.stop is not None
        and written.stop > 0
    ):
        # A slice ends at the end of its axis.
        return max(written.stop - (written.start or 0), 0)
    return (
        len(range(*written.indices(size))) if written is not None and size is not None and written.step != 0 else None
    )


def _shape_of(value: Value, depth: int) -> Shape:
    if isinstance(value, Method):
        table = _table(value.receiver)
        if table is not None:
            return {"data": table, "target": table[:1]}.get(value.name)
        return shape_of(value.receiver, depth - 1) if value.name == "values" else None
    if (
        isinstance(value, Constant)
        and type(value.value) in (int, float)
        or isinstance(value, ExternalInstance)
        and value.name in ("builtins.int", "builtins.float")
    ):
        return ()
    if not isinstance(value, ExternalInstance):
        return None
    if value.name == KERAS_TENSOR and value.call is not None and value.call.name == INPUT:
        return input_shape(value.call)
    if "shape" in value.attributes:
        return _sizes(value.attributes["shape"])
    if value.name == "numpy.ndarray" and value.call is None:
        operands = value.attributes.get("operands")
        return (
            _broadcast([shape_of(operand, depth - 1) for operand in operands.items])
            if isinstance(operands, SequenceValue)
            else None
        )
    return _called(value.name, value.call, depth - 1) if value.call is not None else None


def _called(name: str, call: Call, depth: int) -> Shape:
    """The shape that a function or method returns."""
    owner, _, last = name.rpartition(".")
    if owner in _SCALERS and last in ("fit_transform", "transform"):
        # They accept and return only tables (check_array with ensure_2d, sklearn 1.5).
        return shape_of(call.arguments.first("X"), depth) or (None, None)
    if last == "to_categorical" and name in ARRAY_MAKERS:
        classes = constant(call.given("num_classes"))
        shape = shape_of(call.first, depth)
        return shape and (shape[0], classes if type(classes) is int else None)
    if last == "pad_sequences" and name in ARRAY_MAKERS:
        longest = constant(call.given("maxlen"))
        return None, longest if type(longest) is int else None
    if not name.startswith(("numpy.", "pandas.")):
        return None
    return _called_of_numpy(name, last, call, depth)


def _called_of_numpy(name: str, last: str, call: Call, depth: int) -> Shape:
    """The shape of a NumPy or pandas result: from sizes, from a column, or from another array."""
    if name == "numpy.arange":
        return _range(call.arguments.positional)
    if last == "get_dummies":
        shape = shape_of(call.given("data"), depth)
        return shape and (shape[0], None)
    if last in ("zeros", "ones", "empty", "full"):
        return _sizes(call.given("shape"))
    if name in ("numpy.random.rand", "numpy.random.randn"):
        return _sizes(SequenceValue("tuple", call.arguments.positional))
    if last in ("linspace", "logspace", "geomspace"):
        number = call.given("num")
        return (50,) if number is None else _sizes(number)
    if name.startswith("numpy.random.") and last not in _OF_VECTORS:
        size = call.given("size") if "size" in call.signature else None
        if size is not None:
            return _sizes(size)
    return _derived(last, call, depth)


def _derived(last: str, call: Call, depth: int) -> Shape:
    """The shape of an array derived from another one."""
    is_method = call.attribute == last
    source = call.receiver if is_method else call.first
    others = call.arguments.positional[0 if is_method else 1 :]
    if last == "reshape":
        return reshaped(others)
    if last == "transpose":
        return None if call.arguments.keywords else _transposed(shape_of(source, depth), others)
    if last in ("array", "asarray") and isinstance(source, (SequenceValue, IteratorValue)):
        return _nested(source, depth)
    if last in ("concatenate", "vstack") and isinstance(source, SequenceValue) and source.items:
        source = source.items[0]
    shape = shape_of(source, depth)
    if shape is None:
        return None
    if last in _SAME_SHAPE:
        return shape
    if last in ("mean", "std", "max", "min", "sum", "var") and not others and not call.arguments.keywords:
        return ()
    if last == "expand_dims":
        axis = constant(call.given("axis"))
        if type(axis) is int and -len(shape) - 1 <= axis <= len(shape):
            position = axis if axis >= 0 else len(shape) + 1 + axis
            return (*shape[:position], 1, *shape[position:])
    rows = last in _ROWS_CHANGE and len(shape) > (last == "vstack") and not call.arguments.keywords
    return (None, *shape[1:]) if rows else None


def _sizes(value: Value | None) -> Shape:
    """The shape given by a number, a tuple or a list."""
    return (constant(value),) if type(constant(value)) is int else literal_shape(value)


def reshaped(given: list[Value]) -> Shape:
    """The shape given by the arguments of a method ``reshape``."""
    sizes = _given_sizes(given)
    return None if sizes is None else tuple(None if size is not None and size < 0 else size for size in sizes)


def transposed(value: Value) -> ExternalInstance:
    """The value of an array's ``.T``."""
    return shaped(value, _transposed(shape_of(value), []))


def _transposed(shape: Shape, given: list[Value]) -> Shape:
    """The shape with permuted axes; reversed if no permutation is given."""
    axes = _given_sizes(given) if given else tuple(range(len(shape or ())))[::-1]
    if shape is None or axes is None:
        return None
    places = [axis for axis in axes if axis is not None and -len(shape) <= axis < len(shape)]
    return tuple(shape[position] for position in places) if len(places) == len(axes) == len(shape) else None


def _range(numbers: list[Value]) -> Shape:
    """The shape of a ``range`` or ``arange``."""
    given = [constant(number) for number in numbers]
    known = 1 <= len(given) <= 3 and all(type(number) is int for number in given) and 0 not in given[2:]
    return (len(range(*given)) if known else None,)


def _given_sizes(given: list[Value]) -> Shape:
    """The sizes, given as one tuple or separately."""
    return _sizes(given[0] if len(given) == 1 else SequenceValue("tuple", given))


def _nested(value: Value, depth: int) -> Shape:
    """The shape of an array literal of lists and ranges."""
    if isinstance(value, IteratorValue):
        return _range(value.over) if value.kind == "range" else None
    if not isinstance(value, SequenceValue):
        return shape_of(value, depth)
    inner = _nested(value.items[0], depth - 1) if value.items and depth else None
    return None if inner is None else (None if value.open else len(value.items), *inner)


def _broadcast(shapes: list[Shape]) -> Shape:
    """The broadcast shape of operands."""
    result: list[int | None] = []
    for shape in shapes:
        if shape is None:
            return None
        longer, shorter = (list(shape), result) if len(shape) > len(result) else (result, list(shape))
        for position in range(1, len(shorter) + 1):
            one, other = longer[-position], shorter[-position]
            longer[-position] = other if one == 1 else one if other in (1, one) else None
        result = longer
    return tuple(result)


def _table(value: Value) -> tuple[int | None, ...] | None:
    """Rows and columns of a table of sklearn.datasets."""
    if not isinstance(value, ExternalInstance) or not value.name.startswith("sklearn.datasets.") or value.call is None:
        return None
    name = value.name.rpartition(".")[2]
    if name in _TABLES:
        return _TABLES[name]
    if name not in _MADE_TABLES:
        return None
    rows, columns = value.call.arguments.first("n_samples"), value.call.keyword("n_features")
    sizes = [100 if rows is None else constant(rows), _MADE_TABLES[name] if columns is None else constant(columns)]
    return tuple(size if type(size) is int else None for size in sizes)


def batch_size(stage: DatasetOp) -> Value | None:
    """The batch size of an operation of :data:`BATCHING`; UNKNOWN if each bucket has a different one."""
    known = stage.call is None or "batch_size" in stage.call.signature
    return stage.given("batch_size") if known else UNKNOWN
