"""What Python's own parser says of a text."""

import sys

import pytest

from kerascheck.source.python import Verdict, verdict


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1", Verdict.FINE),
        (b"# coding: latin-1\nx = '\xe9'", Verdict.FINE),
        ("x = (", Verdict.REFUSED),
        ("x = '\0'", Verdict.REFUSED),
        ("x = " + "[" * 150 + "]" * 150, Verdict.FINE),
        ("x = " + "[" * 300 + "]" * 300, Verdict.DEEP),
        ("x = " + "[" * 5000 + "]" * 5000, Verdict.DEEP),
        ("".join(" " * level + "if x:\n" for level in range(150)) + " " * 150 + "y", Verdict.DEEP),
        ("x = " + "+".join(["1"] * 9000), Verdict.DEEP),
        ("x = a" + ".b()" * 9000, Verdict.DEEP),
    ],
)
def test_verdicts_whatever_the_recursion_limit_is(code, expected):
    limit = sys.getrecursionlimit()
    assert verdict(code) is expected
    sys.setrecursionlimit(100_000)
    try:
        assert verdict(code) is expected
        assert sys.getrecursionlimit() == 100_000
    finally:
        sys.setrecursionlimit(limit)
