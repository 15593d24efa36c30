"""The written form of code, if it matters beyond the meaning.

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
