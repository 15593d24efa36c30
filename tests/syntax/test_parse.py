"""Python's own parser is used only with known versions of libcst and Python."""

import libcst as cst
import pytest
from parsers import unknown_field_in_call

from kerascheck.syntax import parse
from kerascheck.syntax.from_ast import FILLED
from kerascheck.syntax.tree import TooDeep, Tree

FIELDS = parse.fields_of(FILLED)


def test_pythons_parser_supports_the_installed_libcst():
    assert parse.python_parser_serves(FILLED, FIELDS)


@pytest.mark.parametrize(
    ("node", "fields", "serves"),
    [
        (cst.Call, [*FIELDS[cst.Call], "type_arguments"], False),
        (cst.Pass, [*FIELDS[cst.Pass], "value"], False),
        (cst.Call, ["func"], False),
        (cst.Call, [*FIELDS[cst.Call], "whitespace_after_args"], True),
    ],
    ids=["new", "new in a node without fields", "gone", "white space"],
)
def test_unknown_fields_select_libcsts_parser(node, fields, serves):
    assert parse.python_parser_serves(FILLED, {**FIELDS, node: fields}) is serves


@pytest.mark.parametrize(
    ("python", "serves"), [((3, 9), False), ((3, 10), True), ((3, 14), True), ((3, 15), False), ((4, 0), False)]
)
def test_untested_pythons_select_libcsts_parser(python, serves):
    assert parse.python_parser_serves(FILLED, FIELDS, python) is serves


def test_an_unknown_field_of_call_makes_libcst_parse():
    with unknown_field_in_call():
        tree = Tree("f(a, b)\n")
    # Converted nodes lack the comma.
    assert tree.written(tree.root) is tree.root and tree.root.code == tree.text


def test_both_parsers_report_too_deep_code():
    with unknown_field_in_call(), pytest.raises(TooDeep):
        Tree("[" * 300 + "]" * 300)
