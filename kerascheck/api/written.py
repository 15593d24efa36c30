"""The written form of code, for rules that need more than its meaning.

Example:
    >>> written.takes_parameter(call("model.fit(x)").given("x"), "training")  # unknown, so it may
    True
"""

from __future__ import annotations

from kerascheck.interpreter.code_location import takes_parameter
from kerascheck.syntax.written import names_parameter

__all__ = [
    "names_parameter",
    "takes_parameter",
]
