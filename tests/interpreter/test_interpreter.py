"""Values along the paths of a program: known if all paths agree, else unknown."""

import json
import warnings

import libcst as cst
import pytest
from snippets import IMPORTS, MODEL, load, shown, sinks

from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    Dataset,
    SequenceValue,
    UnionValue,
    constant,
    flat,
    holds_tensor,
    options_of,
)

DATA = MODEL + "def aug(x):\n    return x + tf.random.uniform([])\nbase = tf.data.Dataset.range(100)\n"


def constants(module):
    """The possible arguments of the first ``show``: constants, and "?" for other values."""
    return sorted(
        {option.value if isinstance(option, Constant) else "?" for option in options_of(shown(module)[0])}, key=str
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 3\nshow(n)", [3]),
        ("n: int = 3\nshow(n)", [3]),
        ("a = b = 3\nshow(a + b)", [6]),
        ("n = 2 * 16 - 1\nshow(n)", [31]),
        ("n = -(7 // 2)\nshow(n)", [-3]),
        ("n = 1 // 0\nshow(n)", ["?"]),
        ("n = 'a' + 'b'\nshow(n)", ["ab"]),
        ("n = 'a' 'b'\nshow(n)", ["ab"]),
        ("n = f'a{b}'\nshow(n)", ["?"]),
        ("n = 0x10\nshow(n)", [16]),
        ("n = 1_000\nshow(n)", [1000]),
        ("n = int(4)\nshow(n)", [4]),
        ("a, (b, c) = 1, (2, 3)\nshow(c)", [3]),
        ("a, *b = 1, 2\nshow(a)", [1]),
        ("a, *b = 1, 2\nshow(b)", ["?"]),
        ("a, b = load()\nshow(a)", ["?"]),
        ("n = [1, 2][-1]\nshow(n)", [2]),
        ("n = {'a': 1}['a']\nshow(n)", [1]),
        ("n = {'a': 1, **{'b': 2}}['b']\nshow(n)", [2]),
        ("n = {'a': 1, **load()}['b']\nshow(n)", ["?"]),
        ("n = dict(a=1).get('a')\nshow(n)", [1]),
        ("n = {'a': 1, 'b': 2}[key]\nshow(n)", [1, 2]),
        ("n = 1 if flag else 2\nshow(n)", [1, 2]),
        ("n = flag or 2\nshow(n)", [2, "?"]),
        ("if (n := 3):\n    show(n)", [3]),
        ("n = (lambda a, b=2: b)(1)\nshow(n)", [2]),
        ("class C:\n    n = 3\nshow(C.n)", [3]),
        ("class C:\n    n = 3\nclass D(C): pass\nshow(D().n)", [3]),
        ("class C:\n    def __init__(self, n): self.n = n\nshow(C(3).n)", [3]),
        ("class C:\n    @property\n    def n(self): return 3\nshow(C().n)", [3]),
        ("import functools\nclass C:\n    @functools.cached_property\n    def n(self): return 3\nshow(C().n)", [3]),
        ("class C:\n    @classmethod\n    def n(cls, k): return k\nshow(C.n(3))", [3]),
        ("class C:\n    @staticmethod\n    def n(k): return k\nshow(C().n(3))", [3]),
        ("class B:\n    def n(self): return 3\nclass C(B):\n    def n(self): return super().n()\nshow(C().n())", [3]),
        ("class C:\n    n = 1\n    def go(self): return self.n\nclass D(C):\n    n = 2\nshow(D().go())", [2]),
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    m: int\n    n: int = 1\nshow(C(2, 8).n)", [8]),
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 1\nshow(C().n)", [1]),
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 1\nshow(C(**load()).n)", [1, "?"]),
        ("import functools\ndef f(a, b): return b\nshow(functools.partial(f, 1)(2))", [2]),
        ("import functools\ndef f(a, b): return b\nshow(functools.partial(f, b=3)(1))", [3]),
        ("def f(*args): return args[1]\nshow(f(1, 2))", [2]),
        ("def f(**kw): return kw['a']\nshow(f(a=1))", [1]),
        ("def f(a, *, b=2): return b\nshow(f(1, **{'b': 4}))", [4]),
        ("def f(a=1): return a\nshow(f(*load()))", ["?"]),
        ("def f(a=1): return a\nshow(f(**load()))", ["?"]),
        ("def f(a, /, b): return b\nshow(f(1, 2))", [2]),
        ("N = 1\ndef f(a=N): return a\nN = 2\nshow(f())", [1]),
        ("def outer(k):\n    def inner(): return k\n    return inner\nshow(outer(3)())", [3]),
        (
            "def outer():\n    k = 1\n    def inner():\n        nonlocal k\n        k = 2\n    inner()\n    return k\nshow(outer())",
            [2],
        ),
        ("n = 1\ndef f():\n    global n\n    n = 2\nf()\nshow(n)", [2]),
        ("def f(n):\n    if n: return 1\n    return 2\nshow(f(load()))", [1, 2]),
        ("def f(): pass\nshow(f())", [None]),
        ("import z\n@z.decorated\ndef f(): return 3\nshow(f())", [3]),
        ("async def f(): return 3\nasync def g(): show(await f())\n", [3]),
    ],
)
def test_constants_reach_their_uses(tmp_path, text, expected):
    assert constants(load(tmp_path, text)) == expected


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": 'import keras\nshow("a\\d" "b")\n'},
        {"train.py": "import keras\nshow(1)\n", "setup.py": 'setup(install_requires=["keras"], url="a\\d")\n'},
    ],
)
def test_reading_a_file_warns_of_no_unknown_escapes(tmp_path, files):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module = load(tmp_path, files)
        assert module.run.calls and module.target
    assert not said


