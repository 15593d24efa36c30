"""Values that never leave the interpreter."""

import pytest
from snippets import load, shown

from kerascheck.interpreter.internal_values import LATER, MISSING, NEW, Imported, SuperValue
from kerascheck.interpreter.values import UNKNOWN, Constant, UnionValue, flat, now, options_of


def test_two_imports_of_one_name_are_equal(tmp_path):
    module, other = load(tmp_path, "x = 1\n"), load(tmp_path, {"other.py": "x = 1\n"})
    assert Imported(module, "x") == Imported(module, "x")
    assert Imported(module, "x") != Imported(module, "y")
    assert Imported(module, "x") != Imported(other, "x")
    assert Imported(module, "x") != UNKNOWN


def test_later_is_after_every_other_time():
    assert now() < LATER


@pytest.mark.parametrize(
    "text",
    [
        "if flag: import m\nelse: m = 2\nshow(m)\n",
        "if flag:\n    from m import N\nelse:\n    from o import N\nshow(N)\n",
        "try:\n    from m import N\nexcept ImportError:\n    N = 2\nshow([N])\nshow({'a': N})\n",
        "from m import N, missing\nshow([N, missing])\n",
        "class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): show(super().f())\nB().f()\n",
        "if flag:\n    new = 1\nshow(new)\n",
        "class C: pass\nc = C()\nif flag: c.n = 1\nshow(c.n)\n",
    ],
)
def test_internal_values_never_reach_a_program(tmp_path, text):
    files = {"train.py": text, "m.py": "N = 1\n", "o.py": "N = 3\n"}
    values = [option for value in shown(load(tmp_path, files)) for each in flat(value) for option in options_of(each)]
    assert values
    for value in values:
        assert not isinstance(value, (Imported, SuperValue, UnionValue)) and value is not MISSING and value is not NEW


def test_an_import_is_resolved_when_it_joins_a_constant(tmp_path):
    text = "try:\n    from m import N\nexcept ImportError:\n    N = 2\nshow(N)\n"
    (value,) = shown(load(tmp_path, {"train.py": text, "m.py": "N = 1\n"}))
    assert set(options_of(value)) == {Constant(1), Constant(2)}
