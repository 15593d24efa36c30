"""Insertions below imports, and spellings of library names."""

import libcst as cst
import pytest
from edit_cases import applied, call, check

from kerascheck.finding import Applicability, Fix
from kerascheck.fixes.apply import compose
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\nb\n", "import a\n\nNEW\n\nb\n"),
        ("import a\n\n\nb\n", "import a\n\nNEW\n\n\nb\n"),
        ("import a\nb\n", "import a\n\nNEW\n\nb\n"),
        ("import a\n# c\nb\n", "import a\n\nNEW\n\n# c\nb\n"),
        ("import a", "import a\n\nNEW\n"),
        ("import a\n", "import a\n\nNEW\n"),
        (
            "import a  # c\nfrom b import (\n    c,  # d\n)  # e\n\nd\n",
            "import a  # c\nfrom b import (\n    c,  # d\n)  # e\n\nNEW\n\nd\n",
        ),
        ("'''doc'''\n\nb\n", "'''doc'''\n\nNEW\n\nb\n"),
        ("'''doc'''\nfrom __future__ import a\n\nb\n", "'''doc'''\nfrom __future__ import a\n\nNEW\n\nb\n"),
        ("b\n", "NEW\n\nb\n"),
        ("", "NEW\n"),
        ("#!/usr/bin/python\n# coding: utf-8\nb\n", "#!/usr/bin/python\n# coding: utf-8\nNEW\n\nb\n"),
        ("# Licence\n# more\n\nb\n", "# Licence\n# more\n\nNEW\n\nb\n"),
        ("# about b\nb\n", "NEW\n\n# about b\nb\n"),
        (
            "import os\nos.environ['A'] = '1'\nimport b\n\nc\n",
            "import os\nos.environ['A'] = '1'\nimport b\n\nNEW\n\nc\n",
        ),
        ("import a\nN = 1\nprint('x')\nimport b\nc\n", "import a\nN = 1\nprint('x')\nimport b\n\nNEW\n\nc\n"),
        ("import a\nx = a.f()\nimport b\n", "import a\n\nNEW\n\nx = a.f()\nimport b\n"),
        ("import a\nos.environ['A'] = '1'\n\nc\n", "import a\n\nNEW\n\nos.environ['A'] = '1'\n\nc\n"),
        (
            "try:\n    import a\nexcept ImportError:\n    a = None  # c\n\nb\n",
            "try:\n    import a\nexcept ImportError:\n    a = None  # c\n\nNEW\n\nb\n",
        ),
        ("import a\nif T:\n    import b\n\n\nc\n", "import a\nif T:\n    import b\n\nNEW\n\n\nc\n"),
        (
            "import a\nif __name__ == '__main__':\n    import b\n",
            "import a\n\nNEW\n\nif __name__ == '__main__':\n    import b\n",
        ),
        ("import a\ndef f():\n    import b\n", "import a\n\nNEW\n\ndef f():\n    import b\n"),
        (
            "import a\ntry:\n    import b\n    for i in b: c\nexcept D: e\n",
            "import a\n\nNEW\n\ntry:\n    import b\n    for i in b: c\nexcept D: e\n",
        ),
        ("import a; import b;  # c\nc\n", "import a; import b;  # c\n\nNEW\n\nc\n"),
        ("import a, \\\n    b\nc\n", "import a, \\\n    b\n\nNEW\n\nc\n"),
    ],
)
def test_insert_after_imports(before, after):
    check(before, after, lambda tree: edits.insert_after_imports(tree, "NEW\n"))
    for text in ("NEW", "\nNEW\n\n"):
        assert applied(before, lambda tree, text=text: edits.insert_after_imports(tree, text)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\nb\n", "import a\nimport n\n\nb\n"),
        ("import a\nb\n", "import a\nimport n\nb\n"),
        ("'''doc'''\nb\n", "'''doc'''\n\nimport n\n\nb\n"),
        ("'''doc'''\n\nb\n", "'''doc'''\n\nimport n\n\nb\n"),
        ("b\n", "import n\n\nb\n"),
    ],
)
def test_insert_import(before, after):
    check(before, after, lambda tree: edits.insert_after_imports(tree, "import n"))


def test_insert_after_a_later_import_in_use():
    before = "import os\nx = f()\nimport tensorflow as tf\ny = 1\nimport keras\n"
    after = "import os\nx = f()\nimport tensorflow as tf\n\nfor g in tf.h():\n    g()\n\ny = 1\nimport keras\n"
    check(before, after, lambda tree: edits.insert_after_imports(tree, "for g in tf.h():\n    g()\n"))


TF = "tensorflow.data.AUTOTUNE"
SIN = "keras.ops.sin"