@pytest.mark.parametrize(
    "text",
    [
        "n *= 4",
        "n += load()",
        "if flag: n = 8",
        "try:\n    n = int(text)\nexcept ValueError:\n    pass",
        "with open('f') as f:\n    n = int(f.read())",
        "for i in load():\n    n = n * 2",
        "while load():\n    n = 8",
        "match kind:\n    case 'fast':\n        n = 8",
        "match kind:\n    case {'n': n}:\n        pass",
        "for n in load(): pass",
        "n, m = load()",
        "def configure(v):\n    global n\n    n = v\nconfigure(load())",
        "def configure():\n    global n\n    n = 8\nif flag:\n    configure()",
        "def configure():\n    global n\n    if flag:\n        n = 8\nconfigure()",
        "del n",
        "import settings as n",
    ],
)
def test_a_possibly_changed_variable_is_no_constant(tmp_path, text):
    module = load(tmp_path, f"n = 1\n{text}\nshow(n)\n")
    assert constants(module) != [1]


@pytest.mark.parametrize(
    ("change", "keeps"),
    [
        ("o.n = 8", False),
        ("o.n = load()", False),
        ("if flag:\n    o.n = 8", True),
        ("if flag:\n    o.n = 8\nelse:\n    o.n = 9", False),
        ("if flag:\n    pass\nelif other:\n    o.n = 9", True),
        ("for v in load():\n    o.n = v", True),
        ("while flag:\n    o.n = 8", True),
        ("try:\n    load()\nexcept OSError:\n    o.n = 8", True),
        ("match kind:\n    case 'a':\n        o.n = 8", True),
        ("match kind:\n    case 'a':\n        o.n = 8\n    case _:\n        o.n = 9", False),
        ("setattr(o, 'n', 8)", False),
        ("for k, v in load():\n    setattr(o, k, v)", True),
        ("o.__dict__.update(load())", True),
        ("override(o)", True),
        ("configs.override(o, path)", True),
        ("import yaml\nyaml.override(o)", True),
        ("def change(p): p.n = 8\nchange(o)", False),
        ("def change(p): p.n = 8\nif flag:\n    change(o)", True),
        ("def change(p):\n    if flag:\n        p.n = 8\nchange(o)", True),
    ],
)
@pytest.mark.parametrize("kind", ["class attribute", "own attribute"])
def test_attributes_differ_between_paths(tmp_path, change, keeps, kind):
    body = "n = 1" if kind == "class attribute" else "def __init__(self): self.n = 1"
    module = load(tmp_path, f"class C:\n    {body}\no = C()\n{change}\nshow(o.n)\n")
    found = constants(module)
    assert found != [1]
    if kind == "own attribute":
        assert (1 in found) == keeps


@pytest.mark.parametrize(
    ("change", "outer", "inner"),
    [
        ("o.merge_from_file(path)", [1, "?"], [2, "?"]),
        ("o.inner.merge_from_file(path)", [1], [2, "?"]),
        ("o.update(load())", [1, "?"], [2, "?"]),
        ("override(o)", [1, "?"], [2, "?"]),
        ("override(o.n)", [1], [2]),
        ("o.freeze()", [1], [2]),
        ("print(o.get('n'))", [1], [2]),
        ("print(o)", [1], [2]),
    ],
)
@pytest.mark.parametrize("make", ["yacs.config.CfgNode()", "types.SimpleNamespace()", "easydict.EasyDict()"])
def test_methods_change_the_settings_of_records(tmp_path, change, outer, inner, make):
    text = f"import easydict, types, yacs.config\no = {make}\no.n = 1\no.inner = {make}\no.inner.n = 2\n{change}\nshow("
    assert constants(load(tmp_path, f"{text}o.n)\n")) == outer
    assert constants(load(tmp_path, f"{text}o.inner.n)\n")) == inner


