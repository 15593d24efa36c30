"""Notebooks as one Python text that keeps every line and column."""

import ast
import json

import pytest

from kerascheck.source import Unreadable, decode
from kerascheck.source.notebook import blank, looks_like_one


def notebook(*cells, **metadata):
    """A notebook of (type, source) cells; a bare string is a code cell."""
    cells = [cell if isinstance(cell, tuple) else ("code", cell) for cell in cells]
    document = {
        "nbformat": 4,
        "metadata": metadata,
        "cells": [{"cell_type": kind, "source": source} for kind, source in cells],
    }
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("code", "blanked"),
    [
        ("!pip install keras\nx = 1", "pass              \nx = 1"),
        ("if x:\n    !ls\ny", "if x:\n    0  \ny"),
        ("if x:\n    %cd data\ny", "if x:\n    pass    \ny"),
        ("files = !ls", "files = _  "),
        ("a, b = %sql x", "a, b = _     "),
        ("x = %time f()", "x =       f()"),
        ("%time f()", "pass; f()"),
        ("if x:\n  %timeit -n 3 -r2 f(x)", "if x:\n  pass;            f(x)"),
        ("%time for x in y: f()", "pass                 "),
        ("%%time\nf()", "      \nf()"),
        ("\n%%capture out\nf()", "\n             \nf()"),
        ("%%bash\nls -l\n", "      \n     \n"),
        ("%%writefile a.py\nx = (", "                \n     "),
        ("!ls \\\n  -l\nx", "pass \n    \nx"),
        ("?f\nf?\nf.g??\nx", "0 \n0 \npass \nx"),
        ("x = '''\n%magic\n!ls\n'''", "x = '''\n%magic\n!ls\n'''"),
        ("x = (a\n%b)", "x = (a\n%b)"),
        ("x = a \\\n%b", "x = a \\\n%b"),
        ("x = a % b; y = a != b; z %= 3", "x = a % b; y = a != b; z %= 3"),
        ("x = 'what?'\n# really?", "x = 'what?'\n# really?"),
        ("print('!') # '''\n!ls -l", "print('!') # '''\npass  "),
        ('s = "it\'s"\n!ls -l', 's = "it\'s"\npass  '),
        ("pip install -q keras", "pass                "),
        ("cd = 3\nls in cd", "cd = 3\nls in cd"),
        ("cd \\Users\\x\nls \\\\server\nx", "pass       \npass       \nx"),
        ("ls \\\n= 3", "ls \\\n= 3"),
        ("%matplotlib inline\r\nx", "pass              \r\nx"),
    ],
)
def test_non_python_is_blanked_in_place(code, blanked):
    result = blank(code)
    assert result == blanked
    assert len(result) == len(code)
    ast.parse(result)


def test_cells_are_counted_over_all_types_and_lines_within_the_cell():
    source = decode("n.ipynb", notebook(("markdown", "# Title"), ["import a\n", "!ls"], ("raw", "x"), "b = 1\nc = 2\n"))
    assert source.text == "import a\n0  \nb = 1\nc = 2\n"
    place = source.locate(source.text.index("c"), source.text.index("c") + 1)
    assert (place.cell, place.line, place.column, place.end_column) == (3, 2, 1, 2)


def test_an_indented_cell_keeps_its_columns():
    source = decode("n.ipynb", notebook("  # note\n\n  a = 1\n  b = 2"))
    ast.parse(source.text)
    place = source.locate(source.text.index("b"), source.text.index("b") + 1)
    assert (place.cell, place.line, place.column) == (0, 4, 3)


@pytest.mark.parametrize("first", ["%%time", "# note", ""])
def test_a_cell_counts_as_indented_by_its_first_statement(first):
    assert "if True" not in decode("n.ipynb", notebook(first + "\nif x:\n  y")).text


def test_other_languages_have_no_cells():
    source = decode("n.ipynb", notebook("x <- 1", kernelspec={"language": "R", "name": "ir"}))
    assert (source.text, source.cells) == ("", ())


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"{\n  'a'}", "is not a notebook: Expecting property name", 2),
        (b"[]", "it has no list of cells", 1),
        (b'{"worksheets": []}', "format 3", 1),
        (b"\xff", "not valid utf-8", 1),
        (b"[" * 200_000, "nested too deeply", 1),
    ],
)
def test_invalid_notebooks_are_reported(data, message, line):
    with pytest.raises(Unreadable) as caught:
        decode("n.ipynb", data)
    assert message in caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize("data", [b"", b" \n", b"{}", b"\xef\xbb\xbf{}\n", notebook()])
def test_an_empty_notebook_has_no_cells(data):
    source = decode("n.ipynb", data)
    assert (source.text, source.cells) == ("", ())


@pytest.mark.parametrize(
    "data, is_one",
    [
        (notebook("f()"), True),
        (notebook("f()")[:40], True),
        (b'\xef\xbb\xbf {\n "metadata" : {}, "nbformat": 4}', True),
        (b'{"cells"}', False),
        (b'{"metadata": 1}', False),
        (b"", False),
        (b"{}", False),
        (b'x = {"cells": []}', False),
    ],
)
def test_notebooks_are_detected_by_their_beginning(data, is_one):
    assert looks_like_one(data) == is_one