@pytest.mark.parametrize(
    ("code", "dotted", "expected", "new_import"),
    [
        ("import tensorflow as tf", TF, "tf.data.AUTOTUNE", None),
        ("import tensorflow", TF, "tensorflow.data.AUTOTUNE", None),
        ("import tensorflow.keras", TF, "tensorflow.data.AUTOTUNE", None),
        ("import tensorflow.compat.v1 as tf", TF, "tf.data.AUTOTUNE", None),
        ("import tensorflow.compat.v2 as tf", TF, "tf.data.AUTOTUNE", None),
        ("from tensorflow import data", TF, "data.AUTOTUNE", None),
        ("from tensorflow import data as d", TF, "d.AUTOTUNE", None),
        ("from tensorflow.data import AUTOTUNE", TF, "AUTOTUNE", None),
        ("from tensorflow.data.experimental import AUTOTUNE as A", TF, "A", None),
        ("import tensorflow as tf\nfrom tensorflow import data", TF, "data.AUTOTUNE", None),
        ("import tensorflow as tf\ndef f(data): pass\nfrom tensorflow import data", TF, "tf.data.AUTOTUNE", None),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None", TF, "tf.data.AUTOTUNE", None),
        ("try:\n    import tensorflow.compat.v1 as tf\nexcept E:\n    import tensorflow as tf", TF, "tf.data.AUTOTUNE", None),
        ("import tensorflow as tf\ndef f():\n    import tensorflow as tf", TF, "tf.data.AUTOTUNE", None),
        ("import tensorflow as tf\nclass A:\n    tf = 1\n    def tf(self): pass", TF, "tf.data.AUTOTUNE", None),
        ("x = 1", TF, "tf.data.AUTOTUNE", "import tensorflow as tf"),
        ("def f():\n    import tensorflow as tf", TF, None, None),
        ("import keras\ndef f():\n    import tensorflow as tf", TF, None, None),
        ("if TYPE_CHECKING:\n    import tensorflow as tf", TF, "tensorflow.data.AUTOTUNE", "import tensorflow"),
        ("from . import tensorflow as tf", TF, "tensorflow.data.AUTOTUNE", "import tensorflow"),
        ("import torchfuse as tf", TF, "tensorflow.data.AUTOTUNE", "import tensorflow"),
        ("import tensorflow as tf\nfor tf in y: pass", TF, "tensorflow.data.AUTOTUNE", "import tensorflow"),
        ("from tensorflow import data\ndata = load()", TF, "tf.data.AUTOTUNE", "import tensorflow as tf"),
        ("from tensorflow import *", TF, "tf.data.AUTOTUNE", "import tensorflow as tf"),
        ("import keras", SIN, "keras.ops.sin", None),
        ("import keras as k", SIN, "k.ops.sin", None),
        ("from tensorflow import keras", SIN, "keras.ops.sin", None),
        ("import tensorflow.keras as K", SIN, "K.ops.sin", None),
        ("from keras import ops", SIN, "ops.sin", None),
        ("from keras.ops import sin as s", SIN, "s", None),
        ("import tf_keras", SIN, "tf_keras.ops.sin", None),
        ("import tensorflow as tf", SIN, "tf.keras.ops.sin", None),
        ("import tensorflow as tf\nfrom tensorflow.keras import layers", SIN, "tf.keras.ops.sin", None),
        ("import tensorflow as tf\nfrom keras import layers", SIN, "keras.ops.sin", "import keras"),
        ("from keras import layers", SIN, "keras.ops.sin", "import keras"),
        ("from tensorflow.keras import layers", SIN, "keras.ops.sin", "from tensorflow import keras"),
        ("from tensorflow.keras.layers import *", SIN, "keras.ops.sin", "from tensorflow import keras"),
        ("from tf_keras import layers", SIN, "keras.ops.sin", "import tf_keras as keras"),
        ("from tensorflow.python import keras", SIN, None, None),
        ("import numpy as np", SIN, "keras.ops.sin", "import keras"),
        ("import tensorflow as tf\nkeras = tf.keras", SIN, "tf.keras.ops.sin", None),
        ("from keras import layers as L", "tensorflow.keras.layers.Dense", "L.Dense", None),
        ("import keras", "keras", "keras", None),
        ("x = 1", "os.environ", "os.environ", "import os"),
        ("x = 1", "numpy.float32", "np.float32", "import numpy as np"),
        ("np = 1", "numpy.float32", "numpy.float32", "import numpy"),
        ("from tf_keras import layers\nkeras = 1", SIN, None, None),
        ("from tensorflow.keras import layers\nkeras = 1", SIN, None, None),
        ("keras = 1", SIN, None, None),
        ("tf = tensorflow = 1", TF, None, None),
        *(
            (f"import tensorflow as tf\n{binding}", TF, "tensorflow.data.AUTOTUNE", "import tensorflow")
            for binding in (
                "tf = 1", "(a, [*tf]) = y", "tf: int = 1", "tf += 1", "with a as tf: pass", "with a as (b, tf): pass",
                "def tf(): pass", "class tf: pass", "f(tf := 1)", "[tf for tf in y]", "lambda tf: 1", "del tf",
                "try:\n    a\nexcept E as tf:\n    pass", "def f(*tf): pass", "def f(a, /, *, tf): pass", "def f(**tf): pass",
                "match a:\n    case [b, *tf]:\n        pass", "match a:\n    case B() as tf:\n        pass",
                "match a:\n    case {**tf}:\n        pass", "import other as tf", "tf = None",
            )
        ),
    ],
)  # fmt: skip
def test_spelling(code, dotted, expected, new_import):
    tree = Tree(code + "\n")
    if expected is None:
        with pytest.raises(CannotEdit):
            edits.spelling(tree, dotted)
        return
    text, made = edits.spelling(tree, dotted)
    assert text == expected
    assert [edit.content.strip() for edit in made] == ([new_import] if new_import else [])
    assert made == edits.spelling(tree, dotted)[1]


