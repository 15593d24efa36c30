"""Omission of long data before parsing, with unchanged offsets."""

import ast
import random
import re

import pytest

from kerascheck.source import data
from kerascheck.source.data import without_long_data


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(data, "_LONG", 4)


def shown(text):
    """The text with omitted parts as dots."""
    left = without_long_data(text)
    assert len(left) == len(text) and [*map(len, left.split("\n"))] == [*map(len, text.split("\n"))]
    ast.parse(left)
    return re.sub(r"\(\s*ǂ\s*(\[\s*'''\s*'''\s*\]\s*)?\)", "(...)", left)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = [1, 2, 3, 4, 5]; y = 1", "x = (...); y = 1"),
        ("x = [\n1,\n2,\n3,\n4,\n5]", "x = (...)"),
        ("x = np.array([-1., 2e-5, 0x1F, 1_0, nan, None, True], int)", "x = np.array((...), int)"),
        ("x = {'a': 1, 'b': [2, 3],  # [\n 'c': (4,)}", "x = (...)"),
        ("x = [[1, 2], [3, 4], f(5)]", "x = [[1, 2], [3, 4], f(5)]"),
        ("x = [[1, 2, 3, 4, 5], a]", "x = [(...), a]"),
        ("x = [(1, 2, 3, 4, 5), 'ab' 'c' 'd' 'e' 'f']", "x = (...)"),
        ("x = ('a'\n 'b' r'c' \"d\"\n '''e''')", "x = (...)"),
        ("x = 'a' 'b' 'c' \\\n 'd' 'e'; y = f(1)", "x = (...); y = f(1)"),
        ("'a' 'b' 'c' 'd' 'e'\ny = 1", "(...)\ny = 1"),
        # Names, calls and computed values may matter.
        ("x = [1, 2, 3, 4, f'{y}']", "x = [1, 2, 3, 4, f'{y}']"),
        ("x = 'a' 'b' 'c' 'd' f'{y}' 'e'", "x = 'a' 'b' 'c' 'd' f'{y}' 'e'"),
        ("x = [1, 2, 3, 4, y]", "x = [1, 2, 3, 4, y]"),
        ("f(1, 2, 3, 4, 5)", "f(1, 2, 3, 4, 5)"),
        ("x[1, 2, 3, 4, 5]", "x[1, 2, 3, 4, 5]"),
        ("x = (lambda: 0, 1, 2, 3, 4)", "x = (lambda: 0, 1, 2, 3, 4)"),
        # Similar forms.
        ("x = '[1, 2, 3, 4, 5]'  # [1, 2, 3, 4, 5]\ny = (1)", "x = '[1, 2, 3, 4, 5]'  # [1, 2, 3, 4, 5]\ny = (1)"),
        ("for i in [1, 2, 3, 4, 5]: print(i)", "for i in (...): print(i)"),
    ],
)
def test_long_data_is_omitted(short, text, left):
    assert shown(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "x = [1, 2, 3, 4, 5",
        "x = 1, 2, 3, 4, 5)",
        "x = ']' '[' ']' '[' 'a', [",
        "x = '''[1, 2, 3, 4, 5]",
        ")" * 9 + ",,,,,",
    ],
)
def test_text_with_syntax_errors_keeps_its_length(short, text):
    assert len(without_long_data(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = ['a', 'b', 'c', 'd']", "x = (ǂ['''         '''])"),
        ("x = [\n 1,\n 2, 3,\n 4, 5\n]", "x = (\nǂ[ \n'''   \n ''']\n)"),
        # No line has room for quotes.
        ("x = [\n1,\n2,\n3,\n4,\n5]", "x = (\nǂ \n  \n  \n  \n )"),
        ("x = (1,2,3,4,)", "x = (ǂ       )"),
    ],
)
def test_placeholder_expressions(short, text, left):
    assert without_long_data(text) == left


def test_short_tables_stay():
    text = "x = [" + ", ".join(map(str, range(1500))) + "]"
    assert without_long_data(text) is text


@pytest.mark.parametrize("seed", range(20))
def test_other_code_parses_the_same_for_any_table(short, seed):
    draw = random.Random(seed)

    def value(depth):
        if depth and draw.random() < 0.6:
            return [value(depth - 1) for _ in range(draw.randrange(6))]
        return draw.choice([1, -2.5, "a'[", 'b"#', None, True, "\\"])

    lines = [f"x{number} = {value(3)!r}  # [{draw.random()}" for number in range(30)]
    text = "\n".join(lines)
    before, after = ast.parse(text), ast.parse(without_long_data(text))
    assert len(before.body) == len(after.body) == 30
    for one, other in zip(before.body, after.body):
        assert (one.lineno, one.end_lineno, one.col_offset) == (other.lineno, other.end_lineno, other.col_offset)
        assert ast.dump(one) == ast.dump(other) or "id='ǂ'" in ast.dump(other)
