"""Edits of statements, as pairs of text before and after."""

import libcst as cst
import pytest
from edit_cases import applied, call, check, compound, small

from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds.a()  # c", "ds = ds.a()  # c"),
        ("if x: ds.a()", "if x: ds = ds.a()"),
        ("(ds\n  .a())", "ds = (ds\n  .a())"),
        ("def f():\n\tds.a();", "def f():\n\tds = ds.a();"),
    ],
)
def test_assign_back(before, after):
    check(before, after, lambda tree: edits.assign_back(tree, compound(tree, cst.Expr), "ds"))
    check(before, after, lambda tree: edits.assign_back(tree, tree.parents[compound(tree, cst.Expr)], "ds"))


def test_assign_back_requires_an_expression_statement():
    with pytest.raises(CannotEdit):
        applied("x = 1", lambda tree: edits.assign_back(tree, small(tree, "x = 1"), "ds"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\ngone()\nb\n", "a\nb\n"),
        ("a\ngone()  # c\nb\n", "a\nb\n"),
        ("a\n# c\ngone()\nb\n", "a\n# c\nb\n"),
        ("gone()", ""),
        ("a\ngone()", "a\n"),
        ("gone();\na", "a"),
        ("a; gone()", "a"),
        ("a; gone();  # c", "a;  # c"),
        ("gone(); a  # c", "a  # c"),
        ("a; gone(); b", "a; b"),
        ("if x: gone()", "if x: pass"),
        ("if x: gone(); a", "if x: a"),
        ("if x: a ; gone()  # c", "if x: a  # c"),
        ("if x:\n    gone()  # c\na", "if x:\n    pass\na"),
        ("if x:\n    # c\n    gone()\nelse:\n    a", "if x:\n    # c\n    pass\nelse:\n    a"),
        ("if x:\n    a\n    gone()\n", "if x:\n    a\n"),
        ("def f():\n    'doc'\n    gone()\n", "def f():\n    'doc'\n"),
        ("gone(\n    1,  # c\n)\na", "a"),
        ("gone('''\n''')\na", "a"),
        ("a\n(gone())\nb", "a\nb"),
        ("a\ngone() \\\n    .b()\nb", "a\nb"),
        ("\tif_ = 1\n".strip() + "\ngone()\n\n\nb", "if_ = 1\n\n\nb"),
    ],
)
def test_delete_statement(before, after):
    def build(tree):
        holders = tree.ancestors(call(tree, "gone"))
        return edits.delete_statement(tree, next(h for h in holders if isinstance(h, cst.BaseSmallStatement)))

    check(before, after, build, comments=False)


@pytest.mark.parametrize(
    ("before", "kind", "after"),
    [
        ("a\nif x:\n    b\n    # c\nd\n", cst.If, "a\n    # c\nd\n"),
        ("a\n# c\n@e\ndef f():\n    b  # c\n\nd\n", cst.FunctionDef, "a\n# c\n\nd\n"),
        ("class A:\n    @e\n    @g\n    def f(): pass\n", cst.FunctionDef, "class A:\n    pass\n"),
        ("for i in x: a; b;  # c\nd", cst.For, "d"),
    ],
)
def test_delete_compound_statement(before, kind, after):
    check(before, after, lambda tree: edits.delete_statement(tree, compound(tree, kind)), comments=False)


def test_elif_is_not_deletable():
    tree = Tree("if a: b\nelif c: d\n")
    inner = compound(tree, cst.If).orelse
    with pytest.raises(CannotEdit):
        edits.delete_statement(tree, inner)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): pass", "@tf.function\ndef f(): pass"),
        ("a\nasync def f(): pass", "a\n@tf.function\nasync def f(): pass"),
        ("class A:\n\t# c\n\tdef f(self):\n\t\tpass", "class A:\n\t# c\n\t@tf.function\n\tdef f(self):\n\t\tpass"),
        ("@staticmethod\n# c\ndef f(): pass", "@staticmethod\n# c\n@tf.function\ndef f(): pass"),
        (
            "if x:\n    @a(\n        1\n    )\n    def f(): pass",
            "if x:\n    @a(\n        1\n    )\n    @tf.function\n    def f(): pass",
        ),
    ],
)
def test_add_decorator(before, after):
    check(before, after, lambda tree: edits.add_decorator(tree, tree.functions[0], "@tf.function"))


def test_suites():
    check("if a: here(); b", "if a: pass", lambda t: edits.delete_statement(t, compound(t, cst.If).body))


def test_statement_ending_in_a_backslash():
    with pytest.raises(CannotEdit):
        applied("a() \\\n\nb", lambda tree: edits.delete_statement(tree, small(tree, "a()")))


