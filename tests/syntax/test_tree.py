"""Trees: structure, ranges, and deep code."""

import libcst as cst
import pytest
from snippets import MODEL, load, sinks

from kerascheck.lint.analyze_file import with_large_stack
from kerascheck.syntax.tree import SyntaxProblem, Tree


def text_of(tree, node):
    start, end = tree.range_of(node)
    return tree.text[start:end]


def first(tree, kind):
    return next(node for node in tree.descendants(tree.root) if isinstance(node, kind))


@pytest.mark.parametrize(
    "text",
    [
        "x = f(1)\n",
        "x = f(1)",
        "\nx = f(1)\n\n# end",
        "if a:\r\n\tx = f(1)\r\n",
        "if a:\r  x = f(1)\r",
        "\x0cx = f(1)\n\x0c\ny = 2\n",
        "y = 'ä€𝔘'; x = f(1)\n",
        "if a:\n    '''\n  long\n'''\n    x = f(1)\n",
        "x = \\\n  f(1)\n",
        "x = (  # why\n    f(1)\n)\n",
        "class A:\n  def g(self):\n\n    # c\n    x = f(1)",
        "x = f(1); y = 2",
    ],
)
def test_ranges_cover_the_text_of_a_node(text):
    tree = Tree(text)
    assert text_of(tree, first(tree, cst.Call)) == "f(1)"
    assert (
        tree.line_of(first(tree, cst.Call))
        == text[: text.index("f(1)")].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    )


def test_parents_and_children_agree():
    tree = Tree(
        "@d\ndef f(a, *b, c=1, **k):\n    with x as y, z:\n        return [i async for i in a if i]\nclass A(B, m=C): pass\n"
    )
    nodes = list(tree.descendants(tree.root))
    assert len(nodes) == len(set(map(id, nodes)))
    for node in nodes:
        for child in tree.children(node):
            assert tree.parents[child] is node
            assert next(tree.ancestors(child)) is node
    assert set(map(id, nodes)) - {id(tree.root)} == set(map(id, tree.parents))


def test_the_innermost_enclosing_node_of_a_kind_is_found():
    tree = Tree("class A:\n    def outer(self):\n        def inner():\n            return 1\n")
    outer, inner = tree.functions
    (one,) = (node for node in tree.parents if isinstance(node, cst.Integer))
    assert tree.enclosing(one, cst.FunctionDef) is inner
    assert tree.enclosing(inner, cst.FunctionDef, cst.ClassDef) is outer
    assert tree.enclosing(outer, cst.FunctionDef, cst.ClassDef) is tree.classes[0]
    assert tree.enclosing(one, cst.For) is None


def test_descendants_come_in_the_order_of_the_text():
    tree = Tree("def f(a=1):\n    if b:\n        c(d, g)\n    else:\n        h[i] = j\nk = [l for m in n]\n")
    starts = [
        tree.range_of(node)[0]
        for node in tree.descendants(tree.root)
        if isinstance(node, cst.Name) and node.value not in "lmn"
    ]
    assert starts == sorted(starts)


def test_kinds_are_in_source_order():
    tree = Tree(
        "import a\nclass B:\n    def c(self):\n        from d import e\n        def f(): pass\ndef g(): import h\nclass I: pass\n"
    )
    assert [node.name.value for node in tree.functions] == ["c", "f", "g"]
    assert [node.name.value for node in tree.classes] == ["B", "I"]
    assert [type(node) for node in tree.imports] == [cst.Import, cst.ImportFrom, cst.Import]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("x = 1; y = f(2)\n", "x = 1; y = f(2)"),
        ("if a: y = f(2)\n", "y = f(2)"),
        ("if f(2):\n    pass\n", "if f(2):"),
        ("@d(f(2))\n@e\ndef g(a,\n      b=1):\n    pass\n", "@d(f(2))\n@e\ndef g(a,\n      b=1):"),
        ("@d\nclass A(f(2)):\n    x = 1\n", "@d\nclass A(f(2)):"),
        ("for i in f(2):  # why\n    pass\nelse:\n    pass\n", "for i in f(2):  # why"),
        ("x = [\n    f(2),\n]\n", "x = [\n    f(2),\n]"),
    ],
)
def test_statement_ranges(text, statement):
    tree = Tree(text)
    start, end = tree.statement_range(first(tree, cst.Call) if "d(f" not in text else first(tree, cst.FunctionDef))
    assert text[start:end] == statement


