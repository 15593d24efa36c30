"""Removal of comments, docstrings and strings, compared with Python's own tokenizer and parser."""

import ast
import io
import itertools
import json
import re
import tokenize
from pathlib import Path

import pytest

from kerascheck.catalog.registry import rules_folder
from kerascheck.source.code import compact, without_comments, without_strings

# Modules of the standard library with strings and comments of every kind.
SAMPLES = [ast, io, json, re, tokenize]
FILES = sorted(
    {Path(module.__file__) for module in SAMPLES}
    | set(rules_folder().rglob("*.py"))
    | set(Path(__file__).parents[1].rglob("test_*.py"))
)
# Reporting one test per file for a thousand files would take longer than running them.
GROUPS = {
    "/".join(folder.parts[-2:]): list(files) for folder, files in itertools.groupby(FILES, lambda path: path.parents[1])
}


def blanked_by_python(text):
    """``text`` without comments and string statements, except formatted strings, according to the tokenizer and parser."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spoken = [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    lines = text.encode().splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, (str, bytes))
        ):
            places = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            spoken.append(tuple(starts[line - 1] + len(lines[line - 1][:column].decode()) for line, column in places))
    for start, end in spoken:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


@pytest.mark.parametrize("group", GROUPS)
def test_without_comments_agrees_with_python(group):
    for path in GROUPS[group]:
        text = path.read_text("utf-8")
        assert without_comments(text) == blanked_by_python(text), path


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = 1  # tf.contrib\n", "x = 1\n"),
        ("x = '# no comment'  # one\n", "x = '# no comment'\n"),
        ("'''a\nb'''\nx = '''a\nb'''\n", "\n\nx = '''a\nb'''\n"),
        ("def f():\n    'a' 'b'\n    return 'c'\n", "def f():\n\n    return 'c'\n"),
        ("def f(): 'a'\nclass A: r'a'; x = 'b'\n", "def f():\nclass A:     ; x = 'b'\n"),
        ("def f(\n    x,\n) -> str: 'a'\n", "def f(\n    x,\n) -> str:\n"),
        ("x: 'A' = 'b'\ny = lambda: 'c'\n", "x: 'A' = 'b'\ny = lambda: 'c'\n"),
        ("f(\n    'a'\n    'b'\n)\n", "f(\n    'a'\n    'b'\n)\n"),
        ("x = \\\n'a'\n# \\\n'b'\n", "x = \\\n'a'\n\n\n"),
        ("'a'.join(x)\n'a' % x\n", "'a'.join(x)\n'a' % x\n"),
        ("f'{sess.run(x)}'\n", "f'{sess.run(x)}'\n"),
        ("x = 1; 'a'; y = 'b'  # c\r\n# d\r\nz\r", "x = 1;    ; y = 'b'\r\n\r\nz\r"),
        ("x = '\\\r\n#'  # a\r\n", "x = '\\\r\n#'\r\n"),
        ("'''a\\''' b'''\nx\n", "\nx\n"),
        # Not Python, as notebook cells may be: an unmatched quote ends with its line.
        ("it's # a\nx = 'a' # b\n", "it's\nx = 'a'\n"),
        ("", ""),
    ],
)
def test_only_code_remains(text, left):
    found = without_comments(text)
    assert len(found) == len(text)
    assert re.sub(r"[ \t]+(?=[\r\n]|\Z)", "", found) == left


def test_an_expression_keeps_its_strings():
    assert without_comments("'a'", expression=True) == "'a'"
    assert without_comments("('a'  # b\n 'c')", expression=True).split() == ["('a'", "'c')"]


def test_without_strings_empties_strings():
    assert without_strings('print(\'tf.contrib\', """a\nb""", f\'{x}\')\n') == "print('', \"\", f'')\n"


def test_compact_removes_long_runs_of_white_space():
    assert (
        compact("x = 1   \n\n    \n\ndef f():  \r\n    return '''a\n\nb'''\n")
        == "x = 1\ndef f():\n    return '''a\nb'''"
    )
