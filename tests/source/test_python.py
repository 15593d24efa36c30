"""Errors from Python's own parser."""

import sys

import pytest

from kerascheck.source.python import is_refused


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1", False),
        (b"# coding: latin-1\nx = '\xe9'", False),
        (b"#!/usr/bin/env python\n# coding: latin-1\nx = '\xe9'", False),
        (b"\xef\xbb\xbfx = 1", False),
        ("def f():\n    nonlocal x", False),
        ("x = (", True),
        (b"x = '\xe9'", True),
        ("x = '\0'", True),
        ("x = " + "[" * 150 + "]" * 150, False),
        ("x = " + "[" * 300 + "]" * 300, False),
        ("x = " + "[" * 5000 + "]" * 5000, False),
        ("".join(" " * level + "if x:\n" for level in range(150)) + " " * 150 + "y", False),
        ("x = " + "+".join(["1"] * 9000), False),
        ("x = a" + ".b()" * 9000, False),
    ],
)
def test_rejection_is_independent_of_the_recursion_limit(code, expected):
    limit = sys.getrecursionlimit()
    assert is_refused(code) is expected
    sys.setrecursionlimit(100_000)
    try:
        assert is_refused(code) is expected
        assert sys.getrecursionlimit() == 100_000
    finally:
        sys.setrecursionlimit(limit)
