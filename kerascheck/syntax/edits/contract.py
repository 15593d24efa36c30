"""The result of edit builders: valid edits, or CannotEdit."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Edit
from kerascheck.syntax.tree import Tree

Edits = tuple[Edit, ...]


class CannotEdit(Exception):
    """The form of the code allows no minimal edit."""


def insert(position: int, content: str) -> Edit:
    return Edit(position, position, content)


def checked(tree: Tree, node: cst.CSTNode, *edits: Edit) -> Edits:
    """Return ``edits`` if they are valid at ``node``: before Python 3.12, f-strings allow few characters."""
    has_them = any(character in edit.content for edit in edits for character in "'\"\\#\r\n")
    if has_them and any(isinstance(holder, cst.FormattedString) for holder in tree.ancestors(node)):
        raise CannotEdit("inside of an f-string")
    return edits
