"""Modules, functions and classes that the interpreter runs, and its limits."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.limits import MAX_IMPORT_DEPTH, MAX_MODULES
from kerascheck.interpreter.values import UNKNOWN, Constant, constant


def chain(length):
    """A script and modules that each read the value of the next one; the last one sets it."""
    files = {f"m{i}.py": f"import m{i + 1}\nN = m{i + 1}.N\n" for i in range(1, length)}
    return {"train.py": "from m1 import N\nshow(N)\n", **files, f"m{length}.py": "N = 7\n"}


@pytest.mark.parametrize(("length", "value"), [(MAX_IMPORT_DEPTH, Constant(7)), (MAX_IMPORT_DEPTH + 1, UNKNOWN)])
def test_the_depth_of_a_chain_of_imports_is_limited(tmp_path, length, value):
    assert shown(load(tmp_path, chain(length))) == [value]


def test_the_depth_of_a_module_is_that_of_its_first_import(tmp_path):
    files = chain(MAX_IMPORT_DEPTH + 1)
    last = f"m{MAX_IMPORT_DEPTH + 1}"
    files["train.py"] = f"from {last} import N\nshow(N)\nfrom m1 import N\nshow(N)\n"
    assert shown(load(tmp_path, files)) == [Constant(7), Constant(7)]


def test_the_number_of_long_modules_is_limited(tmp_path):
    count = MAX_MODULES + 3
    files = {f"m{i}.py": f"N = {i}\nmake = tf.data.Dataset\n" + "x = 1\n" * 2000 for i in range(count)}
    script = "".join(f"from m{i} import N\nshow(N)\n" for i in range(count))
    values = [constant(value) for value in shown(load(tmp_path, {"train.py": script, **files}))]
    followed = MAX_MODULES + 1
    assert values == [*range(followed), *[None] * (count - followed)]


def test_an_unparsable_module_is_unknown(tmp_path):
    assert shown(load(tmp_path, {"train.py": "from m import N\nshow(N)\n", "m.py": "N = 7\nprint 1\n"})) == [UNKNOWN]


LONG = "N = 7\n" + "".join(f"def keras_helper_{i}(a): return a\n" for i in range(200))


@pytest.mark.parametrize(
    ("script", "module", "value"),
    [
        ("", LONG, UNKNOWN),
        ("", LONG + "MAKE = tf.data.Dataset\n", Constant(7)),
        ("run_eagerly = flag\n", LONG, Constant(7)),
    ],
)
def test_a_long_module_is_followed_if_relevant_to_rules(tmp_path, script, module, value):
    assert shown(load(tmp_path, {"train.py": f"{script}from m import N\nshow(N)\n", "m.py": module})) == [value]


def test_functions_without_a_call_site_run_before_their_helpers(tmp_path):
    text = "def helper(n): show(n)\ndef main(): helper(3)\n"
    assert shown(load(tmp_path, text)) == [Constant(3)]


def test_a_function_without_a_call_site_has_unknown_arguments(tmp_path):
    assert shown(load(tmp_path, "def main(n, m=2): show(n)\n")) == [UNKNOWN]


@pytest.mark.parametrize(
    "definition", ["def test_it(): show(1)", "class T(unittest.TestCase):\n    def run_it(self): show(1)"]
)
def test_unit_tests_do_not_run(tmp_path, definition):
    assert shown(load(tmp_path, f"import unittest\n{definition}\n")) == []


def test_a_class_of_a_script_runs_its_constructor_before_its_other_methods(tmp_path):
    text = "class T:\n    def go(self): show(self.n)\n    def __init__(self): self.n = 3\n"
    assert shown(load(tmp_path, text)) == [Constant(3)]


@pytest.mark.parametrize(
    ("fit", "traced"),
    [("", "call"), ("    def fit(self, x): load(x)\n", None), ("    def fit(self, x): super().fit(x)\n", "call")],
)
def test_keras_compiles_the_call_of_a_trained_model(tmp_path, fit, traced):
    text = f"class M(keras.Model):\n{fit}    def call(self, x): show(x)\n"
    module = load(tmp_path, "from z import show\n" + IMPORTS + text)
    assert {call.path.traced_by() for call in module.run.calls if call.name == "z.show"} == {traced}


def test_globals_of_a_module_are_its_final_variables(tmp_path):
    module = load(tmp_path, {"train.py": "from m import N\nshow(N)\nN = 2\n", "m.py": "N = 7\n"})
    script, imported = module.run.modules
    assert module.run.globals_of(script)["N"] == Constant(2)
    assert module.run.globals_of(imported)["N"] == Constant(7)
    assert module.run.globals_of(imported)["__name__"] == Constant("m")
    assert module.run.globals_of(script)["__name__"] == Constant("__main__")
