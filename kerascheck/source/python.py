"""What Python's own parser says of a text, in a thirtieth of the time that libcst takes."""

from __future__ import annotations

import enum
import symtable
import sys
import warnings

_USUAL_RECURSION_LIMIT = 1000
_LONG = 1_000_000


class Verdict(enum.Enum):
    """Whether Python takes a text for a program."""

    FINE = enum.auto()
    REFUSED = enum.auto()
    """Does not parse, or is newer than this Python: libcst decides."""
    DEEP = enum.auto()
    """Nested deeper than Python itself compiles, so that nobody can run it. libcst takes time and memory that grow
    with the square of the depth, and may overflow the native stack, which kills the process."""


def verdict(code: str | bytes) -> Verdict:
    """What Python says of ``code``, whatever the recursion limit is at the moment; raises MemoryError where it needs more than there is."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(min(limit, _depth() + _USUAL_RECURSION_LIMIT))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(code, "<source>", "exec")
    except RecursionError:
        return Verdict.DEEP
    except MemoryError:
        # The parser says so too where it runs out of stack, which it does on short texts.
        if len(code) > _LONG:
            raise
        return Verdict.DEEP
    except SyntaxError as problem:
        return Verdict.DEEP if "too many" in str(problem) else Verdict.REFUSED
    except ValueError:
        return Verdict.REFUSED
    finally:
        sys.setrecursionlimit(limit)
    return Verdict.FINE


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