@pytest.mark.parametrize(
    ("call", "found"),
    [("lib.cfg.merge_from_file(path)", [1, "?"]), ("lib.cfg.freeze()", [1]), ("lib.other.load(path)", [1])],
)
def test_methods_change_the_settings_of_objects_of_libraries(tmp_path, call, found):
    assert constants(load(tmp_path, f"import lib\nlib.cfg.n = 1\n{call}\nshow(lib.cfg.n)\n")) == found


def test_vars_of_an_object_are_its_attributes(tmp_path):
    text = "class C:\n    def __init__(self): self.n = 1\no = C()\nvars(o).update(load())\nshow(o.n)\n"
    assert constants(load(tmp_path, text)) != [1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("o['n'] = 8", [8]),
        ("o['m'] = 8", [1]),
        ("if flag:\n    o['n'] = 8", [1, 8]),
        ("o[key] = 8", [1, 8]),
        ("o.update(n=8)", [8]),
        ("o.update({'n': 8})", [8]),
        ("o.update(load())", [1, "?"]),
        ("o |= {'n': 8}", [8]),
        ("o |= load()", [1, "?"]),
        ("override(o)", [1, "?"]),
        ("print(o)", [1]),
        ("o.setdefault('n', 8)", [1]),
        ("p = o.copy()\np['n'] = 8", [1]),
        ("p = o\np['n'] = 8", [8]),
    ],
)
def test_items_differ_between_paths(tmp_path, change, expected):
    assert constants(load(tmp_path, f"o = {{'n': 1}}\n{change}\nshow(o['n'])\n")) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("if flag:\n    o['n'] = 8", ["8", "?"]),
        ("if flag:\n    o['n'] = 8\nelse:\n    o['n'] = 9", ["8", "9"]),
        ("if flag:\n    n = 8\n    o['n'] = n", ["8", "?"]),
    ],
)
@pytest.mark.parametrize("where", ["{}", "def f():\n    {}\nf()"])
def test_an_item_that_only_some_paths_add_is_uncertain(tmp_path, change, expected, where):
    program = where.format(f"o = {{}}\n{change}\nshow(o['n'])".replace("\n", "\n    " if "f()" in where else "\n"))
    assert [str(each) for each in constants(load(tmp_path, f"{program}\n"))] == expected


@pytest.mark.parametrize("where", ["{}", "def f():\n    {}\nf()"])
def test_a_variable_that_only_some_paths_bind_is_bound_where_it_is_read(tmp_path, where):
    program = where.format("if flag:\n    n = 8\nshow(n)".replace("\n", "\n    " if "f()" in where else "\n"))
    assert constants(load(tmp_path, f"{program}\n")) == [8]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("a = [1, 2]", 2),
        ("a = [1]\na.append(2)", 2),
        ("a = [1]\na += [2, 3]", 3),
        ("a = [1]\na.extend([2])", 2),
        ("a = [1] + [2]", 2),
        ("a = [i for i in (1, 2)]", 2),
        ("a = list((1, 2))", 2),
        ("a = [*(1, 2), 3]", 3),
        ("a = []\nfor x in load():\n    a.append(x)", None),
        ("a = [1]\nif flag:\n    a.append(2)", None),
        ("a = [1]\na.extend(load())", None),
        ("a = [1]\na.insert(0, 2)", None),
        ("a = [1, 2]\na.pop()", None),
        ("a = [1, 2, 3][1:]", 2),
        ("a = [1, 2, 3][:-2]", 1),
        ("a = [1, 2][n:]", None),
        ("a = [i for i in load()]", None),
        ("a = [i for i in (1, 2) if i > n]", None),
        ("a = [1, 2]\na[0] = 3", None),
    ],
)
def test_lists_with_known_and_unknown_length(tmp_path, text, length):
    (value,) = shown(load(tmp_path, f"{text}\nshow(a)\n"))
    known = isinstance(value, SequenceValue) and not value.open
    assert (len(value.items) if known else None) == length


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(True)", [1]),
        ("f(False)", [2]),
        ("f()", [2]),
        ("f(flag=True)", [1]),
        ("f(load())", [1, 2]),
        ("f(DEBUG)", [2]),
        ("partial(f, True)()", [1]),
        ("(lambda: f(True))()", [1]),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        "if flag: return 1\n    return 2",
        "if not flag: return 2\n    return 1",
        "return 1 if flag else 2",
        "if flag == True: return 1\n    else: return 2",
        "if flag is False: return 2\n    return 1",
        "if flag and True: return 1\n    return 2",
        "if flag or 0: return 1\n    return 2",
        "if flag in (True, 'yes'): return 1\n    return 2",
        "if flag not in [True]: return 2\n    return 1",
        "def inner():\n        return 1 if flag else 2\n    return inner()",
    ],
)
def test_arguments_decide_the_branches_of_a_call(tmp_path, call, expected, body):
    module = load(
        tmp_path, f"from functools import partial\nDEBUG = False\ndef f(flag=False):\n    {body}\nshow({call})\n"
    )
    assert constants(module) == expected


