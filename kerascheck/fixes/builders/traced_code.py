"""Fixes of compiled code, or code to compile."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_NUMBERS, SAME_OUTPUT
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, holds_tensor, shows_tensor
from kerascheck.knowledge.callables import CONSTANT, FUNCTION, PRINT
from kerascheck.knowledge.namespaces import OF_KERAS_MODEL
from kerascheck.syntax import edits
from kerascheck.syntax.edits import call_at


def compile_step(module: Module, function: cst.CSTNode) -> Fix | None:
    """Decorate a step with @tf.function; unsafe, because its Python code then runs only during tracing.

    Returns None if it would raise, or freeze a random draw.
    """
    if not isinstance(function, cst.FunctionDef) or any(
        any(each.node is function for each in call.path.functions())
        for call in module.run.calls
        if ends_in_python(call)
    ):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(module.tree, FUNCTION)
        return (*imports, *edits.add_decorator(module.tree, function, f"@{text}"))

    return offer(
        "Decorate with @tf.function",
        build,
        [SAME_OUTPUT.unless("Python in the step then runs only while it is traced")],
    )


_METHODS_IN_PYTHON = frozenset(
    "fit train_on_batch evaluate test_on_batch predict predict_on_batch get_weights set_weights load_weights save".split()
)


def ends_in_python(call: Call) -> bool:
    """Whether a call reads a tensor back, trains or predicts by itself, or draws from Python or NumPy."""
    if call.attribute in _METHODS_IN_PYTHON and call.name == f"{OF_KERAS_MODEL}{call.attribute}":
        return True
    reads = (
        call.attribute == "numpy"
        or call.name in ("builtins.float", "builtins.int")
        and any(map(holds_tensor, call.arguments.values()))
    )
    return reads or (call.name or "").startswith(("numpy.random.", "random."))


def tensorflow_print(call: Call) -> Fix | None:
    """Turn ``print`` in traced code into ``tf.print``.

    Returns None if that shows no numbers either, because Python formats the tensor, or if tf.print lacks an option.
    """
    if not set(call.arguments.keywords) <= {"sep", "end"} or any(
        shows_tensor(value) and not holds_tensor(value) for value in call.arguments.values()
    ):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(call.module.tree, PRINT)
        return (*imports, *edits.rename_callee(call.module.tree, call_at(call.node), text))

    return offer(
        "Use tf.print", build, [SAME_OUTPUT.unless("tf.print writes to standard error, every time the code runs")]
    )


def train_on_batch(call: Call) -> Fix | None:
    """Turn ``fit(x, y)`` of one batch into ``train_on_batch(x, y)``, if the History is unused.

    Unsafe, because fit makes batches of 32.
    """
    tree, given = call.module.tree, call.arguments
    dropped = {"epochs", "batch_size", "verbose", "shuffle"}
    if call.attribute != "fit" or len(given.positional) > 2 or given.unknown_keywords or given.unknown_positional:
        return None
    if not set(given.keywords) <= dropped | {"x", "y", "sample_weight", "class_weight"} or not isinstance(
        tree.parents.get(call.node), cst.Expr
    ):
        return None

    def build() -> edits.Edits:
        node = call_at(call.node)
        kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in dropped]
        shorter = edits.keep_arguments(tree, node, kept) if len(kept) < len(node.args) else ()
        return (*edits.rename_method(tree, node, "train_on_batch"), *shorter)

    return offer(
        "Call train_on_batch", build, [SAME_NUMBERS.unless("fit makes batches of 32, train_on_batch takes one batch")]
    )


def wrap_in_constant(call: Call, arg: cst.Arg) -> Fix | None:
    """Wrap an argument in ``tf.constant``; unsafe, because the function then receives a tensor."""
    tree = call.module.tree

    def build() -> edits.Edits:
        text, imports = edits.spelling(tree, CONSTANT)
        start, end = tree.range_of(arg.value)
        return (*imports, *edits.replace(tree, arg.value, f"{text}({call.module.text[start:end]})"))

    return offer(
        "Wrap the argument in tf.constant", build, [SAME_OUTPUT.unless("the function then gets a tensor, not a number")]
    )
