"""Python's own parser serves only where libcst and Python are known."""

import libcst as cst
import pytest
from parsers import unknown_field_in_call

from kerascheck.syntax import parse
from kerascheck.syntax.from_ast import FILLED
from kerascheck.syntax.tree import TooDeep, Tree

FIELDS = parse.fields_of(FILLED)


def test_pythons_parser_serves_with_the_libcst_that_is_installed():
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
def test_libcsts_parser_serves_where_it_has_other_fields(node, fields, serves):
    assert parse.python_parser_serves(FILLED, {**FIELDS, node: fields}) is serves


@pytest.mark.parametrize(
    ("python", "serves"), [((3, 9), False), ((3, 10), True), ((3, 14), True), ((3, 15), False), ((4, 0), False)]
)
def test_libcsts_parser_serves_on_other_pythons(python, serves):
    assert parse.python_parser_serves(FILLED, FIELDS, python) is serves


def test_libcst_makes_the_nodes_where_its_call_has_an_unknown_field():
    with unknown_field_in_call():
        tree = Tree("f(a, b)\n")
    # Nodes that libcst has not made itself lack the comma.
    assert tree.written(tree.root) is tree.root and tree.root.code == tree.text


def test_what_is_too_deep_is_told_whichever_parser_serves():
    with unknown_field_in_call(), pytest.raises(TooDeep):
        Tree("[" * 300 + "]" * 300)
