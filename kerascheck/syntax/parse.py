"""The choice between two parsers that give libcst's nodes.

Python's own parser serves where it can: :mod:`kerascheck.syntax.from_ast` makes the nodes from its tree, in half of the time.
It depends on the fields of libcst's nodes and on the version of Python. Where either is unknown, libcst's own parser serves.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.source.python import parsed

if TYPE_CHECKING:
    from kerascheck.syntax.from_ast import Reader

try:
    from kerascheck.syntax import from_ast
except AttributeError:
    # libcst lacks a node, or a field, that this module fills.
    from_ast = None  # type: ignore[assignment]

Fields = Mapping[type[cst.CSTNode], Collection[str]]
"""The names of fields by the type of node."""

TESTED_PYTHONS = ((3, 10), (3, 14))
"""The oldest and the newest Python on which tests compare the nodes with those of libcst's parser."""

_SKIPPED = frozenset(
    "lpar rpar comma semicolon equal colon operator ops dot lbracket rbracket lbrace rbrace header footer "
    "leading_lines lines_after_decorators trailing_whitespace indent default_indent default_newline "
    "encoding has_trailing_newline star posonly_ind asynchronous first_colon second_colon leading_whitespace".split()
)


def is_skipped(field: str) -> bool:
    """Whether walks over the significant nodes skip a field; nodes that libcst has not parsed itself may lack it."""
    return field in _SKIPPED or field.startswith("whitespace")


def fields_of(types: Collection[type[cst.CSTNode]]) -> Fields:
    """Return the fields that the installed libcst gives to its nodes."""
    return {each: [field.name for field in dataclasses.fields(each)] for each in types}


def python_parser_serves(filled: Fields, fields: Fields, python: tuple[int, int] = sys.version_info[:2]) -> bool:
    """Whether Python's own parser serves.

    Args:
        filled: the fields that are filled from its tree.
        fields: all fields of these nodes.
        python: the version of Python.
    """
    oldest, newest = TESTED_PYTHONS
    return oldest <= python <= newest and all(
        set(filled[each]) == {name for name in names if name in filled[each] or not is_skipped(name)}
        for each, names in fields.items()
    )


_PYTHON_PARSER_SERVES = from_ast is not None and python_parser_serves(from_ast.FILLED, fields_of(from_ast.FILLED))


def read(text: str, adopt: Callable[[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]], object]) -> Reader | None:
    """Parse a text by Python's own parser.

    Args:
        text: the program.
        adopt: adds the parents of the nodes below one that libcst itself has made.

    Returns:
        The nodes and their places; None where libcst's parser has to serve.

    Raises:
        Deep: the text is nested too deeply for either parser.
        MemoryError: there is not enough.
    """
    try:
        tree = parsed(text)
        return from_ast.Reader(text, tree, adopt) if _PYTHON_PARSER_SERVES else None
    except (SyntaxError, ValueError, RecursionError):
        # libcst may read what a newer Python reads; and its parser needs none of Python's stack.
        return None
