"""Function summaries: pure calls are followed once, other calls each time."""

import pytest
from snippets import MODEL, load, shown

from kerascheck.interpreter.values import UNKNOWN, Tensor

HEAD = MODEL + "import time\nimport numpy as np\n"


def runs(module, name="numpy.log"):
    """The number of times a function that calls ``np.log`` was followed."""
    return sum(call.name == name for call in module.run.calls)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a): return np.log(a)\nf(x); f(y); f(z)",
        "def f(a, n): return np.log(a)\nf(x, 1); f(x, 2)",
        "def f(a):\n    kept = []\n    kept.append(np.log(a))\n    kept.sort()\nf(x); f(y)",
        "def f(a):\n    found = {}\n    found['log'] = np.log(a)\n    found[a] = 1\n    found.update(b=2)\nf(x); f(y)",
        "def f(a):\n    b = np.zeros(3)\n    b[0] = np.log(a)\n    return b\nf(x); f(y)",
        "class P:\n    def __init__(self, a): self.a = a\ndef f(a):\n    p = P(np.log(a))\n    p.a = 3\nf(x); f(y)",
        "def f(a): return np.log(a)\nfor i in range(9):\n    f(x)\n    f(y)",
        "def f(a): return tf.constant(np.log(a))\n@tf.function\ndef g(): f(x)\nfor i in v: g()\nfor i in w: g()",
        "class P:\n    def f(self, a): return np.log(a)\np = P()\np.f(x); P().f(x); p.f(y)",
        "class P:\n    def __init__(self): self.me = self\n    def f(self, a): return np.log(a)\np = P()\np.f(x); p.f(y)",
        "l = []\nl.append(l)\ndef f(a): return np.log(a)\nf(l); f(l)",
        "def g(a): return np.log(a)\ndef f(a): return g(a), {'a': [None]}\nf(x); f(y)",
        "def f(a):\n    l = [np.log(a)]\n    l.append(l)\n    return l\nf(x); f(y)",
    ],
)
def test_a_pure_function_is_followed_once(tmp_path, text):
    assert runs(load(tmp_path, HEAD + text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    global n\n    n = np.log(a)\nf(x); f(y)",
        "def f(a): d['a'] = np.log(a)\nd = {}\nf(x); f(y)",
        "def f(a):\n    d['a'] = np.log(a)\n    p = {}\n    p['b'] = 1\nd = {}\nf(x); f(y)",
        "def f(a, d): d.append(np.log(a))\nd = []\nf(x, d); f(y, d)",
        "def f(a): d.pop(np.log(a))\nd = [1]\nf(x); f(y)",
        "def f(a): p.a = np.log(a)\nclass P: pass\np = P()\nf(x); f(y)",
        "class P:\n    def f(self, a): self.a = np.log(a)\np = P()\np.f(x); p.f(y)",
        "def f(a):\n    np.log(a)\n    return keras.layers.Dense(3)\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    model.fit(x)\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    t.apply_gradients(a)\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    return tf.data.Dataset.range(3)\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    for b in d: pass\nd = tf.data.Dataset.range(3)\nf(x); f(y)",
        "def f(a): return np.log(a), time.time()\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    t = time.time()\nf(x); f(y)",
        "def g(a): pass\ndef f(a):\n    d['a'] = np.log(a)\n    g(a)\nd = {}\nf(x); f(y)",
        "def g(a): d['a'] = np.log(a)\ndef f(a): g(a)\nd = {}\nf(x); f(y)",
        "class P:\n    def __init__(self, b): self.b = [b]\n    def f(self, a): return np.log(a)\nP(max).f(x); P(min).f(x)",
        "def f(a):\n    np.log(a)\n    return 3\nf(x); f(y)",
        "def f(a):\n    np.log(a)\n    return tf.constant(a) + 1\nf(x); f(y)",
        "def f(a): return np.log(a)\nf(x)\nfor i in v: f(x)",
        "def f(a): return np.log(a)\nfor i in v: f(i)\nfor i in w: f(i)",
        "def f(a): return tf.constant(np.log(a))\n@tf.function\ndef g():\n    for i in v: f(i)\n    for i in w: f(i)\ng()",
        "def f(a): return np.log(a)\nf(x)\nif v: f(x)",
        "def f(a): return np.log(a)\nf(x); f(tf.constant(1))",
        "def f(a, b): return np.log(a)\nf(x, True); f(x, b=False)",
        "def f(a, b): return np.log(a)\nf(x, 'a'); f(x, 'b')",
        "def f(a): return np.log(x)\ndef g(): pass\ndef h(): pass\nf(g); f(h)",
        "def f(a): return np.log(a)\nf(x); f(*x)",
        "class P:\n    def f(self, a): return np.log(a)\nclass Q(P): pass\nP().f(x); Q().f(x)",
        "class P:\n    def __init__(self, b): self.b = b\n    def f(self, a): return np.log(a)\nP(True).f(x); P(False).f(x)",
        "def make(g):\n    def f(a): return g(np.log(a))\n    return f\nmake(x)(y); make(x)(y)",
        "def f(a): return np.log(a)\n@tf.function\ndef g(): f(x)\ng()\nf(x)",
        "@tf.function\ndef f(a): return np.log(a)\nf(x); f(y)",
        "def f(a): return np.log(a)\ndef g(a): return f(a)\nd = tf.data.Dataset.range(3)\nd.map(g); d.map(g)",
    ],
)
def test_calls_with_side_effects_or_another_key_are_followed_again(tmp_path, text):
    assert runs(load(tmp_path, HEAD + text)) == 2


def test_a_summarised_call_is_recorded_as_unknown(tmp_path):
    module = load(tmp_path, HEAD + "def f(a): return np.log(a)\nf(x)\nf(y)")
    stand_in = module.run.calls[-1]
    assert (stand_in.name, stand_in.receiver.name) == (None, "f")
    assert stand_in.node is module.tree.root.body[-1].body[0].value


def test_a_memoised_result_is_a_fresh_copy(tmp_path):
    text = "def f(a): return [tf.nn.relu(a), {'x': load()}]\n@tf.function\ndef g(a):\n    show(f(a))\n    show(f(a))\ng(tf.constant(1))"
    first, second = shown(load(tmp_path, HEAD + text))
    assert first is not second and first.items is not second.items
    assert all(isinstance(each.items[0], Tensor) and each.items[1].items == {"x": UNKNOWN} for each in (first, second))


@pytest.mark.parametrize(("depth", "times"), [(4, 1), (5, 2)])
def test_a_deep_result_is_not_memoised(tmp_path, depth, times):
    text = f"def f(a): return {'[' * depth}np.log(a){']' * depth}\nf(x); f(y)"
    assert runs(load(tmp_path, HEAD + text)) == times


def test_a_truncated_call_leaves_no_summary(tmp_path):
    chain = "".join(f"def f{n}(a): return f{n + 1}(a)\n" for n in range(30)) + "def f30(a): return np.log(a)\n"
    module = load(tmp_path, HEAD + chain + "f0(x)\nf10(x)")
    (call,) = (call for call in module.run.calls if call.name == "numpy.log")
    assert "f10" in [function.name for function in call.path.functions()], "the way of f0 is too deep"


def test_a_provoked_error_leaves_no_summary(tmp_path):
    text = "import pytest\ndef f(a): return np.log(a)\nwith pytest.raises(ValueError):\n    f(x)\nf(x)"
    assert runs(load(tmp_path, HEAD + text)) == 1