@pytest.mark.parametrize(
    "text",
    [
        "FLAG = False\nn = 1\nif FLAG:\n    n = 2",
        "FLAG = False\ndef f():\n    return 2 if FLAG else 1\nn = f()",
        "import os\nn = 1\nif os.name == 'nt':\n    n = 2",
    ],
)
def test_module_constants_decide_no_branch(tmp_path, text):
    assert constants(load(tmp_path, f"{text}\nshow(n)\n")) == [1, 2]


def test_an_argument_none_decides_a_branch(tmp_path):
    text = "def f(ds, n=None):\n    if n is not None:\n        ds = ds.batch(n)\n    return ds\nmodel.fit(f(base))\nmodel.evaluate(f(base, 2))\n"
    assert sinks(load(tmp_path, text, DATA)) == ["train: range", "evaluate: range batch"]


def test_keras_calls_its_hooks_with_arguments_of_its_own(tmp_path):
    text = """
    class M(keras.Model):
        def call(self, x, training=False):
            if training:
                tf.print(x)
            return x
    M()(tf.ones([2]))
    """
    module = load(tmp_path, text, DATA)
    assert list(module.program.calls("tensorflow.print"))


CROSS = {
    "function": ("from data import make\nmodel.fit(make())", {}),
    "renamed": ("from data import make as m\nmodel.fit(m())", {}),
    "module": ("import data\nmodel.fit(data.make())", {}),
    "alias": ("import data as d\nf = d.make\nmodel.fit(f())", {}),
    "star": ("from data import *\nmodel.fit(make())", {}),
    "in a function": ("def main():\n    from data import make\n    model.fit(make())\nmain()", {}),
    "either of two": (
        "try:\n    from .data import make\nexcept ImportError:\n    from data import make\nmodel.fit(make())",
        {},
    ),
    "reexported": ("from middle import make\nmodel.fit(make())", {"middle.py": "from data import make\n"}),
    "variable": ("from data import ds\nmodel.fit(ds)", {}),
    "class": ("from data import Data\nmodel.fit(Data().train)", {}),
    "dotted": (
        "import pkg.inner.data\nmodel.fit(pkg.inner.data.make())",
        {"pkg/inner/data.py": "from data import make\n"},
    ),
    "two of a folder": (
        "import pkg.other\nimport pkg.data\nmodel.fit(pkg.data.make())",
        {"pkg/data.py": "from data import make\n", "pkg/other.py": ""},
    ),
    "from a folder": ("from pkg import data\nmodel.fit(data.make())", {"pkg/data.py": "from data import make\n"}),
    "package": (
        "import pkg\nmodel.fit(pkg.make())",
        {"pkg/__init__.py": "from .inner import make\n", "pkg/inner.py": "from data import make\n"},
    ),
    "star with __all__": (
        "from named import *\nmodel.fit(_make())",
        {"named.py": "from data import make as _make\n__all__ = ['_make']\n"},
    ),
}
LIBRARY = """\
import tensorflow as tf
def aug(x):
    return x + tf.random.uniform([])
def make():
    return tf.data.Dataset.range(9).map(aug).batch(2)
ds = make()
class Data:
    def __init__(self):
        self.train = make()
"""


@pytest.mark.parametrize("how", CROSS)
def test_datasets_come_from_other_modules(tmp_path, how):
    script, others = CROSS[how]
    module = load(tmp_path, {"train.py": f"{MODEL}{script}\n", "data.py": LIBRARY, **others})
    assert sinks(module) == ["train: range map batch"]


