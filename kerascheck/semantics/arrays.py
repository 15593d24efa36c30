"""NumPy arrays and the files behind them: what reads them, without a dataset of tf.data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from kerascheck.semantics.values import UNKNOWN, Call, Const, External, Group, Iteration, Made, Mapping, Method, Value, constant, options_of

Shape = tuple[int | None, ...] | None
"""The sizes of an array, None for those that are not known; None where not even the rank is."""

Index = Value | tuple[Value | None, Value | None, Value | None] | str
"""What stands in brackets: a value, the three parts of a slice, or "..."."""

IMAGE_READERS = frozenset(
    {
        "cv2.imread", "PIL.Image.open", "keras.utils.load_img", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread",
        "skimage.io.imread", "tifffile.imread", "matplotlib.image.imread", "matplotlib.pyplot.imread", "scipy.misc.imread",
    }
)
"""Functions that read and decode one image file. All of them leave Python's lock while they wait and decode."""

_FILE_READERS = IMAGE_READERS | {"numpy.load", "numpy.fromfile", "tensorflow.io.read_file", "soundfile.read", "nibabel.load"}
_REMOTE = frozenset(
    {
        "urllib.request.urlopen", "requests.get", "requests.post", "requests.Session.get", "requests.Session.post", "httpx.get", "time.sleep",
        "boto3.client.get_object", "google.cloud.storage.Blob.download_as_bytes",
    }
)


def reads_file(call: Call) -> bool:
    """Whether a call reads a file, and decodes it, without holding Python's lock.

    What parses or computes in Python is not one of them: other threads do not run beside it.
    """
    return call.name in _FILE_READERS


def waits(call: Call) -> bool:
    """Whether a call waits for a network or a clock, while other threads run."""
    return call.name in _REMOTE


def ingredients(value: Value | None, depth: int = 12) -> Iterator[Value]:
    """A value and everything that it was computed from: arguments of the functions that made it, operands, items."""
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
    if isinstance(value, Group):
        return value.items
    if isinstance(value, Mapping):
        return list(value.items.values())
    if isinstance(value, Iteration):
        return value.over
    if isinstance(value, Made):
        made = [*value.call.arguments.values(), value.call.receiver] if value.call is not None else []
        return [*value.attributes.values(), *made]
    return []


_DOUBLES = frozenset(
    "random.rand random.randn random.random random.random_sample random.normal random.uniform random.standard_normal random.beta random.gamma "
    "random.exponential random.default_rng.random random.default_rng.normal random.default_rng.uniform random.default_rng.standard_normal "
    "random.default_rng.beta random.default_rng.gamma random.default_rng.exponential linspace logspace zeros ones empty eye loadtxt genfromtxt".split()
)
_DOUBLE_TYPES = ("builtins.float", "numpy.float64", "numpy.double", "numpy.float_")
# What keeps the type of the array that it is given first, or called on.
_KEEPING = frozenset(
    "reshape transpose concatenate stack vstack hstack expand_dims squeeze ravel copy clip sort flip repeat tile append pad roll take delete "
    "array asarray ascontiguousarray flatten swapaxes moveaxis".split()
)


def made_as_double(value: Value | None, depth: int = 8) -> Call | None:
    """The call that made a NumPy array 64-bit floats, where the array certainly still is; None where it is not or cannot be known."""
    if not depth or not isinstance(value, Made):
        return None
    if value.name == "numpy.ndarray" and value.call is None:
        operands = value.attributes.get("operands")
        # Numbers, and arrays of any other real type, become 64-bit beside one that is.
        found = [made_as_double(operand, depth - 1) for operand in operands.items] if isinstance(operands, Group) else []
        return next((call for call in found if call is not None), None)
    call = value.call
    if call is None or not value.name.startswith("numpy.") or call.arguments.unknown_keywords:
        return None
    name = value.name[6:]
    if name.endswith(".astype"):
        given = call.argument(0, "dtype")
        double = isinstance(given, External) and given.name in _DOUBLE_TYPES or constant(given) in ("float64", "float", "double")
        return call if double else None
    if call.argument(None, "dtype") is not None:
        return None
    if name in _DOUBLES:
        # The second argument of zeros, ones and empty is the type.
        return None if name in ("zeros", "ones", "empty") and call.argument(1) is not None else call
    last = name.rpartition(".")[2]
    if last in _KEEPING:
        source = call.receiver if call.attribute == last else call.argument(0)
        items = source.items if isinstance(source, Group) else [source]
        found = [made_as_double(item, depth - 1) for item in items]
        return found[0] if found and last != "array" or len(found) == 1 else None
    return None


