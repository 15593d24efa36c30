"""Side code of a program: branches for debugging, profiling and benchmarks, and functions for them.

Its data and trainings are not those whose speed matters to the user.
"""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.values import ExecutionPath, ModuleLike
from kerascheck.knowledge.name_heuristics import SIDE_FUNCTIONS, SIDE_OPTIONS
from kerascheck.meaning.calls import CallIndex
from kerascheck.syntax.conditions import written_conditions
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import last_name

_NEGATED = (cst.NotEqual, cst.IsNot)


def side_code_around(entry: ModuleLike, tree: Tree, node: cst.CSTNode) -> str | None:
    """The branch or function for debugging or benchmarks around a node; None if it also runs without one.

    Looks at the code around the node, and at all paths to its calls.

    Args:
        entry: the module whose run makes the calls.
        tree: the tree of the node, possibly that of another module.
        node: any node.
    """
    written = _written_around(tree, node)
    if written is not None:
        return written
    found = [side_path(call.path) for call in entry.once(CallIndex).at(node)]
    return None if None in found else next(iter(found), None)


def side_path(path: ExecutionPath) -> str | None:
    """The innermost branch or function for debugging or benchmarks around an execution path, such as ``if debug``."""
    for outer in path.chain():
        if outer.kind == "branch" and isinstance(outer.node, cst.If) and outer.label in ("if", "else"):
            if _serves_side(outer.node.test, outer.label == "if"):
                return f"{'if' if outer.label == 'if' else 'else of if'} {outer.question}"
        function = outer.function
        if function is not None and SIDE_FUNCTIONS.match(function.name):
            return function.name
    return None


def _written_around(tree: Tree, node: cst.CSTNode) -> str | None:
    around = {node, *tree.ancestors(node)}
    for condition in written_conditions(tree, node, within=tree.root):
        if not isinstance(condition, cst.If):
            continue
        if condition.body in around and _serves_side(condition.test, True):
            return f"if {tree.code_of(condition.test)}"
        if condition.orelse in around and _serves_side(condition.test, False):
            return f"else of if {tree.code_of(condition.test)}"
    functions = (outer.name.value for outer in tree.ancestors(node) if isinstance(outer, cst.FunctionDef))
    return next(filter(SIDE_FUNCTIONS.match, functions), None)


def _serves_side(test: cst.BaseExpression, outcome: bool) -> bool:
    """Whether a test has this outcome only if an option such as ``debug`` is on."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _serves_side(test.expression, not outcome)
    if isinstance(test, cst.BooleanOperation):
        parts = [_serves_side(part, outcome) for part in (test.left, test.right)]
        # All parts of a true "and", and of a false "or", have the outcome.
        return any(parts) if isinstance(test.operator, cst.And) is outcome else all(parts)
    if isinstance(test, cst.Comparison):
        if len(test.comparisons) != 1:
            return False
        compared = test.comparisons[0]
        truth = {"True": True, "False": False}.get(last_name(compared.comparator))
        if truth is None or not isinstance(compared.operator, (cst.Equal, cst.Is, *_NEGATED)):
            return False
        return _serves_side(test.left, outcome is (truth is not isinstance(compared.operator, _NEGATED)))
    return outcome and SIDE_OPTIONS.search(_option(test)) is not None


def _option(test: cst.BaseExpression) -> str:
    """The name of an option: ``debug`` for ``debug``, ``args.debug``, ``args["debug"]`` and ``args.get("debug")``."""
    if isinstance(test, cst.Subscript) and len(test.slice) == 1 and isinstance(test.slice[0].slice, cst.Index):
        return _text(test.slice[0].slice.value)
    if isinstance(test, cst.Call):
        is_lookup = last_name(test.func) in ("get", "getenv") and test.args
        return _text(test.args[0].value) if is_lookup else ""
    return last_name(test)


def _text(node: cst.BaseExpression) -> str:
    return str(node.raw_value) if isinstance(node, cst.SimpleString) else ""