@pytest.mark.parametrize(
    ("script", "others"),
    [
        ("from ..data import make", {"a/data.py": LIBRARY, "a/__init__.py": "", "a/b/__init__.py": ""}),
        ("from .data import make", {"a/b/data.py": LIBRARY}),
        ("from . import data\nmake = data.make", {"a/b/data.py": LIBRARY, "a/b/__init__.py": ""}),
        ("from a.data import make", {"a/data.py": LIBRARY}),
    ],
)
def test_relative_and_absolute_imports_of_a_package(tmp_path, script, others):
    module = load(tmp_path, {"a/b/train.py": f"{MODEL}{script}\nmodel.fit(make())\n", **others})
    assert sinks(module) == ["train: range map batch"]


@pytest.mark.parametrize(
    ("data", "because"),
    [
        ("print 'Python 2'\n", "it does not parse"),
        ("from train import model\nfrom train import make\n", "the cycle defines nothing"),
        ("def make(\n", "it ends early"),
        ("", "it is empty"),
    ],
)
def test_a_name_missing_in_another_module_is_unknown(tmp_path, data, because):
    module = load(tmp_path, {"train.py": f"{MODEL}from data import make\nshow(make())\n", "data.py": data})
    assert shown(module) == [UNKNOWN], because


def test_cyclic_imports(tmp_path):
    data = "import tensorflow as tf\nimport train\ndef make():\n    return tf.data.Dataset.range(9).map(train.aug)\n"
    script = f"{MODEL}import data\ndef aug(x):\n    return x\nmodel.fit(data.make())\n"
    assert sinks(load(tmp_path, {"train.py": script, "data.py": data})) == ["train: range map"]


def test_settings_of_another_module(tmp_path):
    config = "N = 4\nclass Config:\n    N = 5\n    M = load()\n"
    script = "from config import N, Config\nimport config as c\nfor v in (N, Config.N, Config.M, c.N, c.missing):\n    pass\nshow([N, Config.N, Config.M, c.N, c.missing])\n"
    (values,) = shown(load(tmp_path, {"train.py": script, "config.py": config}))
    assert values.items == [Constant(4), Constant(5), UNKNOWN, Constant(4), UNKNOWN]


def test_main_of_another_module_does_not_run(tmp_path):
    data = LIBRARY + "def main():\n    keras.Sequential([]).fit(make())\nif __name__ == '__main__':\n    main()\n"
    module = load(
        tmp_path,
        {
            "train.py": f"{MODEL}from data import make\nif __name__ == '__main__':\n    model.evaluate(make())\n",
            "data.py": data,
        },
    )
    assert sinks(module) == ["evaluate: range map batch"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ds = base\nds = ds.map(aug)\nds = ds.batch(2)", "range map batch"),
        ("ds = base\nif flag:\n    ds = ds.map(aug)", "range map?"),
        ("ds = base.map(aug) if flag else base", "range map?"),
        (
            "ds = base\nif flag:\n    ds = ds.map(aug)\nds = ds.batch(2)\nif other:\n    ds = ds.prefetch(2)",
            "range map? batch prefetch?",
        ),
        ("ds = base\nfor f in load():\n    ds = ds.map(f)", "range map?"),
        ("ds = base\nwhile load():\n    ds = ds.map(aug)", "range map?"),
        ("with tf.device('/cpu:0'):\n    ds = base.map(aug)", "range map"),
        ("try:\n    ds = base.map(aug)\nexcept ValueError:\n    raise", "range map"),
        (
            "import sys\ntry:\n    ds = base.map(aug)\nexcept ValueError:\n    sys.exit()\nelse:\n    ds = ds.batch(2)\nfinally:\n    print()",
            "range map batch",
        ),
        ("match kind:\n    case 'a':\n        ds = base.map(aug)\n    case _:\n        raise ValueError", "range map"),
        (
            "def make():\n    ds = base.map(aug)\n    if flag:\n        return ds.batch(2)\n    return ds\nds = make()",
            "range map batch?",
        ),
        ("def make(d):\n    if flag:\n        raise ValueError\n    return d.map(aug)\nds = make(base)", "range map"),
        ("d, ds = base, base.map(aug)", "range map"),
        ("def pair():\n    return base, base.map(aug)\nd, ds = pair()", "range map"),
        ("ds = {'train': base.map(aug)}['train']", "range map"),
        ("sets = {}\nfor k in load():\n    sets[k] = base.map(aug)\nds = sets['train']", "range map"),
        ("ds = {k: base.map(aug) for k in load()}['train']", "range map"),
        ("ds = [base.map(aug) for f in load()][0]", "range map"),
        ("a, ds = [d.map(aug) for d in (base, base)]", "range map"),
        ("a, ds = map(lambda d: d.map(aug), (base, base))", "range map"),
        ("ds = base\nfor op in (lambda d: d.map(aug), lambda d: d.batch(2)):\n    ds = op(ds)", "range map batch"),
        (
            "class D:\n    def __init__(self): self.ds = self.make()\n    def make(self): return base.map(aug)\nds = D().ds",
            "range map",
        ),
        (
            "from typing import NamedTuple\nclass S(NamedTuple):\n    train: object\n    val: object\nds = S(base.map(aug), base).train",
            "range map",
        ),
        ("ds = base.apply(lambda d: d.map(aug).batch(2))", "range map batch"),
        ("ds = base.apply(load())", "range apply"),
        ("ds = base.apply(tf.data.experimental.map_and_batch(aug, 2))", "range map_and_batch"),
        ("ds = tf.data.Dataset.map(base, aug)", "range map"),
        ("m = base.map\nds = m(aug)", "range map"),
        ("ds = getattr(base, 'map')(aug)", "range map"),
        ("ds = (a := base.map(aug))", "range map"),
        ("MAKERS = {'a': lambda: base.map(aug)}\nds = MAKERS[kind]()", "range map"),
        (
            "import functools\n@functools.lru_cache(maxsize=None)\ndef make(): return base.map(aug)\nds = make()",
            "range map",
        ),
        (
            "def outer():\n    ds = base\n    def inner():\n        nonlocal ds\n        ds = ds.map(aug)\n    inner()\n    return ds\nds = outer()",
            "range map",
        ),
        ("ds = None\ndef setup():\n    global ds\n    ds = base.map(aug)\nsetup()", "range map"),
        ("def f[T](d: T) -> T:\n    return d.map(aug)\nds = f(base)", "range map"),
        ("class C[T]:\n    def f(self): return base.map(aug)\nds = C().f()", "range map"),
        ("def make(*args, **kwargs):\n    return base.map(*args, **kwargs)\nds = make(aug)", "range map"),
    ],
)
def test_datasets_flow_to_fit(tmp_path, text, expected):
    assert f"train: {expected}" in sinks(load(tmp_path, f"{DATA}{text}\nmodel.fit(ds)\n"))


