"""Builders of minimal edits: from a place in the tree to ``Edit`` by position.

No statement is generated anew, so formatting and comments of everything else stay.
Every builder returns the edits in the order in which they are to be listed in a
:class:`~kerascheck.finding.Fix`; a fix may join those of several builders. Where the
form of the code allows no such edit they raise :class:`CannotEdit`, so that a fix is
never built from a part of its edits; :func:`kerascheck.fixes.offer.offer` turns that into "no fix".
"""

from kerascheck.syntax.edits.chains import Slot, arrange_links, link_range, move_call, swap_calls
from kerascheck.syntax.edits.contract import CannotEdit, Edits
from kerascheck.syntax.edits.expressions import (
    add_keyword,
    append_method,
    call_at,
    keep_arguments,
    remove_argument,
    rename_callee,
    rename_method,
    replace,
    set_argument_value,
)
from kerascheck.syntax.edits.imports import (
    end_of_imports,
    imports_as_written,
    insert_after_imports,
    names_as_written,
)
from kerascheck.syntax.edits.spelling import free_name, spelling
from kerascheck.syntax.edits.statements import add_decorator, assign_back, delete_statement, move_statements

__all__ = [
    "CannotEdit",
    "Edits",
    "Slot",
    "add_decorator",
    "add_keyword",
    "append_method",
    "arrange_links",
    "assign_back",
    "call_at",
    "delete_statement",
    "end_of_imports",
    "free_name",
    "imports_as_written",
    "insert_after_imports",
    "keep_arguments",
    "link_range",
    "move_call",
    "move_statements",
    "names_as_written",
    "remove_argument",
    "rename_callee",
    "rename_method",
    "replace",
    "set_argument_value",
    "spelling",
    "swap_calls",
]
