"""What builders of edits give: edits that may stand there, or CannotEdit; and the fix that is made of them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.syntax.tree import Tree

Edits = tuple[Edit, ...]


class CannotEdit(Exception):
    """The form of the code allows no minimal edit."""


def make_fix(applicability: Applicability, message: str, build: Callable[[], Edits]) -> Fix | None:
    """The fix made of the edits that ``build`` returns; None where it raises CannotEdit or there is nothing to edit."""
    try:
        edits = build()
    except CannotEdit:
        return None
    return Fix(applicability, message, tuple(edits)) if edits else None


def insert(position: int, content: str) -> Edit:
    return Edit(position, position, content)


def checked(tree: Tree, node: cst.CSTNode, *edits: Edit) -> Edits:
    """``edits``, if they may stand where ``node`` does: before Python 3.12 f-strings take few characters."""
    has_them = any(character in edit.content for edit in edits for character in "'\"\\#\r\n")
    if has_them and any(isinstance(holder, cst.FormattedString) for holder in tree.ancestors(node)):
        raise CannotEdit("inside of an f-string")
    return edits