@pytest.mark.parametrize(
    "decorator",
    [
        "def log(f):\n    @functools.wraps(f)\n    def inner(*args, **kwargs):\n        return f(*args, **kwargs)\n    return inner\n@log",
        "def log(f):\n    return lambda *args: f(*args)\n@log",
        "def log(n):\n    def outer(f):\n        @functools.wraps(f)\n        def inner(*a, **k):\n            return f(*a, **k)\n        return inner\n    return outer\n@log(3)",
        "from somewhere import log\n@log",
        "from somewhere import log\n@log(3)",
        "import gin\n@gin.configurable",
        "@functools.lru_cache",
        "@tf.autograph.experimental.do_not_convert",
    ],
)
def test_decorated_functions_are_followed(tmp_path, decorator):
    text = f"{DATA}import functools\n{decorator}\ndef make(n):\n    return base.map(aug).batch(n)\nmodel.fit(make(2))\n"
    assert "train: range map batch" in sinks(load(tmp_path, text))


@pytest.mark.parametrize(
    "start",
    [
        "if __name__ == '__main__':\n    main(parse())",
        "if '__main__' == __name__:\n    main(parse())",
        "main(parse())",
        "",
        "import absl.app as app\nif __name__ == '__main__':\n    app.run(main)",
        "import fire\nfire.Fire(main)",
        "import click\nmain = click.command()(main)\nmain()",
    ],
)
def test_every_way_to_start_a_script(tmp_path, start):
    text = f"""{DATA}
import argparse
def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--workers', type=int, default=1)
    return p.parse_args()
def build(args):
    m = keras.Sequential([keras.layers.Dense(args.units)])
    m.compile('adam', 'mse')
    return m
def main(args):
    m = build(args)
    m.fit(base.map(aug, num_parallel_calls=args.workers))
{start}
"""
    assert sinks(load(tmp_path, text)) == ["train: range map"]


