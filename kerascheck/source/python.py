"""What Python's own parser says of a text, in a thirtieth of the time that libcst takes."""

from __future__ import annotations

import ast
import contextlib
import enum
import symtable
import sys
import warnings
from collections.abc import Iterator
from types import FrameType

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
    try:
        with usual_recursion_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(code, "<source>", "exec")  # type: ignore[arg-type]  # takes bytes, too
    except RecursionError:
        return Verdict.DEEP
    except MemoryError:
        # The parser says so too where it runs out of stack, which it does on short texts.
        if len(code) > _LONG:
            raise
        return Verdict.DEEP
    except SyntaxError as problem:
        return Verdict.DEEP if is_about_depth(problem) else Verdict.REFUSED
    except ValueError:
        return Verdict.REFUSED
    return Verdict.FINE


class Deep(Exception):
    """A text is nested deeper than Python compiles: see :attr:`Verdict.DEEP`."""


def without_warnings(code: str | bytes) -> ast.Module:
    """``ast.parse`` that keeps to itself what it thinks of unknown escapes, which Python 3.12 writes on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def parsed(code: str) -> ast.Module:
    """What Python's parser makes of ``code``, whatever the recursion limit is at the moment.

    Raises:
        Deep: it is nested too deeply.
        SyntaxError, ValueError: it does not parse, or is newer than this Python.
        MemoryError: there is not enough.
    """
    try:
        with usual_recursion_limit():
            return without_warnings(code)
    except RecursionError:
        raise Deep from None
    except MemoryError:
        if len(code) > _LONG:
            raise
        raise Deep from None
    except SyntaxError as problem:
        if is_about_depth(problem):
            raise Deep from None
        raise


def is_about_depth(problem: SyntaxError) -> bool:
    """Whether Python's parser counted too many brackets or indentations."""
    return "too many" in str(problem)


@contextlib.contextmanager
def usual_recursion_limit() -> Iterator[None]:
    """Python compiles what is nested as deeply as it would elsewhere, however deep the calls may go here."""
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(min(limit, depth + _USUAL_RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
