"""Parsing with Python's own parser, which takes a thirtieth of libcst's time."""

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
    """Whether Python's parser rejects ``code``, so libcst has to decide: a syntax error, or newer syntax.

    The current recursion limit does not matter. Code nested too deeply for Python to compile is not rejected: nobody can run it, and
    libcst takes time and memory quadratic in its depth, or overflows the native stack.

    Raises:
        MemoryError: memory is exhausted.
    """
    # A symbol table takes two thirds of the time of ast.parse, but raises errors of its own, such as an unbound nonlocal name.
    return _is_refused(_symbol_table, code) and _is_refused(ast.parse, code)


def _symbol_table(code: str | bytes) -> object:
    return symtable.symtable(code, "<source>", "exec")  # type: ignore[arg-type]  # takes bytes, too


def _is_refused(read: Callable[[str | bytes], object], code: str | bytes) -> bool:
    """Whether the parser ``read`` rejects ``code``."""
    try:
        with usual_recursion_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(code)
    except RecursionError:
        return False
    except MemoryError:
        # The parser also says so when it runs out of stack, which happens on short texts.
        if len(code) > _LONG:
            raise
        return False
    except SyntaxError as problem:
        return not is_about_depth(problem)
    except ValueError:
        return True
    return False


class Deep(Exception):
    """A text is nested too deeply for Python to compile."""


def without_warnings(code: str | bytes) -> ast.Module:
    """Run ``ast.parse`` without warnings about unknown escapes, which Python 3.12 prints to standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def parsed(code: str) -> ast.Module:
    """Parse ``code`` with Python's parser, whatever the current recursion limit.

    Raises:
        Deep: it is nested too deeply.
        SyntaxError, ValueError: it does not parse, or is newer than this Python.
        MemoryError: memory is exhausted.
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
    """Whether Python's parser reports too many brackets or indentations."""
    return "too many" in str(problem)


@contextlib.contextmanager
def usual_recursion_limit() -> Iterator[None]:
    """Restore the default recursion limit, so that Python compiles the usual depth whatever the current limit is."""
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
