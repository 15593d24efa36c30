"""The choice between the two parsers that yield libcst nodes.

If possible, Python's own parser reads the text and :mod:`kerascheck.syntax.from_ast` converts its tree, in half the time. This
depends on the fields of libcst's nodes and on the version of Python. If either is unknown, libcst parses.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.source.python import parsed

if TYPE_CHECKING:
    from kerascheck.syntax.from_ast import Converter

try:
    from kerascheck.syntax import from_ast
except AttributeError:
    # libcst lacks a node or field that this package fills.
    from_ast = None  # type: ignore[assignment]

Fields = Mapping[type[cst.CSTNode], Collection[str]]
"""Field names by node type."""

TESTED_PYTHONS = ((3, 10), (3, 14))
"""The oldest and the newest Python on which tests compare both parsers."""

_SKIPPED = frozenset(
    "lpar rpar comma semicolon equal colon operator ops dot lbracket rbracket lbrace rbrace header footer "
    "leading_lines lines_after_decorators trailing_whitespace indent default_indent default_newline "
    "encoding has_trailing_newline star posonly_ind asynchronous first_colon second_colon leading_whitespace".split()
)


def is_skipped(field: str) -> bool:
    """Whether traversals of significant nodes skip a field; converted nodes may lack it."""
    return field in _SKIPPED or field.startswith("whitespace")


def fields_of(types: Collection[type[cst.CSTNode]]) -> Fields:
    """Return the fields that the installed libcst defines on its nodes."""
    return {each: [field.name for field in dataclasses.fields(each)] for each in types}


def python_parser_serves(filled: Fields, fields: Fields, python: tuple[int, int] = sys.version_info[:2]) -> bool:
    """Whether Python's own parser can be used.

    Args:
        filled: the fields that the conversion fills.
        fields: all fields of these nodes.
        python: the version of Python.
    """
    oldest, newest = TESTED_PYTHONS
    return oldest <= python <= newest and all(
        set(filled[each]) == {name for name in names if name in filled[each] or not is_skipped(name)}
        for each, names in fields.items()
    )


_PYTHON_PARSER_SERVES = from_ast is not None and python_parser_serves(from_ast.FILLED, fields_of(from_ast.FILLED))


def read(
    text: str, record_parents: Callable[[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]], object]
) -> Converter | None:
    """Parse a text with Python's own parser.

    Args:
        text: the program.
        record_parents: records the parents of all nodes below one that libcst parsed.

    Returns:
        The nodes and their locations; None if libcst has to parse.

    Raises:
        Deep: the nesting is too deep for either parser.
        MemoryError: memory is exhausted.
    """
    try:
        tree = parsed(text)
        return from_ast.Converter(text, tree, record_parents) if _PYTHON_PARSER_SERVES else None
    except (SyntaxError, ValueError, RecursionError):
        # libcst may support newer syntax than this Python, and its parser does not use Python's stack.
        return None
