"""Builders of minimal edits: from a node of the tree to ``Edit`` by offsets.

Builders never regenerate statements, so formatting and comments of all other code stay. Every builder returns the edits in
the order for the list of a :class:`~kerascheck.finding.Fix`; a fix may join the edits of several builders. If the form of the
code allows no such edit they raise :class:`CannotEdit`, so a fix never contains only part of its edits;
:func:`kerascheck.fixes.offer.offer` turns the exception into "no fix".
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
from kerascheck.syntax.edits.statements import (
    add_decorator,
    assign_back,
    delete_statement,
    extract_function,
    move_statements,
)

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
    "extract_function",
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
