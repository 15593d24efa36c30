"""Equivalents of NumPy functions in TensorFlow and keras.ops, by argument and data type.

Sources: the signatures of NumPy 2.4.6, TensorFlow 2.21.0 and Keras 3.15.1; names and meaning are those of their API documentation.
Results and gradients were measured on CPUs; ``tests/knowledge/test_numpy_equivalences.py`` compares every entry again.

TensorFlow flushes denormal numbers to zero and NumPy does not, so arithmetic and comparisons of floats are close, never exact.
Keras runs on TensorFlow here: nothing is known of other backends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kerascheck.knowledge.namespaces import KERAS_OPS, TENSORFLOW

DTYPES = ("bool", "int32", "int64", "float16", "float32", "float64")
"""The data types of the table."""

FLOATS = frozenset({"float16", "float32", "float64"})
"""Data types through which a gradient flows."""

FORMS = {
    "tensor": "a tensor",
    "tensors": "a tuple or list that is written out, of tensors",
    "mask": "a tensor of bools",
    "operand": "a tensor, or a literal number; of a number, the type of the result depends on the version of NumPy",
    "number": "a literal number; the type of the result depends on the version of NumPy",
    "int": "a literal integer",
    "indices": "a tensor of integers; what an index outside of the axis gives is not the same",
    "axis": "a literal integer or None",
    "axes": "a literal integer, a literal tuple of integers, or None",
    "some_axis": "as axis; but NumPy takes the axes 0 and -1 of a tensor without axes, and the replacement raises",
    "some_axes": "as axes; but NumPy takes the axes 0 and -1 of a tensor without axes, and the replacement raises",
    "sizes": "a literal tuple of integers, not empty",
    "order": "a literal tuple of integers, not empty, or None",
    "bool": "True or False",
    "text": "a literal string",
}
"""Forms of arguments that have the same meaning for both functions."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A function equivalent to one of NumPy.

    Attributes:
        name: its canonical name.
        parameters: its parameters in positional order, each with NumPy's parameter of the same meaning.
        exact: data types with NumPy's result: type, shape and every bit.
        close: data types with NumPy's type and shape, but other rounding, or denormal numbers flushed to zero.
        retyped: data types whose result type differs from NumPy's; each with the two types.
        needs: NumPy's parameters that are required, because the two defaults differ.
        otherwise: the value for a parameter of the replacement if NumPy's is omitted, because only NumPy has a default.
        passes_gradient: whether a float tensor gets a gradient through it; none passes NumPy.
        dense_only: whether ragged tensors, which NumPy treats as objects, may give another result.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    exact: frozenset[str]
    close: frozenset[str]
    retyped: Mapping[str, tuple[str, str]]
    needs: frozenset[str]
    otherwise: Mapping[str, str]
    passes_gradient: bool
    dense_only: bool

    @property
    def short(self) -> str:
        """Its name in user code: "tf.reduce_sum", "keras.ops.sum"."""
        return f"tf.{self.name[len(TENSORFLOW) :]}" if self.name.startswith(TENSORFLOW) else self.name


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A function of NumPy with its replacements.

    Attributes:
        name: NumPy's, without the module.
        parameters: NumPy's, in positional order, each with its form, a key of :data:`FORMS`; empty if no replacement has the
            parameter. A star before the last stands for all following arguments.
        tensorflow, keras: the replacements; None if there is none.
    """

    name: str
    parameters: Mapping[str, str]
    tensorflow: Replacement | None = None
    keras: Replacement | None = None


@dataclass(frozen=True, slots=True)
class _To:
    """The notation of a replacement in the table; see :class:`Replacement`.

    Attributes:
        call: the name and the parameters, "input_tensor=a" if NumPy's is ``a``.
        retyped: "int32:int32/int64" if NumPy's result is int64 for int32.
    """

    call: str
    exact: str = ""
    close: str = ""
    retyped: str = ""
    needs: str = ""
    otherwise: Mapping[str, str] = field(default_factory=dict)
    gradient: bool = True
    dense_only: bool = True

    def read(self, namespace: str) -> Replacement:
        name, *written = self.call.split()
        pairs = (each.partition("=") for each in written)
        types = (each.partition(":") for each in self.retyped.split())
        return Replacement(
            namespace + name,
            tuple((own, numpy or own) for own, _, numpy in pairs),
            frozenset(self.exact.split()),
            frozenset(self.close.split()),
            {dtype: (both.partition("/")[0], both.partition("/")[2]) for dtype, _, both in types},
            frozenset(self.needs.split()),
            self.otherwise,
            self.gradient,
            self.dense_only,
        )


def _function(name: str, parameters: str, tensorflow: _To | None = None, keras: _To | None = None) -> Equivalence:
    """Define an entry of the table, with ``parameters`` such as "a:tensor axis:axes out"."""
    return Equivalence(
        name,
        {each.partition(":")[0]: each.partition(":")[2] for each in parameters.split()},
        None if tensorflow is None else tensorflow.read(TENSORFLOW),
        None if keras is None else keras.read(KERAS_OPS),
    )


def _pairs(written: str) -> Iterator[tuple[str, str]]:
    """Yield NumPy's names, each with TensorFlow's: "sqrt log=math.log"."""
    for each in written.split():
        name, _, own = each.partition("=")
        yield name, own or name


_ALL = "bool int32 int64 float16 float32 float64"
_NUMBERS = "int32 int64 float16 float32 float64"
_FLOATS = "float16 float32 float64"
_INTEGERS = "int32 int64"
_DISCRETE = "bool int32 int64"
_TO_FLOAT32 = "bool:float32/float16 int32:float32/float64 int64:float32/float64"
_MEANS_TO_FLOAT32 = "bool:float32/float64 int32:float32/float64 int64:float32/float64"
_SUMS_TO_INT32 = "bool:int32/int64 int32:int32/int64"
_INDICES_TO_INT32 = (
    "bool:int32/int64 int32:int32/int64 int64:int32/int64 float16:int32/int64 float32:int32/int64 float64:int32/int64"
)
_UNARY = "x:tensor out"
_BINARY = "x1:operand x2:operand out"


def _elementwise() -> Iterator[Equivalence]:
    for name, own in _pairs("abs absolute=abs"):
        yield _function(
            name,
            _UNARY,
            _To(f"{own} x", exact=_NUMBERS, dense_only=False),
            _To(f"{name} x", exact=_ALL, dense_only=False),
        )
    yield _function(
        "negative",
        _UNARY,
        _To("negative x", exact=_NUMBERS, dense_only=False),
        _To("negative x", exact=_NUMBERS, dense_only=False),
    )
    yield _function(
        "sign",
        _UNARY,
        _To("sign x", exact=_INTEGERS, close=_FLOATS, dense_only=False),
        _To("sign x", exact=_INTEGERS, close=_FLOATS, dense_only=False),
    )
    yield _function(
        "square",
        _UNARY,
        _To("square x", exact=_INTEGERS, close=_FLOATS, dense_only=False),
        _To("square x", exact=_INTEGERS, close=_FLOATS, retyped="bool:int32/int8", dense_only=False),
    )
    for name, own in _pairs("ceil=math.ceil floor"):
        yield _function(
            name,
            _UNARY,
            _To(f"{own} x", close=_FLOATS, gradient=False),
            _To(
                f"{name} x",
                close=_FLOATS,
                retyped="bool:float32/bool int32:float32/int32 int64:float32/int64",
                gradient=False,
            ),
        )
    yield _function("reciprocal", _UNARY, _To("math.reciprocal x", close=_FLOATS), _To("reciprocal x", close=_FLOATS))
    for name, own in _pairs(
        "sqrt exp expm1=math.expm1 log=math.log log1p=math.log1p sin cos tan arcsin=asin arccos=acos arctan=atan sinh cosh tanh arcsinh=asinh arccosh=acosh arctanh=atanh"
    ):
        yield _function(
            name, _UNARY, _To(f"{own} x", close=_FLOATS), _To(f"{name} x", close=_FLOATS, retyped=_TO_FLOAT32)
        )
    for name in "log2 log10".split():
        yield _function(name, _UNARY, keras=_To(f"{name} x", close=_FLOATS, retyped=_TO_FLOAT32))


def _predicates() -> Iterator[Equivalence]:
    for name, own in _pairs("isnan=math.is_nan isinf=math.is_inf isfinite=math.is_finite"):
        yield _function(
            name,
            _UNARY,
            _To(f"{own} x", exact=_FLOATS, gradient=False, dense_only=False),
            _To(f"{name} x", exact=_ALL, gradient=False, dense_only=False),
        )
    yield _function(
        "logical_not",
        _UNARY,
        _To("logical_not x", exact="bool", gradient=False),
        _To("logical_not x", exact=_DISCRETE, close=_FLOATS, gradient=False),
    )


def _arithmetic() -> Iterator[Equivalence]:
    yield _function(
        "add",
        _BINARY,
        _To("add x=x1 y=x2", exact=_INTEGERS, close=_FLOATS, dense_only=False),
        _To("add x1 x2", close=_NUMBERS, dense_only=False),
    )
    for name in "subtract multiply maximum minimum".split():
        yield _function(
            name,
            _BINARY,
            _To(f"{name} x=x1 y=x2", exact=_INTEGERS, close=_FLOATS, dense_only=False),
            _To(f"{name} x1 x2", exact=_INTEGERS, close=_FLOATS, dense_only=False),
        )
    for name, own in _pairs("divide true_divide=divide"):
        yield _function(
            name,
            _BINARY,
            _To(f"{own} x=x1 y=x2", exact=_INTEGERS, close=_FLOATS),
            _To(f"{name} x1 x2", close=_FLOATS, retyped=_MEANS_TO_FLOAT32),
        )
    yield _function(
        "floor_divide",
        _BINARY,
        _To("math.floordiv x=x1 y=x2", close="float16", gradient=False),
        _To("floor_divide x1 x2", close="float16", gradient=False),
    )
    yield _function("mod", _BINARY, _To("math.floormod x=x1 y=x2", close=_FLOATS), _To("mod x1 x2", close=_FLOATS))
    yield _function(
        "power",
        _BINARY,
        _To("pow x=x1 y=x2", exact=_INTEGERS, close=_FLOATS),
        _To("power x1 x2", exact=_INTEGERS, close=_FLOATS),
    )
    yield _function("logaddexp", _BINARY, keras=_To("logaddexp x1 x2", close=_FLOATS, retyped=_TO_FLOAT32))
    yield _function(
        "arctan2",
        _BINARY,
        _To("atan2 y=x1 x=x2", close=_FLOATS),
        _To("arctan2 x1 x2", close=_FLOATS, retyped=_TO_FLOAT32),
    )


def _comparisons() -> Iterator[Equivalence]:
    for name in "equal not_equal".split():
        yield _function(
            name,
            _BINARY,
            _To(f"{name} x=x1 y=x2", exact=_DISCRETE, close=_FLOATS, gradient=False),
            _To(f"{name} x1 x2", exact=_DISCRETE, close=_FLOATS, gradient=False),
        )
    for name in "less less_equal greater greater_equal".split():
        yield _function(
            name,
            _BINARY,
            _To(f"{name} x=x1 y=x2", exact=_INTEGERS, close=_FLOATS, gradient=False, dense_only=False),
            _To(f"{name} x1 x2", exact=_INTEGERS, close=_FLOATS, gradient=False, dense_only=False),
        )
    for name in "logical_and logical_or".split():
        yield _function(
            name,
            _BINARY,
            _To(f"{name} x=x1 y=x2", exact="bool", gradient=False),
            _To(f"{name} x1 x2", exact=_DISCRETE, close=_FLOATS, gradient=False),
        )


def _reductions() -> Iterator[Equivalence]:
    for name, own in _pairs("sum=reduce_sum prod=reduce_prod"):
        yield _function(
            name,
            "a:tensor axis:some_axes dtype out keepdims:bool initial where",
            _To(f"{own} input_tensor=a axis keepdims", exact="int64", close=_FLOATS, retyped="int32:int32/int64"),
            _To(f"{name} x=a axis keepdims", exact="int64", close=_FLOATS, retyped=_SUMS_TO_INT32),
        )
    yield _function(
        "mean",
        "a:tensor axis:some_axes dtype out keepdims:bool",
        _To("reduce_mean input_tensor=a axis keepdims", close=_FLOATS),
        _To("mean x=a axis keepdims", close=_FLOATS, retyped=_MEANS_TO_FLOAT32),
    )
    for name, own in _pairs("std=math.reduce_std var=math.reduce_variance"):
        yield _function(
            name,
            "a:tensor axis:some_axes dtype out ddof keepdims:bool",
            _To(f"{own} input_tensor=a axis keepdims", close=_FLOATS),
            _To(f"{name} x=a axis keepdims", close=_FLOATS, retyped=_MEANS_TO_FLOAT32),
        )
    for name in "max min amax amin".split():
        kind = name[-3:]
        yield _function(
            name,
            "a:tensor axis:some_axes out keepdims:bool initial where",
            _To(f"reduce_{kind} input_tensor=a axis keepdims", exact=_INTEGERS, close=_FLOATS),
            _To(f"{kind} x=a axis keepdims", close=_ALL),
        )
    for name, own in _pairs("all=reduce_all any=reduce_any"):
        yield _function(
            name,
            "a:tensor axis:some_axes out keepdims:bool",
            _To(f"{own} input_tensor=a axis keepdims", exact="bool", gradient=False),
            _To(f"{name} x=a axis keepdims", exact=_DISCRETE, close=_FLOATS, gradient=False),
        )
    yield _function(
        "median",
        "a:tensor axis:some_axes out overwrite_input keepdims:bool",
        keras=_To("median x=a axis keepdims", close=_FLOATS, retyped=_MEANS_TO_FLOAT32),
    )


def _orderings() -> Iterator[Equivalence]:
    for name in "argmax argmin".split():
        yield _function(
            name,
            "a:tensor axis:some_axis out",
            _To(f"{name} input=a axis", exact=_DISCRETE, close=_FLOATS, gradient=False, needs="axis"),
            _To(f"{name} x=a axis", retyped=_INDICES_TO_INT32, gradient=False),
        )
    yield _function(
        "argsort",
        "a:tensor axis:int kind order",
        _To(
            "argsort values=a axis",
            retyped="int32:int32/int64 int64:int32/int64 float16:int32/int64 float32:int32/int64 float64:int32/int64",
            gradient=False,
        ),
        _To("argsort x=a axis", retyped=_INDICES_TO_INT32, gradient=False),
    )
    yield _function(
        "sort",
        "a:tensor axis:int kind order",
        _To("sort values=a axis", exact=_INTEGERS, close=_FLOATS),
        _To("sort x=a axis", exact=_DISCRETE, close=_FLOATS),
    )


def _scans_and_rounding() -> Iterator[Equivalence]:
    for name, own in _pairs("cumsum cumprod=math.cumprod"):
        yield _function(
            name,
            "a:tensor axis:some_axis dtype out",
            _To(f"{own} x=a axis", exact="int64", close=_FLOATS, retyped="int32:int32/int64", needs="axis"),
            _To(f"{name} x=a axis", exact="int64", close=_FLOATS, retyped=_SUMS_TO_INT32),
        )
    yield _function(
        "clip",
        "a:tensor a_min:number a_max:number out",
        _To(
            "clip_by_value t=a clip_value_min=a_min clip_value_max=a_max",
            exact=_INTEGERS,
            close=_FLOATS,
            needs="a_min a_max",
        ),
        _To(
            "clip x=a x_min=a_min x_max=a_max",
            exact=_INTEGERS,
            close=_FLOATS,
            retyped="bool:int32/int64",
            needs="a_min a_max",
        ),
    )
    yield _function(
        "round",
        "a:tensor decimals:int out",
        _To("round x=a", exact=_INTEGERS, close=_FLOATS, gradient=False),
        _To("round x=a decimals", exact=_INTEGERS, close=_FLOATS, gradient=False),
    )


def _shapes() -> Iterator[Equivalence]:
    yield _function(
        "reshape",
        "a:tensor shape:sizes order",
        _To("reshape tensor=a shape", exact=_ALL),
        _To("reshape x=a newshape=shape", exact=_ALL),
    )
    yield _function(
        "expand_dims",
        "a:tensor axis:int",
        _To("expand_dims input=a axis", exact=_ALL),
        _To("expand_dims x=a axis", exact=_ALL),
    )
    yield _function(
        "squeeze",
        "a:tensor axis:some_axes",
        _To("squeeze input=a axis", exact=_ALL),
        _To("squeeze x=a axis", exact=_ALL),
    )
    yield _function(
        "transpose",
        "a:tensor axes:order",
        _To("transpose a perm=axes", exact=_ALL),
        _To("transpose x=a axes", exact=_ALL),
    )
    yield _function("swapaxes", "a:tensor axis1:int axis2:int", keras=_To("swapaxes x=a axis1 axis2", exact=_ALL))
    yield _function(
        "moveaxis", "a:tensor source:int destination:int", keras=_To("moveaxis x=a source destination", exact=_ALL)
    )
    yield _function("flip", "m:tensor axis:axes", keras=_To("flip x=m axis", exact=_ALL))
    yield _function(
        "roll",
        "a:tensor shift:int axis:axis",
        _To("roll input=a shift axis", exact=_ALL, needs="axis"),
        _To("roll x=a shift axis", exact=_ALL),
    )
    yield _function(
        "repeat",
        "a:tensor repeats:int axis:axis",
        _To("repeat input=a repeats axis", exact=_ALL),
        _To("repeat x=a repeats axis", exact=_ALL),
    )
    yield _function("tile", "A:tensor reps:sizes", keras=_To("tile x=A repeats=reps", exact=_ALL))


def _joins_and_fills() -> Iterator[Equivalence]:
    yield _function(
        "concatenate",
        "arrays:tensors axis:int out",
        _To("concat values=arrays axis", exact=_ALL, otherwise={"axis": "0"}),
        _To("concatenate xs=arrays axis", exact=_ALL),
    )
    yield _function(
        "stack",
        "arrays:tensors axis:int out",
        _To("stack values=arrays axis", exact=_ALL),
        _To("stack x=arrays axis", exact=_ALL),
    )
    yield _function(
        "split",
        "ary:tensor indices_or_sections:int axis:int",
        keras=_To("split x=ary indices_or_sections axis", exact=_ALL),
    )
    yield _function(
        "where",
        "condition:mask x:operand y:operand",
        _To("where condition x y", exact=_ALL, needs="x y"),
        _To("where condition x1=x x2=y", exact=_ALL, needs="x y"),
    )
    for name in "zeros_like ones_like".split():
        yield _function(
            name,
            "a:tensor dtype order subok shape",
            _To(f"{name} input=a", exact=_ALL, gradient=False, dense_only=False),
            _To(f"{name} x=a", exact=_ALL, gradient=False, dense_only=False),
        )
    yield _function(
        "full_like",
        "a:tensor fill_value:number dtype order subok shape",
        keras=_To("full_like x=a fill_value", exact=_ALL, gradient=False),
    )
    yield _function(
        "nan_to_num",
        "x:tensor copy nan:number posinf:number neginf:number",
        keras=_To("nan_to_num x nan posinf neginf", exact=_DISCRETE, close=_FLOATS),
    )
    yield _function(
        "take", "a:tensor indices:indices axis:some_axis out mode", keras=_To("take x=a indices axis", close=_ALL)
    )


def _products() -> Iterator[Equivalence]:
    yield _function(
        "matmul",
        "x1:tensor x2:tensor out",
        _To("matmul a=x1 b=x2", exact=_INTEGERS, close=_FLOATS),
        _To("matmul x1 x2", exact="bool", close=_NUMBERS),
    )
    yield _function("dot", "a:tensor b:tensor out", keras=_To("dot x1=a x2=b", exact="bool", close=_NUMBERS))
    yield _function(
        "tensordot",
        "a:tensor b:tensor axes:int",
        _To("tensordot a b axes", exact=_INTEGERS, close=_FLOATS, otherwise={"axes": "2"}),
        _To("tensordot x1=a x2=b axes", exact=_DISCRETE, close=_FLOATS),
    )
    yield _function(
        "einsum",
        "subscripts:text *operands:tensor",
        _To("einsum equation=subscripts *inputs=*operands", exact=_INTEGERS, close=_FLOATS),
        _To("einsum subscripts *operands", close=_NUMBERS),
    )


def _table() -> Iterator[Equivalence]:
    yield from _elementwise()
    yield from _predicates()
    yield from _arithmetic()
    yield from _comparisons()
    yield from _reductions()
    yield from _orderings()
    yield from _scans_and_rounding()
    yield from _shapes()
    yield from _joins_and_fills()
    yield from _products()


EQUIVALENCES: dict[str, Equivalence] = {each.name: each for each in _table()}
"""Entries by NumPy's name, without the module."""
