"""Where nodes start and end in the text, with what belongs to them."""

from __future__ import annotations

import re

import libcst as cst

from kerascheck.syntax.tree import Tree

Line = cst.SimpleStatementLine | cst.SimpleStatementSuite
"""What holds simple statements."""


Block = cst.Module | cst.IndentedBlock
"""What holds lines and compound statements."""


_SEMICOLON = re.compile(r"[ \t\f]*;")


def outer(tree: Tree, node: cst.BaseExpression) -> tuple[int, int]:
    """The range of ``node`` with its own parentheses."""
    start, end = tree.range_of(node)
    if node.lpar:
        start, end = tree.range_of(node.lpar[0])[0], tree.range_of(node.rpar[-1])[1]
    return start, end


def is_bare_generator(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.GeneratorExp) and not value.lpar


def start_of(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement starts, decorators included."""
    start = tree.range_of(statement)[0]
    for decorator in getattr(statement, "decorators", ()):
        start = min(start, tree.range_of(decorator)[0])
    return start


def end_of_code(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement ends, semicolon included."""
    end = tree.range_of(statement)[1]
    semicolon = _SEMICOLON.match(tree.text, end)
    return semicolon.end() if semicolon else end
