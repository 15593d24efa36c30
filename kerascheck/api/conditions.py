"""Conditions of an execution path, and the calls before it.

Example:
    >>> conditions.in_session(call("with tf.compat.v1.Session(): f()").path)
    True
"""

from __future__ import annotations

from kerascheck.interpreter.code_location import expects_one, handles_versions, in_session, is_off_by_default
from kerascheck.meaning.graph.first_trace import only_in_first_trace
from kerascheck.syntax.conditions import happens_before, written_conditions

__all__ = [
    "expects_one",
    "handles_versions",
    "happens_before",
    "in_session",
    "is_off_by_default",
    "only_in_first_trace",
    "written_conditions",
]