def literal_size(call: Call) -> int | None:
    """How many numbers the call of a NumPy maker gives, as its literal shape says; None where it does not."""
    name = (call.name or "").rpartition(".")[2]
    if name in ("rand", "randn"):
        given = call.arguments.positional
    elif name in ("zeros", "ones", "empty"):
        given = [call.argument(0, "shape")]
    elif name in ("random", "random_sample", "standard_normal"):
        given = [call.argument(0, "size")]
    else:
        given = [call.argument(2, "num" if name.endswith("space") else "size")]
    sizes = [constant(side) for value in given for side in (value.items if isinstance(value, Group) else [value])]
    return math.prod(sizes) if sizes and all(isinstance(side, int) for side in sizes) else None


# --- shapes ---------------------------------------------------------------------------------------------

# What load_data() gives: keras/src/datasets (3.15).
_LOADED: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "keras.datasets.mnist.load_data": ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,)),
    "keras.datasets.fashion_mnist.load_data": ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,)),
    "keras.datasets.cifar10.load_data": ((50000, 32, 32, 3), (50000, 1), (10000, 32, 32, 3), (10000, 1)),
    "keras.datasets.cifar100.load_data": ((50000, 32, 32, 3), (50000, 1), (10000, 32, 32, 3), (10000, 1)),
    "keras.datasets.boston_housing.load_data": ((404, 13), (404,), (102, 13), (102,)),
}
# Bundled tables and their makers, from the documentation of sklearn.datasets (1.5).
_TABLES = {
    "load_iris": (150, 4), "load_wine": (178, 13), "load_breast_cancer": (569, 30), "load_digits": (1797, 64), "load_diabetes": (442, 10),
    "fetch_california_housing": (20640, 8),
}  # fmt: skip
_MADE_TABLES = {"make_moons": 2, "make_circles": 2, "make_blobs": 2, "make_classification": 20, "make_regression": 100, "make_friedman1": 10}
_SCALERS = frozenset(
    "sklearn.preprocessing." + name for name in "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer QuantileTransformer PowerTransformer".split()
)
_SAME_SHAPE = frozenset("astype copy clip abs absolute sqrt log log1p exp array asarray ascontiguousarray nan_to_num flip sort to_numpy fillna round".split())
_ROWS_CHANGE = frozenset("dropna sample concatenate vstack append repeat delete".split())


def shape_of(value: Value | None, depth: int = 12) -> Shape:
    """The shape of an array or table, as far as its makers and what was done with it tell."""
    shapes = {_shape_of(option, depth) for option in options_of(value)} if depth else set()
    return shapes.pop() if len(shapes) == 1 else None


def as_group(shape: Shape) -> Group:
    """What ``.shape`` of an array gives."""
    return Group("tuple", [UNKNOWN if size is None else Const(size) for size in shape or ()])


def shaped(source: Value, shape: Shape) -> Made:
    """An array of a shape that was taken from somewhere."""
    return Made("numpy.ndarray", None, {"operands": Group("tuple", [source]), "shape": UNKNOWN if shape is None else as_group(shape)})


def parts_of(value: Value) -> Group | None:
    """The arrays that the call of a loader of well-known data gives; None where it is none."""
    if not isinstance(value, Made) or value.call is None:
        return None
    if value.name in _LOADED:
        x, y, x_test, y_test = (shaped(value, shape) for shape in _LOADED[value.name])
        return Group("tuple", [Group("tuple", [x, y]), Group("tuple", [x_test, y_test])])
    table = _table(value)
    whole = constant(value.call.argument(None, "return_X_y")) is True or value.name.startswith("sklearn.datasets.make_")
    return Group("tuple", [shaped(value, table), shaped(value, table[:1])]) if table is not None and whole else None


def split_of(value: Value) -> Value:
    """A part of the rows of an array."""
    shape = shape_of(value)
    return shaped(value, (None, *shape[1:])) if shape else UNKNOWN


def columns_of(key: Value) -> Made | None:
    """The table that ``table[["a", "b"]]`` gives; None for other keys."""
    if isinstance(key, Group) and key.kind == "list" and key.items and not key.open and all(isinstance(constant(item), str) for item in key.items):
        return Made("pandas.DataFrame", None, {"shape": as_group((None, len(key.items)))})
    return None


def subscripted(shape: Shape, indices: Sequence[Index]) -> Shape:
    """The shape of a part of an array."""
    if shape is None:
        return None
    left, result = list(shape), []
    new = [index for index in indices if index == Const(None) or isinstance(index, External) and index.name.endswith(".newaxis")]
    for place, index in enumerate(indices):
        if index in new:
            result.append(1)
        elif isinstance(index, str):
            after = sum(1 for later in indices[place + 1 :] if later not in new)
            result += left[: len(left) - after]
            left = left[len(left) - after :]
        elif not left:
            return None
        elif isinstance(index, tuple):
            result.append(_cut(left.pop(0), index))
        elif type(constant(index)) is int:
            left.pop(0)
        else:
            return None
    return (*result, *left)


