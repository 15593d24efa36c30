"""What Python's own parser says of a text, in a thirtieth of the time that libcst takes."""

from __future__ import annotations

import ast
import contextlib
import symtable
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType

_USUAL_RECURSION_LIMIT = 1000
_LONG = 1_000_000


def is_refused(code: str | bytes) -> bool:
    """Whether Python's parser refuses ``code``, so that libcst has to decide: it does not parse, or is newer than this Python.

    The recursion limit of the moment does not matter. Code that is nested deeper than Python compiles is not refused: nobody can run
    it, and libcst takes time and memory for it that grow with the square of the depth, or overflows the native stack.

    Raises:
        MemoryError: there is not enough.
    """
    # A symbol table takes two thirds of the time of ast.parse, but has errors of its own, as of a nonlocal name that is not bound.
    return _is_refused(_symbol_table, code) and _is_refused(ast.parse, code)


def _symbol_table(code: str | bytes) -> object:
    return symtable.symtable(code, "<source>", "exec")  # type: ignore[arg-type]  # takes bytes, too


def _is_refused(read: Callable[[str | bytes], object], code: str | bytes) -> bool:
    """Whether ``read``, which parses, refuses ``code``."""
    try:
        with usual_recursion_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(code)
    except RecursionError:
        return False
    except MemoryError:
        # The parser says so too where it runs out of stack, which it does on short texts.
        if len(code) > _LONG:
            raise
        return False
    except SyntaxError as problem:
        return not is_about_depth(problem)
    except ValueError:
        return True
    return False


class Deep(Exception):
    """A text is nested deeper than Python compiles."""


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
