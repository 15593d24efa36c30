"""The written form of code, if it matters beyond the meaning.

Example:
    >>> written.is_left_unused(call("keras.callbacks.TensorBoard()"))
    True
"""

from __future__ import annotations

from kerascheck.interpreter.code_location import is_left_unused, takes_parameter
from kerascheck.syntax.edits import imports_as_written, names_as_written
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import names_parameter

__all__ = [
    "Tree",
    "imports_as_written",
    "is_left_unused",
    "names_as_written",
    "names_parameter",
    "takes_parameter",
]
