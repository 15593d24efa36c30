"""Fixes that replace NumPy calls in compiled code by calls of Keras or TensorFlow.

They follow the table in ``kerascheck/knowledge/numpy_equivalences.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kerascheck.finding import Edit, Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_MEANING
from kerascheck.interpreter.values import Call
from kerascheck.knowledge.callables import CAST, OPS_CAST, OPS_WHERE, WHERE
from kerascheck.knowledge.namespaces import KERAS_OPS
from kerascheck.knowledge.numpy_equivalences import EQUIVALENCES, FLOATS, Equivalence, Replacement
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.tensor_types import TensorType, is_number, proven_type
from kerascheck.syntax import edits
from kerascheck.syntax.edits import call_at

# Compilers of plain functions. Keras traces layers in order to build them and hides their exceptions then; after the fix
# they run once more.
_PLAIN = frozenset({None, "loss", "metric", "tf.function"})
_TAKES_TENSORS = {CAST: ("x", 2), OPS_CAST: ("x", 2), WHERE: ("condition", 3), OPS_WHERE: ("condition", 3)}
"""Functions whose first argument may be an array or a tensor: its parameter and the number of arguments."""
_BACKEND = re.compile(r"KERAS_BACKEND[\"']\s*\]?\s*[=,:]\s*[\"']tensorflow[\"']")
_CATCHES = re.compile(
    r"\b(?:try|except\w*|suppress|\w*[rR]aises\w*|ExitStack|__exit__|contextmanager|unittest|pytest)\b"
)
_CHANGES_TENSORS = re.compile(r"numpy_behavior|experimental\.numpy|enable_v1|disable_v2|disable_tensor_equality")
_RUNS_PROGRAM = frozenset({"fit", "evaluate", "predict", "print", "main"})
_LONGEST_NAME = 40  # maximum characters of code that a reason quotes


class _NoMapping(Exception):
    """The table has no mapping for an argument."""


def replace_numpy(call: Call, name: str, *, tensorflow: bool) -> Fix | None:
    """Call the equivalent function of keras.ops or TensorFlow.

    Args:
        call: the call.
        name: NumPy's name of the function, without the module.
        tensorflow: whether to use TensorFlow's function.

    Returns:
        None if no function is equivalent for these arguments. Unsafe unless the table says that results agree to the bit, the data
        types are proven, no gradient is involved, and only TensorFlow consumes the result.
    """
    entry = EQUIVALENCES.get(name)
    if entry is None:
        return None
    replacement = entry.tensorflow if tensorflow else entry.keras
    if replacement is None:
        return None
    try:
        objection = _objection(call, entry, replacement, _given(call, entry, replacement))
    except _NoMapping:
        return None

    def build() -> edits.Edits:
        tree, node = call.module.tree, call_at(call.node)
        text, imports = edits.spelling(tree, replacement.name)
        return (*imports, *edits.rename_callee(tree, node, text), *_arguments(call, entry, replacement))

    return offer(f"Use {replacement.short}", build, [SAME_MEANING.unless(objection)])


def _given(call: Call, entry: Equivalence, replacement: Replacement) -> dict[str, list[cst.Arg]]:
    """Return the arguments by NumPy's parameter names; raises :class:`_NoMapping` if the replacement lacks one."""
    node = call.node
    if not isinstance(node, cst.Call) or any(arg.star for arg in node.args):
        raise _NoMapping
    by_position = [arg for arg in node.args if arg.keyword is None]
    keywords = {arg.keyword.value: arg for arg in node.args if arg.keyword is not None}
    # Arguments bound by functools.partial are not part of this call.
    if len(by_position) != len(call.arguments.positional) or keywords.keys() != call.arguments.keywords.keys():
        raise _NoMapping
    is_imported = isinstance(node.func, cst.Name) and node.func.value in call.module.tree.imported_names
    if not is_imported and not isinstance(node.func, cst.Attribute):
        raise _NoMapping
    given: dict[str, list[cst.Arg]] = {}
    parameters = list(entry.parameters)
    for place, arg in enumerate(by_position):
        if place >= len(parameters) and not parameters[-1].startswith("*"):
            raise _NoMapping
        given.setdefault(parameters[min(place, len(parameters) - 1)], []).append(arg)
    for keyword, arg in keywords.items():
        given.setdefault(keyword, []).append(arg)
    mapped = {theirs for _, theirs in replacement.parameters}
    if not given.keys() <= mapped or not replacement.needs <= given.keys():
        raise _NoMapping
    if any(_is_none(given[each][0].value) for each in replacement.needs):
        raise _NoMapping
    return given