def slice_of(index: Index) -> slice | None:
    """The slice that literals write; None where a part of it is not known."""
    if not isinstance(index, tuple) or any(part is not None and type(constant(part)) is not int for part in index):
        return None
    return slice(*(constant(part) for part in index))


def _cut(size: int | None, index: Index) -> int | None:
    written = slice_of(index)
    if written == slice(None):
        return size
    return len(range(*written.indices(size))) if written is not None and size is not None and written.step != 0 else None


def _shape_of(value: Value, depth: int) -> Shape:
    if isinstance(value, Method):
        table = _table(value.receiver)
        if table is not None:
            return {"data": table, "target": table[:1]}.get(value.name)
        return shape_of(value.receiver, depth - 1) if value.name == "values" else None
    if isinstance(value, Const) and type(value.value) in (int, float) or isinstance(value, Made) and value.name in ("builtins.int", "builtins.float"):
        return ()
    if not isinstance(value, Made):
        return None
    if "shape" in value.attributes:
        return _sizes(value.attributes["shape"])
    if value.name == "numpy.ndarray" and value.call is None:
        operands = value.attributes.get("operands")
        return _broadcast([shape_of(operand, depth - 1) for operand in operands.items]) if isinstance(operands, Group) else None
    return _called(value.name, value.call, depth - 1) if value.call is not None else None


def _called(name: str, call: Call, depth: int) -> Shape:
    """The shape that a function or method returns."""
    owner, _, last = name.rpartition(".")
    if owner in _SCALERS and last in ("fit_transform", "transform"):
        return shape_of(call.argument(0, "X"), depth)
    if not name.startswith(("numpy.", "pandas.")):
        return None
    if last in ("zeros", "ones", "empty", "full"):
        return _sizes(call.argument(0, "shape"))
    if name in ("numpy.random.rand", "numpy.random.randn"):
        return _sizes(Group("tuple", call.arguments.positional))
    if name.startswith("numpy.random.") and (size := call.argument(None, "size")) is not None:
        return _sizes(size)
    source = call.receiver if call.attribute == last else call.argument(0)
    if last == "reshape":
        given = call.arguments.positional[0 if call.attribute == last else 1 :]
        sizes = _sizes(given[0] if len(given) == 1 else Group("tuple", given))
        return None if sizes is None else tuple(None if size is not None and size < 0 else size for size in sizes)
    if last in ("array", "asarray") and isinstance(source, Group):
        return _nested(source, depth)
    shape = shape_of(source, depth)
    if shape is None:
        return None
    if last in _SAME_SHAPE:
        return shape
    if last in ("mean", "std", "max", "min", "sum", "var") and len(call.arguments.positional) <= (call.attribute != last) and not call.arguments.keywords:
        return ()
    if last == "expand_dims":
        axis = constant(call.argument(1, "axis"))
        if type(axis) is int and -len(shape) - 1 <= axis <= len(shape):
            place = axis if axis >= 0 else len(shape) + 1 + axis
            return (*shape[:place], 1, *shape[place:])
    return (None, *shape[1:]) if last in _ROWS_CHANGE and shape and not call.arguments.keywords else None


def _sizes(value: Value | None) -> Shape:
    """The shape that a number, a tuple or a list spells."""
    if type(constant(value)) is int:
        return (constant(value),)
    if not isinstance(value, Group) or value.open:
        return None
    return tuple(constant(item) if type(constant(item)) is int else None for item in value.items)


def _nested(value: Value, depth: int) -> Shape:
    """The shape of an array that is written out as lists."""
    if not isinstance(value, Group):
        return shape_of(value, depth)
    inner = _nested(value.items[0], depth - 1) if value.items and depth else None
    return None if inner is None else (None if value.open else len(value.items), *inner)


def _broadcast(shapes: list[Shape]) -> Shape:
    """The shape of arithmetic on arrays of these shapes."""
    result: list[int | None] = []
    for shape in shapes:
        if shape is None:
            return None
        longer, shorter = (list(shape), result) if len(shape) > len(result) else (result, list(shape))
        for place in range(1, len(shorter) + 1):
            one, other = longer[-place], shorter[-place]
            longer[-place] = other if one == 1 else one if other in (1, one) else None
        result = longer
    return tuple(result)


def _table(value: Value) -> tuple[int | None, ...] | None:
    """Rows and columns of a table of sklearn.datasets."""
    if not isinstance(value, Made) or not value.name.startswith("sklearn.datasets.") or value.call is None:
        return None
    name = value.name.rpartition(".")[2]
    if name in _TABLES:
        return _TABLES[name]
    if name not in _MADE_TABLES:
        return None
    rows, columns = value.call.argument(0, "n_samples"), value.call.argument(None, "n_features")
    sizes = [100 if rows is None else constant(rows), _MADE_TABLES[name] if columns is None else constant(columns)]
    return tuple(size if type(size) is int else None for size in sizes)
