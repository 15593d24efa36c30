"""Calls of NumPy in compiled code become calls of Keras or TensorFlow."""

from __future__ import annotations

from kerascheck.finding import Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_MEANING
from kerascheck.interpreter.values import Call
from kerascheck.knowledge.namespaces import KERAS_OPS, TENSORFLOW
from kerascheck.syntax import edits
from kerascheck.syntax.edits import call_at

# Functions that keras.ops has under NumPy's name, with NumPy's meaning of their first arguments.
_SAME_IN_OPS = frozenset(
    "abs absolute add all any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort ceil clip concatenate cos cosh "
    "cumprod cumsum divide dot einsum equal exp expand_dims expm1 flip floor floor_divide full_like greater greater_equal isfinite isinf "
    "isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or matmul max maximum mean median min minimum "
    "mod moveaxis multiply nan_to_num negative norm not_equal ones_like power prod reciprocal repeat reshape roll round sign sin sinh "
    "sort split sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile transpose true_divide var where zeros_like".split()
)

_IN_TENSORFLOW = {
    **{
        name: name
        for name in "abs acos acosh add argmax argmin asin asinh atan atan2 atanh cos cosh divide einsum equal exp expand_dims floor greater "
        "greater_equal less less_equal logical_and logical_not logical_or matmul maximum minimum multiply negative not_equal ones_like "
        "repeat reshape round sign sin sinh sqrt square squeeze stack subtract tan tanh tensordot tile transpose where zeros_like".split()
    },
    "absolute": "abs",
    "all": "reduce_all",
    "any": "reduce_any",
    "ceil": "math.ceil",
    "concatenate": "concat",
    "cumsum": "cumsum",
    "expm1": "math.expm1",
    "isnan": "math.is_nan",
    "log": "math.log",
    "log1p": "math.log1p",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "mod": "math.floormod",
    "power": "pow",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "var": "math.reduce_variance",
}


def replace_numpy(call: Call, name: str, *, tensorflow: bool) -> Fix | None:
    """Call the function of keras.ops (or TensorFlow) of the same meaning; ``name`` is NumPy's."""
    new = f"{TENSORFLOW}{_IN_TENSORFLOW[name]}" if tensorflow and name in _IN_TENSORFLOW else None
    if not tensorflow and name in _SAME_IN_OPS:
        new = f"{KERAS_OPS}{name}"
    if new is None or {"dtype", "out", "where", "order"} & set(call.arguments.keywords):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(call.module.tree, new)
        return (*imports, *edits.rename_callee(call.module.tree, call_at(call.node), text))

    return offer(
        f"Use {'tf' + new[10:] if tensorflow else new}",
        build,
        [SAME_MEANING.unless("no table says that it is the same")],
    )
