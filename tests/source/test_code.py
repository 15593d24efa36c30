"""What is left of a text without what is said about it, against Python's own tokenizer and parser."""

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

# Modules of Python's own library with strings and comments of every sort.
SAMPLES = [ast, io, json, re, tokenize]
FILES = sorted(
    {Path(module.__file__) for module in SAMPLES}
    | set(rules_folder().rglob("*.py"))
    | set(Path(__file__).parents[1].rglob("test_*.py"))
)
# A test for each of a thousand files would take longer to report than to run.
GROUPS = {
    "/".join(folder.parts[-2:]): list(files) for folder, files in itertools.groupby(FILES, lambda path: path.parents[1])
}


def told_by_python(text):
    """``text`` with its comments, and its string statements but for the formatted ones, blanked out, by the tokenizer and the parser."""
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
def test_what_is_left_is_what_python_reads(group):
    for path in GROUPS[group]:
        text = path.read_text("utf-8")
        assert without_comments(text) == told_by_python(text), path


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
        # Not Python, as cells of notebooks may be: what a quote opens ends with its line.
        ("it's # a\nx = 'a' # b\n", "it's\nx = 'a'\n"),
        ("", ""),
    ],
)
def test_nothing_but_code_is_left(text, left):
    found = without_comments(text)
    assert len(found) == len(text)
    assert re.sub(r"[ \t]+(?=[\r\n]|\Z)", "", found) == left


def test_a_part_of_a_statement_keeps_its_strings():
    assert without_comments("'a'", expression=True) == "'a'"
    assert without_comments("('a'  # b\n 'c')", expression=True).split() == ["('a'", "'c')"]


def test_strings_are_emptied_for_what_looks_for_names():
    assert without_strings('print(\'tf.contrib\', """a\nb""", f\'{x}\')\n') == "print('', \"\", f'')\n"


def test_searches_are_spared_long_runs_of_white_space():
    assert (
        compact("x = 1   \n\n    \n\ndef f():  \r\n    return '''a\n\nb'''\n")
        == "x = 1\ndef f():\n    return '''a\nb'''"
    )