@pytest.mark.parametrize(
    ("text", "datasets"),
    [
        ("def f(n):\n    return f(n - 1) if n else base\nshow(f(load()))", 1),
        ("def f(): return g()\ndef g(): return f()\nshow(f())", 0),
        ("class C:\n    def f(self): return self.f()\nshow(C().f())", 0),
        ("f = lambda: f()\nshow(f())", 0),
        ("x = x\nclass A(A): pass\nshow(A().y)", 0),
    ],
)
def test_recursion_ends(tmp_path, text, datasets):
    (value,) = shown(load(tmp_path, f"{DATA}{text}\n"))
    assert sum(isinstance(option, Dataset) for option in options_of(value)) == datasets


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "name = t'hello {base.map(aug)}'",
            marks=pytest.mark.skipif(not hasattr(cst, "TemplatedString"), reason="needs a libcst that reads t-strings"),
        ),
        "type Alias = int",
        "print(f\"{'a' + f'{1}'}{base!r:>{10}}\")",
        "try:\n    pass\nexcept* ValueError:\n    pass",
        "async def main():\n    async with a() as b, c() as d:\n        async for e in b: await e\n        [x async for x in d]",
        "with (open('a') as a, open('b') as b):\n    pass",
        "def f(a, /, b, *, c): pass",
        "x = (yield_ := 3)",
        "a[b, ..., 1:2] = c",
        "print(*[1], sep='')",
        "@(lambda f: f)\ndef f(): pass",
        "for x in *a, *b: pass",
        "lambda *a, k=1, **kw: (yield)",
        "assert a, b; del a, b[0]",
        "x: list[int]",
        "return_ = not a < b <= c",
        "'%s' % base; b'' b''; r'\\d'; ...; 1j; 1e400; 0o17",
    ],
)
def test_rare_syntax_is_traversed(tmp_path, text):
    assert "train: range map" in sinks(load(tmp_path, f"{DATA}{text}\nmodel.fit(base.map(aug))\n"))


@pytest.mark.parametrize(
    ("loop", "turns"),
    [
        ("while True:\n    show(1)\n    break", 1),
        ("while True: show(1); break", 1),
        ("for item in load():\n    show(1)\n    break", 1),
        ("for item in range(50):\n    with load():\n        show(1)\n        break", 1),
        ("def first():\n    for item in load():\n        show(1)\n        return item\nfirst()", 1),
        ("for item in load():\n    for other in load():\n        continue\n    show(1)\n    raise ValueError", 1),
        ("for item in load():\n    show(1)\n    if item: break", None),
        ("for item in load():\n    if item: continue\n    show(1)\n    break", None),
        ("while True:\n    try:\n        show(1)\n        break\n    except OSError: pass", None),
    ],
)
def test_loops_that_end_in_their_first_iteration(tmp_path, loop, turns):
    module = load(tmp_path, loop, "from z import load, show\n")
    call = next(call for call in module.run.calls if call.name == "z.show")
    assert call.path.innermost_loop(within="program").trips == turns


def test_effects_of_a_loop_with_a_break_are_optional(tmp_path):
    module = load(tmp_path, "class C: pass\nc = C()\nc.n = 1\nfor item in load():\n    c.n = 2\n    break\nshow(c.n)")
    assert constants(module) == [1, 2]


@pytest.mark.parametrize(
    "end", ["exit()", "quit()", "import sys\nsys.exit(1)", "import os\nos._exit(0)", "raise SystemExit"]
)
def test_nothing_runs_after_the_end_of_the_program(tmp_path, end):
    module = load(tmp_path, f"from z import mark\nmark(1)\n{end}\nmark(2)\ndef f(): mark(3)\n")
    assert [constant(call.first) for call in module.run.calls if call.name == "z.mark"] == [1]


def test_a_conditional_exit_or_one_in_a_function_does_not_end_the_program(tmp_path):
    module = load(tmp_path, "from z import mark, x\ndef f():\n    exit()\n    mark(1)\nif x: exit()\nmark(2)\n")
    assert [constant(call.first) for call in module.run.calls if call.name == "z.mark"] == [2]


def test_cells_run_after_a_cell_that_ends_the_kernel(tmp_path):
    cells = ["from z import mark\nimport os\nos._exit(0)", "mark(1)"]
    text = json.dumps(
        {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}, "nbformat": 4}
    )
    assert any(call.name == "z.mark" for call in load(tmp_path, {"train.ipynb": text}).run.calls)


@pytest.mark.parametrize(
    "manager",
    [
        "pytest.raises(ValueError)",
        "self.assertRaises(ValueError)",
        "assert_raises(ValueError)",
        "self.assertRaisesRegex(ValueError, 'x') as error",
    ],
)
def test_a_provoked_error_does_not_count_as_run(tmp_path, manager):
    module = load(
        tmp_path,
        f"from z import mark\nimport pytest\ndef f(n): mark(n)\ndef g(): f(1)\nwith {manager}:\n    g()\n    mark(2)\nf(3)\n",
    )
    assert [constant(call.first) for call in module.run.calls if call.name == "z.mark"] == [3]


