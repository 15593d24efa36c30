"""One module: its code without comments, the locations of findings, and searches of its words."""

import json
import re

import libcst as cst
import pytest
from snippets import IMPORTS, load


def module_of(folder, text):
    return load(folder, text)


def nodes(module, kind):
    return [node for node in module.tree.descendants(module.tree.root) if isinstance(node, kind)]


@pytest.mark.parametrize(
    ("text", "mentions", "does"),
    [
        ("special()", True, True),
        ("print('special')", True, False),
        ("# special", False, False),
        ('"""special"""', False, False),
        ('def f():\n    """special"""', False, False),
        ("x = 'a special word'", True, False),
    ],
)
def test_code_excludes_comments_and_docstrings_and_keeps_strings(tmp_path, text, mentions, does):
    module = module_of(tmp_path, f"import keras\n{text}\n")
    word = re.compile("special")
    assert (module.mentions(word), module.says("special"), module.does(word)) == (mentions, mentions, does)


def test_the_code_has_the_offsets_of_the_text(tmp_path):
    text = 'import keras  # one\n"""two"""\nx = "three"  # four\n'
    module = module_of(tmp_path, text)
    assert len(module.code) == len(text)
    assert module.code.index("three") == text.index("three")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model.fit(x)", "fit(x)"),
        ("(model\n    .fit(x))", "fit(x)"),
        ("build(1).fit(x)", "fit(x)"),
        ("keras.Model(x)", "keras.Model(x)"),
        ("keras.layers.Dense(x)", "keras.layers.Dense(x)"),
        ("(keras\n    .Model(x))", "Model(x)"),
        ("f(x)", "f(x)"),
    ],
)
def test_a_method_call_is_located_at_its_name_unless_a_module_holds_it(tmp_path, text, found):
    module = module_of(tmp_path, f"import keras\n{text}\n")
    start, end = module.range_of(nodes(module, cst.Call)[0])
    assert module.text[start:end] == found


def test_a_compound_statement_is_located_at_its_header(tmp_path):
    module = module_of(tmp_path, "import keras\nfor x in y:\n    print(x)\n")
    (loop,) = nodes(module, cst.For)
    start, end = module.range_of(loop)
    assert module.text[start:end].strip() == "for x in y:"


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("x = tf.placeholder(tf.float32)", True),
        ("with tf.Session() as sess: sess.run(x)", True),
        ("tf.compat.v1.disable_eager_execution()", True),
        ("x = tf.placeholder(tf.float32)\nwith tf.GradientTape() as t: pass", False),
        ("print('tf.placeholder(')", False),
        ("def f(graph):\n    with tf.Session(graph=graph) as sess: sess.run(x)", False),
        ("def f(other):\n    with tf.Session(graph=graph) as sess: sess.run(x)", True),
        ("def f(): tf.placeholder(0), tf.GraphDef()\ndef g(graph): tf.Session(graph=graph)", False),
        ("def f(): tf.placeholder(0)\ndef g(graph): tf.Session(graph=graph)", True),
        ("tf.reset_default_graph()", True),
        ("tf.reset_default_graph()\nprint(x.numpy())", False),
        ("x = tf.zeros(3)", False),
    ],
)
def test_graph_code_is_recognised(tmp_path, text, graph):
    assert module_of(tmp_path, f"import tensorflow as tf\n{text}\n").is_graph_code is graph


@pytest.mark.parametrize(
    ("files", "graph"),
    [
        ({"train.py": "from net import build\nsess = tf.Session()\nbuild()\n"}, True),
        ({"train.py": "import net\nsess = tf.Session()\nnet.build()\n"}, True),
        ({"train.py": "import net\nsess = tf.Session()\n"}, False),
        ({"train.py": "from net import build\nbuild()\n"}, False),
        ({"train.py": "from net import *\nsess = tf.Session()\n"}, True),
    ],
)
def test_a_session_runs_the_graph_of_an_imported_module(tmp_path, files, graph):
    files["net.py"] = "import tensorflow as tf\ndef build(): return tf.placeholder(tf.float32)\n"
    assert load(tmp_path, files).is_graph_code is graph


@pytest.mark.parametrize(
    ("text", "acts"),
    [("os.environ['A'] = '1'", True), ("tf.config.run_functions_eagerly(True)", True), ("N = 3", False)],
)
def test_a_module_acts_on_import_if_it_may_configure_something(tmp_path, text, acts):
    assert module_of(tmp_path, f"import os\nimport tensorflow as tf\n{text}\n").acts_on_import is acts


def test_a_function_with_a_yield_is_a_generator_and_its_enclosing_function_is_not(tmp_path):
    text = (
        "import keras\ndef f():\n    def g():\n        yield 1\n    return g\nh = lambda: (yield)\ndef k(): return 1\n"
    )
    module = module_of(tmp_path, text)
    found = {getattr(getattr(node, "name", None), "value", "lambda") for node in module.generators}
    assert found == {"g", "lambda"}


def test_names_are_counted(tmp_path):
    module = module_of(tmp_path, "import keras\na = a.b + f(a=c)\n")
    assert (module.name_counts["a"], module.name_counts["b"], module.name_counts["d"]) == (3, 1, 0)


def test_an_answer_about_a_module_is_memoised(tmp_path):
    module, asked = module_of(tmp_path, "import keras\n"), []
    find = lambda each: asked.append(each) or len(asked)  # noqa: E731
    assert [module.once(find), module.once(find)] == [1, 1] and asked == [module]


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["model.fit(x)"], [True]),
        (["model.fit(x)\n"], [True]),
        (["model.fit(x)", "print(1)"], [True, True]),
        (["model.fit(x)\nprint(1)"], [False, True]),
        (["h = model.fit(x)"], [False]),
        (["model.fit(x)\n# the end"], [True]),
        (["if a:\n    model.fit(x)"], [False]),
    ],
)
def test_a_notebook_displays_the_last_expression_of_a_cell(tmp_path, cells, shown):
    cells = [{"cell_type": "code", "source": cell} for cell in ["import keras", *cells]]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    module = load(tmp_path, {"train.ipynb": text})
    assert [module.is_cell_output(call) for call in nodes(module, cst.Call)] == shown


def test_a_script_displays_nothing(tmp_path):
    module = module_of(tmp_path, "import keras\nmodel.fit(x)\n")
    assert not any(map(module.is_cell_output, nodes(module, cst.Call)))


def test_a_module_is_named_by_its_file(tmp_path):
    package = load(tmp_path, {"pkg/__init__.py": IMPORTS})
    script = load(tmp_path, {"train.py": IMPORTS})
    assert (package.is_package, script.is_package, script.dotted) == (True, False, "train")
    assert script.folder == str(tmp_path.resolve())