def _arguments(call: Call, entry: Equivalence, replacement: Replacement) -> Iterator[Edit]:
    """Spell the arguments under the replacement's names; by position only if it has NumPy's order."""
    tree, node = call.module.tree, call_at(call.node)
    own = {theirs: name for name, theirs in replacement.parameters}
    order = [theirs for _, theirs in replacement.parameters]
    parameters = list(entry.parameters)
    in_order = True
    for place, arg in enumerate(node.args):
        if arg.keyword is not None:
            written = own[arg.keyword.value]
            if written != arg.keyword.value:
                yield from edits.replace(tree, arg.keyword, written)
            continue
        theirs = parameters[min(place, len(parameters) - 1)]
        in_order = in_order and order[min(place, len(order) - 1)] == theirs
        if not in_order:
            start = tree.range_of(arg)[0]
            yield Edit(start, start, f"{own[theirs]}=")
    given = _given(call, entry, replacement)
    for name, text in replacement.otherwise.items():
        if dict(replacement.parameters)[name] not in given:
            yield from edits.add_keyword(tree, node, name, text)


def _objection(call: Call, entry: Equivalence, replacement: Replacement, given: dict[str, list[cst.Arg]]) -> str | None:
    """Return an objection to equal results for all data; None if equality is proven. Raises :class:`_NoMapping`."""
    doubts = [
        doubt
        for parameter, args in given.items()
        for arg in args
        for doubt in [_doubt(call, entry, replacement, parameter, arg.value)]
        if doubt is not None
    ]
    tensors = [
        each
        for parameter, args in given.items()
        for arg in args
        if entry.parameters[parameter] in ("tensor", "tensors", "operand")
        for each in _tensors(arg.value)
        if not is_number(each)
    ]
    types = [proven_type(call.module, each) for each in tensors]
    _check_mapped(replacement, types)
    for node, found in zip(tensors, types):
        if found is None:
            return _never_exact(entry, replacement) or f"the type of {_quoted(call, node)} is not known"
    known = [each for each in types if each is not None]
    if not known:
        return "no argument is known to be a tensor"
    if len({each.dtype for each in known}) > 1:
        if not replacement.name.startswith(KERAS_OPS):
            raise _NoMapping
        return f"`{replacement.short}` joins types of data otherwise than `np.{entry.name}`"
    return _differs(entry, replacement, known) or next(iter(doubts), None) or _unlike_here(call, replacement, known)


def _check_mapped(replacement: Replacement, types: list[TensorType | None]) -> None:
    for found in types:
        known = {*replacement.exact, *replacement.close, *replacement.retyped}
        if found is not None and found.dtype not in known:
            raise _NoMapping


def _never_exact(entry: Equivalence, replacement: Replacement) -> str | None:
    """Return how the results differ for every data type; None if they agree for some type."""
    if replacement.exact:
        return None
    if replacement.close:
        return _rounds(entry, replacement)
    return f"`{replacement.short}` gives another type than `np.{entry.name}`"


def _rounds(entry: Equivalence, replacement: Replacement) -> str:
    if not replacement.passes_gradient:
        # Functions without a gradient compute nothing that is rounded.
        return f"`{replacement.short}` takes denormal numbers for zero, `np.{entry.name}` does not"
    return f"`{replacement.short}` rounds otherwise than `np.{entry.name}`"


def _differs(entry: Equivalence, replacement: Replacement, types: list[TensorType]) -> str | None:
    """Return how results or gradients differ for tensors of one type; None if they agree."""
    dtype = types[0].dtype
    if dtype in replacement.retyped:
        own, numpy = replacement.retyped[dtype]
        return f"`{replacement.short}` of {dtype} gives {own}, NumPy gives {numpy}"
    if dtype not in replacement.exact:
        if dtype in FLOATS:
            return _rounds(entry, replacement)
        return f"`{replacement.short}` may give another result than `np.{entry.name}` for {dtype}"
    if dtype in FLOATS and replacement.passes_gradient:
        return f"a gradient flows through `{replacement.short}`, and none through NumPy"
    if replacement.dense_only and not all(each.dense for each in types):
        return "the tensor may be ragged"
    return None


def _unlike_here(call: Call, replacement: Replacement, types: list[TensorType]) -> str | None:
    """Return code that distinguishes an array from a tensor, or continues when NumPy raises; None if there is none."""
    module = call.module
    if replacement.name.startswith(KERAS_OPS) and not module.mentions(_BACKEND):
        return "the backend of Keras is not known"
    if module.mentions(_CHANGES_TENSORS):
        return "the program changes what tensors do"
    if not _is_used_as_tensor(call):
        return "the result may be used as an array"
    if any(each.path.traced_by() not in _PLAIN for each in module.once(CallIndex).at(call.node) or [call]):
        return "Keras hides what a layer raises while it builds it"
    if module.mentions(_CATCHES):
        return "the program may catch what NumPy raises"
    if not _is_script(module.tree.root):
        return "other files may use this code"
    return None