LATE = "f()\nimport tensorflow as tf\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import tensorflow as tf\nHERE", "tf.data.AUTOTUNE"),
        # The location runs, or may run, before the import.
        ("HERE\nimport tensorflow as tf", None),
        (f"{LATE}HERE", "tf.data.AUTOTUNE"),
        (f"{LATE}def g(): HERE", "tf.data.AUTOTUNE"),
        (f"def g(): HERE\n{LATE}", None),
        ("def g(): HERE\nx = 1\nimport tensorflow as tf", "tf.data.AUTOTUNE"),
        ("@f\ndef g(): HERE\nimport tensorflow as tf", None),
        # The import may not run.
        ("if x: import tensorflow as tf\nHERE", None),
        ("if x:\n    import tensorflow as tf\n    HERE", "tf.data.AUTOTUNE"),
        ("if x:\n    import tensorflow as tf\n    def f(): HERE", None),
        ("if __name__ == '__main__':\n    import tensorflow as tf\n    HERE", "tf.data.AUTOTUNE"),
        ("if x: import tensorflow as tf\nelse: import tensorflow as tf\nHERE", "tf.data.AUTOTUNE"),
        ("try:\n    import tensorflow as tf\nexcept E:\n    tf = None\nHERE", "tf.data.AUTOTUNE"),
        ("try:\n    import other\n    import tensorflow as tf\nexcept E:\n    tf = None\nHERE", None),
        ("import keras\nif TYPE_CHECKING: import tensorflow as tf\nHERE", "tensorflow.data.AUTOTUNE"),
        # Imports of functions and classes.
        ("def f():\n    import tensorflow as tf\n    HERE", "tf.data.AUTOTUNE"),
        ("def f():\n    HERE\n    import tensorflow as tf", None),
        ("def f():\n    if x: import tensorflow as tf\n    HERE", None),
        ("def f():\n    import tensorflow as tf\n    def g(): HERE", None),
        ("def f():\n    import tensorflow as tf\nHERE", None),
        ("import tensorflow as tf\ndef f():\n    import tensorflow as tf\n    HERE", "tf.data.AUTOTUNE"),
        ("import tensorflow as tf\ndef f():\n    HERE\n    import tensorflow as tf", "tensorflow.data.AUTOTUNE"),
        ("import keras\ndef f():\n    import tensorflow as tf\nHERE", None),
        ("import tensorflow as tf\nclass A:\n    tf = 1\n    HERE", "tensorflow.data.AUTOTUNE"),
        ("import tensorflow as tf\nclass A:\n    tf = 1\n    def f(self): HERE", "tf.data.AUTOTUNE"),
        # Parts of the library, and stars.
        ("import tensorflow.data as td\nHERE", "td.AUTOTUNE"),
        ("from tensorflow import lookup\nHERE", "tf.data.AUTOTUNE"),
        ("import tensorflow as tf\nfrom keras.layers import *\nHERE", "tf.data.AUTOTUNE"),
        ("import tensorflow as tf\nfrom helpers import *\nHERE", "tensorflow.data.AUTOTUNE"),
        ("from helpers import *\nimport tensorflow as tf\nHERE", "tf.data.AUTOTUNE"),
        ("from helpers import *\nprint(tf)\nHERE", "tensorflow.data.AUTOTUNE"),
        ("from tensorflow import data\nfrom keras import *\nHERE", "tf.data.AUTOTUNE"),
        ("x = 1\nf()\nfrom helpers import *\nHERE", None),
        # The program enumerates its names.
        ("print(dir())\nHERE", None),
        ("for name in globals(): print(name)\nHERE", None),
        ("print(vars(args))\nHERE", "tf.data.AUTOTUNE"),
        ("import sys\nprint(sys.modules[__name__])\nHERE", None),
        ("import tensorflow as tf\nprint(dir())\nHERE", "tf.data.AUTOTUNE"),
        # A new import does not precede the program's own import of the library.
        ("import os\nf()\nimport keras\nHERE", None),
        ("import os\nos.environ['A'] = '1'\nimport keras\nHERE", "tf.data.AUTOTUNE"),
    ],
)
def test_spelling_at_a_location(code, expected):
    tree = Tree(code + "\n")
    place = next(found for found in tree.parents if isinstance(found, cst.Name) and found.value == "HERE")
    if expected is None:
        with pytest.raises(CannotEdit):
            edits.spelling(tree, TF, at=place)
    else:
        assert edits.spelling(tree, TF, at=place)[0] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (LATE, None),
        ("x = 1\nimport tensorflow as tf", "tf.data.AUTOTUNE"),
        ("import tensorflow as tf\ndef f():\n    x()\n    import tensorflow as tf", "tensorflow.data.AUTOTUNE"),
        ("import tensorflow as tf\nclass A:\n    tf = f()", "tensorflow.data.AUTOTUNE"),
    ],
)
def test_spelling_without_location_needs_a_name_bound_everywhere(code, expected):
    tree = Tree(code + "\n")
    if expected is None:
        with pytest.raises(CannotEdit):
            edits.spelling(tree, TF)
    else:
        assert edits.spelling(tree, TF)[0] == expected


