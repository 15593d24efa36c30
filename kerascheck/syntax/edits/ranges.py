"""Ranges of nodes with their parentheses, commas and decorators."""

from __future__ import annotations

import re

import libcst as cst

from kerascheck.syntax.tree import Tree
from kerascheck.syntax.whitespace import skip

Line = cst.SimpleStatementLine | cst.SimpleStatementSuite
"""A holder of simple statements."""


Block = cst.Module | cst.IndentedBlock
"""A holder of statement lines and compound statements."""


_SEMICOLON = re.compile(r"[ \t\f]*;")


def outer(tree: Tree, node: cst.BaseExpression) -> tuple[int, int]:
    """Return the range of ``node`` with its own parentheses."""
    if not tree.is_parenthesised(node):
        return tree.range_of(node)
    written = tree.written(node)
    return tree.range_of(written.lpar[0])[0], tree.range_of(written.rpar[-1])[1]


def is_bare_generator(tree: Tree, value: cst.BaseExpression) -> bool:
    """Whether a generator is the only argument of a call and shares its parentheses."""
    return isinstance(value, cst.GeneratorExp) and not tree.is_parenthesised(value)


def dot_of(tree: Tree, attribute: cst.Attribute) -> int:
    """Return the offset of the dot of an attribute."""
    end = tree.range_of(attribute.value)[1]
    between = tree.text[end : tree.range_of(attribute.attr)[0]]
    if "#" in between:
        return tree.range_of(tree.written(attribute).dot)[0]
    return end + between.index(".")


def comma_of(tree: Tree, arg: cst.Arg) -> int | None:
    """Return the offset of the comma after an argument, or None."""
    after = skip(tree.text, tree.range_of(arg.value)[1])
    if tree.text.startswith(",", after):
        return after
    if tree.text.startswith(")", after) and not tree.is_parenthesised(arg.value):
        # These are the parentheses of the call.
        return None
    comma = tree.written(arg).comma
    return tree.range_of(comma)[0] if isinstance(comma, cst.Comma) else None


def start_of(tree: Tree, statement: cst.CSTNode) -> int:
    """Return the start of a statement, decorators included."""
    start = tree.range_of(statement)[0]
    for decorator in getattr(statement, "decorators", ()):
        start = min(start, tree.range_of(decorator)[0])
    return start


def end_of_code(tree: Tree, statement: cst.CSTNode) -> int:
    """Return the end of a statement, semicolon included."""
    end = tree.range_of(statement)[1]
    semicolon = _SEMICOLON.match(tree.text, end)
    return semicolon.end() if semicolon else end