def _is_used_as_tensor(call: Call) -> bool:
    """Whether the only use of the result is an argument that accepts arrays as well as tensors."""
    tree = call.module.tree
    arg = tree.parents.get(call.node)
    taker = tree.parents.get(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(taker, cst.Call) or not isinstance(arg, cst.Arg) or any(each.star for each in taker.args):
        return False
    calls = call.module.once(CallIndex).at(taker)
    for seen in calls:
        parameter, number = _TAKES_TENSORS.get(seen.name or "", ("", 0))
        if len(taker.args) != number or seen.arguments.node(0, parameter) is not arg:
            return False
    return bool(calls)


def _is_script(root: cst.Module) -> bool:
    """Whether a file trains, prints or loops when it is executed: then it is a whole program."""
    for statement in root.body:
        if isinstance(statement, (cst.For, cst.While, cst.With)) or _is_main_guard(statement):
            return True
        if isinstance(statement, cst.SimpleStatementLine) and any(map(_runs_program, statement.body)):
            return True
    return False


def _runs_program(statement: cst.CSTNode) -> bool:
    """Whether a statement is a call such as ``model.fit(...)`` or ``print(...)``."""
    if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
        return False
    function = statement.value.func
    name = function.attr if isinstance(function, cst.Attribute) else function
    return isinstance(name, cst.Name) and name.value in _RUNS_PROGRAM


def _is_main_guard(statement: cst.CSTNode) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``."""
    test = statement.test if isinstance(statement, cst.If) else None
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"


def _doubt(
    call: Call, entry: Equivalence, replacement: Replacement, parameter: str, node: cst.BaseExpression
) -> str | None:
    """Return why an argument may change its meaning; None if not. Raises :class:`_NoMapping` if it certainly does."""
    form = entry.parameters[parameter]
    if form == "text" and not isinstance(node, cst.SimpleString):
        raise _NoMapping
    if form in ("tensor", "text"):
        return None
    if form == "tensors":
        return None if _is_sequence(node) else f"{_quoted(call, node)} is not written out"
    if form == "mask":
        found = proven_type(call.module, node)
        if found is not None and found.dtype != "bool":
            raise _NoMapping
        return None if found is not None and found.dense else f"the type of {_quoted(call, node)} is not known"
    if form == "indices":
        return "an index outside of the axis gives something else"
    if form in ("operand", "number"):
        if _is_none(node):
            raise _NoMapping
        is_tensor = form == "operand" and not is_number(node)
        return None if is_tensor else "which type NumPy gives a number beside a tensor depends on its version"
    if not _is_literal(node):
        return f"`{parameter}` is not a literal"
    if not _has_form(form, node):
        raise _NoMapping
    if form.startswith("some") and not _is_none(node):
        return f"`np.{entry.name}` takes an axis of a tensor without axes, and `{replacement.short}` raises"
    return None


def _has_form(form: str, node: cst.BaseExpression) -> bool:
    """Whether a literal is allowed; see :data:`~kerascheck.knowledge.numpy_equivalences.FORMS`."""
    if form == "bool":
        return isinstance(node, cst.Name) and not _is_none(node)
    if form in ("sizes", "order"):
        return _is_sequence(node) or form == "order" and _is_none(node)
    if is_number(node, whole=True) or form in ("axis", "axes", "some_axis", "some_axes") and _is_none(node):
        return True
    return form.endswith("axes") and isinstance(node, cst.Tuple)


def _is_literal(node: cst.BaseExpression) -> bool:
    """Whether an expression is a number, a constant of Python, or a tuple or list of integers."""
    if isinstance(node, (cst.Tuple, cst.List)):
        return bool(node.elements) and all(is_number(each.value, whole=True) for each in node.elements)
    is_constant = isinstance(node, cst.Name) and node.value in ("None", "True", "False")
    return is_number(node) or is_constant or isinstance(node, cst.BaseString)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _is_sequence(node: cst.BaseExpression) -> bool:
    """Whether an expression is a non-empty tuple or list display."""
    return (
        isinstance(node, (cst.Tuple, cst.List))
        and bool(node.elements)
        and all(isinstance(each, cst.Element) for each in node.elements)
    )


def _tensors(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the items of a tuple or list display, or the expression itself."""
    return [each.value for each in node.elements] if isinstance(node, (cst.Tuple, cst.List)) else [node]


def _quoted(call: Call, node: cst.BaseExpression) -> str:
    text = call.module.tree.code_of(node)
    return f"`{text}`" if len(text) <= _LONGEST_NAME and "\n" not in text else "an argument"