def test_a_statement_may_end_in_an_empty_continued_line():
    tree = Tree("f( 1 ) \\\n\ng(2)\n")
    assert tree.written(first(tree, cst.Call)).whitespace_before_args.value == " "


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("print 'x'\n", 1, None),
        ("a = 1\nb = (\n", None, None),
        ("x = 1\n  y = 2\n", 2, None),
        ("def f(:\n    pass\n", None, None),
    ],
)
def test_syntax_errors_have_a_location(text, line, column):
    with pytest.raises(SyntaxProblem) as problem:
        Tree(text)
    assert problem.value.message
    assert line in (None, problem.value.line) and problem.value.line >= 1
    assert column in (None, problem.value.column) and problem.value.column >= 1


DEEP = {
    "sum": "x = " + " + ".join(["1"] * 1000),
    "strings": "x = " + " + ".join(["'a'"] * 1000),
    "booleans": "x = " + " or ".join(["a"] * 500),
    "calls": "x = a" + ".b(1)" * 500,
    "brackets": "x = " + "[" * 90 + "]" * 90,
    "lambdas": "x = " + "lambda: " * 90 + "1",
    "ifs": "".join("    " * i + f"if a{i}:\n" for i in range(90)) + "    " * 90 + "pass",
    "elifs": "if a: pass\n" + "elif b: pass\n" * 200,
    "conditions": "x = " + "1 if a else " * 200 + "2",
    "functions": "".join("    " * i + f"def f{i}():\n" for i in range(90)) + "    " * 90 + "pass",
    "dictionaries": "x = " + "{'a': " * 90 + "1" + "}" * 90,
    "statements": "x = 1\n" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_code(tmp_path, kind):
    text = f"{MODEL}{DEEP[kind]}\nmodel.fit(tf.data.Dataset.range(3).batch(2))\n"

    def check():
        module = load(tmp_path, text)
        (sink, _), *_ = module.pipelines.sinks
        return sinks(module), text_of(module.tree, sink.node)

    assert with_large_stack(check) == (["train: range batch"], "model.fit(tf.data.Dataset.range(3).batch(2))")


def test_chains_over_several_lines_are_located_at_the_method(tmp_path):
    text = "ds = (\n    tf.data.Dataset.range(3)\n    .map(f)\n    .batch(2)\n)\nmodel.fit(ds)\n"
    module = load(tmp_path, text, MODEL)
    (op,) = module.pipelines.operations("map")
    start, end = module.range_of(op.node)
    assert module.text[start:end] == "map(f)"
    (batch,) = module.pipelines.operations("batch")
    assert module.text[slice(*module.range_of(batch.node))] == "batch(2)"


@pytest.mark.parametrize(
    ("chain", "place"),
    [
        ("tf.data.Dataset.range(3).map(f)", "map(f)"),
        ("ds.map(f)", "map(f)"),
        ("datasets[0].map(f)", "map(f)"),
        ("tf.map(f)", "tf.map(f)"),
        ("np.ma.map(f)", "np.ma.map(f)"),
        ("tf.Variable(1).map(f)", "map(f)"),
        ("make()[0].map(f)", "map(f)"),
        ("self.ds.map(f)", "map(f)"),
        ("(ds or other).map(f)", "map(f)"),
    ],
)
def test_a_method_call_is_located_at_the_method_and_a_function_at_its_module(tmp_path, chain, place):
    module = load(tmp_path, f"import numpy as np\nimport tensorflow as tf\nx = {chain}\n")
    (call,) = (
        node
        for node in module.tree.parents
        if isinstance(node, cst.Call) and getattr(node.func, "attr", None) and node.func.attr.value == "map"
    )
    assert module.text[slice(*module.range_of(call))] == place