def test_notebook_cells_run_in_order(tmp_path):

    cells = [
        {"cell_type": "code", "source": DATA, "metadata": {}, "outputs": [], "execution_count": None},
        {"cell_type": "markdown", "source": "ds = base", "metadata": {}},
        {
            "cell_type": "code",
            "source": "%time\nds = base.map(aug)\n!ls",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        },
        {
            "cell_type": "code",
            "source": ["ds = ds.batch(2)\n", "model.fit(ds)"],
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        },
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert sinks(load(tmp_path, {"train.ipynb": notebook})) == ["train: range map batch"]


def test_options_of_a_value_stay_few(tmp_path):
    branches = "".join(f"elif k == {i}: n = {i}\n" for i in range(30))
    (value,) = shown(load(tmp_path, f"if k: n = -1\n{branches}show(n)\n"))
    assert value is UNKNOWN or (isinstance(value, UnionValue) and len(value.options) <= 8)


@pytest.mark.parametrize(
    ("text", "is_tensor"),
    [
        ("with tf.GradientTape() as t: loss = f(x)\nt.gradient(loss, v)\nshow(loss)", True),
        ("with tf.GradientTape() as t:\n    loss = f(x)\n    show(loss)\nt.gradient(target=loss, sources=v)", True),
        ("import lib\nwith tf.GradientTape() as t: loss = lib.f(x)\nt.gradient(loss, v)\nshow(loss)", True),
        ("with tf.GradientTape() as t: loss = f(x).loss\nt.jacobian(loss, v)\nshow(loss)", True),
        ("with tf.GradientTape() as t, tf.GradientTape() as s: loss, other = f(x)\ns.gradient([loss], v)\nshow(loss)", True),
        ("def step():\n    with tf.GradientTape() as t:\n        loss = 0\n        loss += f(x)\n    t.gradient(loss, v)\n    return loss\nshow(step())", True),
        ("with tf.GradientTape() as t:\n    loss = f(x)\n    scaled = opt.get_scaled_loss(loss)\nt.gradient(scaled, v)\nshow(loss)", True),
        # Beside it, before it, or passed to unknown code.
        ("with tf.GradientTape() as t: loss, other = f(x)\nt.gradient(loss, v)\nshow(other)", False),
        ("loss = f(x)\nwith tf.GradientTape() as t: y = f(x)\nt.gradient(y, v)\nshow(loss)", False),
        ("with tf.GradientTape() as t: loss = f(x)\nn.gradient(loss, v)\nshow(loss)", False),
        ("with tf.GradientTape() as t: loss = 3\nt.gradient(loss, v)\nshow(loss)", False),
    ],
)  # fmt: skip
def test_a_differentiated_value_is_a_tensor(tmp_path, text, is_tensor):
    assert holds_tensor(shown(load(tmp_path, MODEL + text))[0]) is is_tensor


@pytest.mark.parametrize(("length", "expected"), [(1, [49]), (2000, ["?"])])
def test_short_modules_count_by_their_length(tmp_path, length, expected):
    files = {f"parts/part{i}.py": f"LIMIT = {i}\nmake = tf.data.Dataset\n" + "x = 1\n" * length for i in range(50)}
    lines = "".join(f"from parts.part{i} import LIMIT\nshow(LIMIT)\n" for i in range(50))
    module = load(tmp_path, {"train.py": lines, **files})
    last = module.run.calls[-1].arguments.positional[0]
    assert [option.value if isinstance(option, Constant) else "?" for option in options_of(last)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "kept = []\nkept.append(kept)",
        "kept = []\nkept.extend([kept])",
        "kept = []\nkept += [kept]",
        "kept = [1]\nother = [kept]\nkept.append(other)",
        "kept = {}\nkept['a'] = kept",
        "kept = {}\nkept.update(a={'b': [kept]})",
        "kept = []\nfor i in range(3):\n    kept.append((kept, i))",
        "def add(x):\n    x.append(x)\n    return x\nkept = add([])",
    ],
)
def test_a_container_that_holds_itself_is_cheap(tmp_path, text):
    module = load(
        tmp_path, f"{text}\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.fit(kept)\n", head=IMPORTS
    )
    assert module.run.calls[-1].name == "keras.Model.fit"
    assert list(flat(module.run.calls[-1].arguments.positional[0]))