def test_free_name():
    assert edits.free_name(Tree("gpus = 1\n"), ("gpu", "device")) == "gpu"
    assert edits.free_name(Tree("def f(gpu): pass\n"), ("gpu", "device")) == "device"
    assert edits.free_name(Tree("print(gpu)\n"), ("gpu", "device")) == "device"
    for code in ("gpu = device = 1\n", "print(dir())\n"):
        with pytest.raises(CannotEdit):
            edits.free_name(Tree(code), ("gpu", "device"))


def test_import_precedes_the_text_that_uses_it():
    tree = Tree('"""Doc."""\n\nimport os\n\nx = 1\n')
    text, new_import = edits.spelling(tree, "tensorflow.config")
    made = (*new_import, *edits.insert_after_imports(tree, f"gpus = {text}.list_physical_devices()"))
    result, _ = compose(tree.text, [Fix(Applicability.SAFE, "", made)])
    assert result == (
        '"""Doc."""\n\nimport os\nimport tensorflow as tf\n\ngpus = tf.config.list_physical_devices()\n\nx = 1\n'
    )


def test_two_fixes_share_one_import():
    tree = Tree("import os\n\nx.map(f)\ny.map(g)\n")
    fixes = []
    for nth in (0, 1):
        text, new_import = edits.spelling(tree, TF)
        made = edits.add_keyword(tree, call(tree, "map", nth), "num_parallel_calls", text)
        fixes.append(Fix(Applicability.SAFE, "", new_import + made))
    result, done = compose(tree.text, fixes)
    assert len(done) == 2
    assert result == (
        "import os\nimport tensorflow as tf\n\n"
        "x.map(f, num_parallel_calls=tf.data.AUTOTUNE)\ny.map(g, num_parallel_calls=tf.data.AUTOTUNE)\n"
    )


def test_names_as_written_keeps_old_spellings():
    tree = Tree(
        "import tensorflow as tf\nfrom tensorflow.keras import layers as L\nfrom tensorflow.keras.mixed_precision import experimental\n"
        "import tensorflow as t\nimport tensorflow.compat.v1 as t\n"
        "tf.data.experimental.AUTOTUNE\nL.experimental.preprocessing.Resizing\nexperimental.Policy\nt.Session\nother.tf.Session\nf(tf=1)\n"
    )
    found = [dotted for _, dotted in edits.names_as_written(tree, {"AUTOTUNE", "Resizing", "experimental", "Session"})]
    assert sorted(set(found)) == [
        "keras.layers.experimental", "keras.layers.experimental.preprocessing.Resizing", "keras.mixed_precision.experimental",
        "tensorflow.data.experimental", "tensorflow.data.experimental.AUTOTUNE",
    ]  # fmt: skip
    assert not any("Policy" in dotted for _, dotted in edits.names_as_written(tree, {"Session"}))