@pytest.mark.parametrize(
    ("before", "moved", "after"),
    [
        ("to()\na\nx\n", "x", "x\nto()\na\n"),
        ("to()\na\nx", "x", "x\nto()\na\n"),
        ("# t\nto()\na\n# x\nx  # y\nb\n", "x", "# t\n# x\nx  # y\nto()\na\nb\n"),
        ("i\n# t\nto()\na\n# x\nx  # y\nb\n", "x", "i\n# x\nx  # y\n# t\nto()\na\nb\n"),
        ("to()\na\nx\nb\ny\n", "x y", "x\ny\nto()\na\nb\n"),
        ("x\na\nto()\n", "x", "a\nx\nto()\n"),
        ("# licence\nx\na\nto()\n", "x", "# licence\na\nx\nto()\n"),
        ("x\nto()\n", "x", "x\nto()\n"),
        ("a\nx\ny\n\nto()\n", "x y", "a\nx\ny\n\nto()\n"),
        # Another block.
        ("to()\nif a:\n    # c\n    x\n    b\n", "x", "# c\nx\nto()\nif a:\n    b\n"),
        ("to()\nif a:\n    x\n    y\n", "x y", "x\ny\nto()\nif a:\n    pass\n"),
        ("if a:\n\tto()\nx\n", "x", "if a:\n\tx\n\tto()\n"),
        ("to()\na; x; b\n", "x", "x\nto()\na; b\n"),
        ("to()\nif a: x\n", "x", "x\nto()\nif a: pass\n"),
        ("to()\na; x; b; y; c\n", "x y", "x\ny\nto()\na; b; c\n"),
        ("to()\nx; y;  # c\na", "x y", "x\ny\nto()\na"),
    ],
)
def test_move_statements(before, moved, after):
    def build(tree):
        statements = [small(tree, text) for text in moved.split()]
        return edits.move_statements(tree, statements, before=small(tree, "to()"))

    check(before, after, build, comments="; y;  # c" not in before)


def test_move_compound_statement():
    before = "def f():\n    to()\nif g:\n    # a\n    h('''\nx\n    y\n''',\n      1)  # b\n\n    z\nlast\n"
    after = "def f():\n    if g:\n        # a\n        h('''\nx\n    y\n''',\n          1)  # b\n\n        z\n    to()\nlast\n"
    check(
        before,
        after,
        lambda tree: edits.move_statements(tree, [compound(tree, cst.If)], before=small(tree, "to()")),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\nb\nx\nc\n", "import a\n\nx\n\nb\nc\n"),
        ("import a\n\nx\nb\n", "import a\n\nx\nb\n"),
        ("import a\n\ndef f():\n\tb\n\t# c\n\tx  # d\n", "import a\n\n# c\nx  # d\n\ndef f():\n\tb\n"),
        ("import a\nb\nx", "import a\n\nx\n\nb\n"),
    ],
)
def test_move_statements_after_imports(before, after):
    check(before, after, lambda tree: edits.move_statements(tree, [small(tree, "x")], after_imports=True))


def test_move_statements_requires_exactly_one_destination():
    tree = Tree("a\nb")
    for options in ({}, {"before": small(tree, "a"), "after_imports": True}):
        with pytest.raises(ValueError, match="either"):
            edits.move_statements(tree, [small(tree, "b")], **options)


def extracted(parameters=(), results=()):
    """Builder that moves the statements of the innermost loop between ``first`` and ``last`` into a function."""

    def build(tree):
        loops = [node for node in tree.descendants(tree.root) if isinstance(node, cst.For)]
        body = loops[-1].body.body
        codes = [tree.code_of(each) for each in body]
        start = next(place for place, code in enumerate(codes) if "first" in code)
        end = next(place for place, code in enumerate(codes) if "last" in code)
        return edits.extract_function(
            tree, body[start : end + 1], "f", before=loops[0], decorator="@d", parameters=parameters, results=results
        )

    return build


@pytest.mark.parametrize(
    ("before", "after", "parameters", "results"),
    [
        ("for x in a:\n    first(x)\n    last()\n", "@d\ndef f(x):\n    first(x)\n    last()\n\n\nfor x in a:\n    f(x)\n", "x", ""),
        ("b\nfor x in a:\n  first_last()", "b\n\n\n@d\ndef f():\n  first_last()\n\n\nfor x in a:\n  f()", "", ""),
        (
            "b\n\n# c\nfor x in a:\n\tz\n\t# d\n\ty = first(x)  # e\n\n\tlast()\n\tw\n",
            "b\n\n\n@d\ndef f(x):\n\t# d\n\ty = first(x)  # e\n\tlast()\n\treturn y\n\n\n# c\nfor x in a:\n\tz\n\ty = f(x)\n\tw\n",
            "x",
            "y",
        ),
        (
            "def g():\n    for i in b:\n        for x in a:\n            y = first('''\n    s''')\n            z = last()\n",
            "def g():\n    @d\n    def f(i, x):\n        y = first('''\n    s''')\n        z = last()\n        return y, z\n\n"
            "    for i in b:\n        for x in a:\n            y, z = f(i, x)\n",
            "ix",
            "yz",
        ),
        (
            "def g():\n    b\n    for x in a:\n        first_last()\n",
            "def g():\n    b\n\n    @d\n    def f():\n        first_last()\n\n    for x in a:\n        f()\n",
            "",
            "",
        ),
    ],
)  # fmt: skip
def test_extract_function(before, after, parameters, results):
    check(before, after, extracted(parameters, results))


def test_extract_function_requires_an_indented_body():
    def build(tree):
        loop = compound(tree, cst.For)
        return edits.extract_function(tree, loop.body.body, "f", before=loop, decorator="@d", parameters=(), results=())

    with pytest.raises(CannotEdit):
        applied("for x in a: g()", build)
