"""The number of items in an expression, and the item that each iteration processes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.values import ExecutionPath
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.written import assignment


def is_slice_by_iteration(data: cst.BaseExpression, loop: ExecutionPath) -> bool:
    """Whether data is ``x[start : stop]`` or a variable for it, and the loop counts ``start``.

    Growing and sliding windows do not count.
    """
    if not isinstance(loop.node, cst.For):
        return False
    if isinstance(data, cst.Name):
        values = [value for target, value in _assigned(loop) if alike(target, data)]
        data = values[0] if len(values) == 1 else data
    cut = data.slice[0].slice if isinstance(data, cst.Subscript) else None
    return (
        isinstance(cut, cst.Slice)
        and cut.lower is not None
        and cut.upper is not None
        and alike(cut.lower, loop.node.target)
    )


def is_one_item(tree: Tree, node: cst.BaseExpression, loop: ExecutionPath | None = None) -> bool:
    """Whether an expression creates a batch of one item.

    Recognises ``x[None]``, ``np.expand_dims(x, 0)``, ``x.reshape(1, ...)``, ``np.reshape(x, [1, ...])`` and
    ``np.array([x])``. Also recognises names that the loop last binds to one of these.
    """
    if isinstance(node, cst.Name) and loop is not None:
        values = [value for target, value in _assigned(loop) if alike(target, node) and not alike(value, node)]
        return bool(values) and is_one_item(tree, values[-1], None if isinstance(values[-1], cst.Name) else loop)
    if isinstance(node, cst.Subscript):
        return any(
            isinstance(inner, cst.Name) and inner.value in ("None", "newaxis")
            for inner in tree.descendants(node.slice[0])
        )
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    method, first = node.func.attr.value, node.args[0].value if node.args else None
    if method == "reshape" and first is not None:
        # np.reshape takes the array before the shape.
        shapes = [
            arg.value for arg in node.args[:2] if isinstance(arg.value, (cst.Tuple, cst.List)) and arg.value.elements
        ]
        first = shapes[0].elements[0].value if shapes else first
        return isinstance(first, cst.Integer) and first.value == "1"
    single = first.elements[0].value if isinstance(first, cst.List) and len(first.elements) == 1 else None
    if method in ("array", "asarray"):
        return single is not None and not isinstance(single, (cst.List, cst.Tuple, cst.ListComp))
    if method in ("vstack", "concatenate"):
        return single is not None and is_one_item(tree, single, loop)
    if method != "expand_dims" or len(node.args) < 2:
        return False
    axis = node.args[1]
    return (
        (axis.keyword is None or axis.keyword.value in ("axis", "dim"))
        and isinstance(axis.value, cst.Integer)
        and axis.value.value == "0"
    )


def _assigned(loop: ExecutionPath) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """Targets and values of the assignments in a loop, with tuples unpacked."""
    for node in loop.module.tree.descendants(loop.node):
        assigned = assignment(node)
        if assigned is not None:
            target, value = assigned.targets[0], assigned.value
            if (
                isinstance(target, cst.Tuple)
                and isinstance(value, cst.Tuple)
                and len(target.elements) == len(value.elements)
            ):
                yield from ((left.value, right.value) for left, right in zip(target.elements, value.elements))
            else:
                yield target, value
