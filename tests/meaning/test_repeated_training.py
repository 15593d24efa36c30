"""Methods of models in loops, with one model or a new one in each iteration."""

import pytest
from snippets import IMPORTS, MODEL, load, written

from kerascheck.meaning.training.repeated_training import least_iterations, rebuilt_models, repeated_calls

BUILD = (
    IMPORTS
    + "def build():\n    m = keras.Sequential([keras.layers.Dense(1)])\n    m.compile('adam', 'mse')\n    return m\n"
)
AGENT = (
    BUILD
    + "class Agent:\n    def __init__(self): self.model = build()\n    def learn(self, x, y): self.model.fit(x, y, epochs=1)\n"
)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (MODEL + "for x, y in data: model.fit(x, y)", [True]),
        (MODEL + "while True: model.fit(x, y)", [True]),
        (MODEL + "def learn(m, x): m.fit(x)\nfor x in data: learn(model, x)", [True]),
        (AGENT + "agent = Agent()\nfor x, y in data: agent.learn(x, y)", [True]),
        (IMPORTS + "from builders import build\nmodel = build()\nfor x, y in data: model.fit(x, y, epochs=1)", [True]),
        (IMPORTS + "class A(keras.Model): pass\nmodel = A()\nfor x, y in data: model.fit(x, y)", [True]),
        (BUILD + "for fold in folds:\n    model = build()\n    for e in range(9): model.fit(x, y)", [True]),
        (IMPORTS + "def train(model, data):\n    for x, y in data: model.fit(x, y, epochs=1)", [True]),
        # A new one in each iteration, certainly or possibly.
        (BUILD + "for fold in folds:\n    model = build()\n    model.fit(x, y)", [False]),
        (BUILD + "for fold in folds: build().fit(x, y)", [False]),
        (BUILD + "model = build()\nfor fold in folds:\n    if fold.new: model = build()\n    model.fit(x, y)", [False]),
        (BUILD + "models = [build() for i in range(9)]\nfor model in models: model.fit(x, y)", [False]),
        (AGENT + "for i in range(20):\n    agent = Agent()\n    agent.learn(x, y)", [False]),
        (IMPORTS + "class A(keras.Model): pass\nfor i in range(20):\n    model = A()\n    model.fit(x, y)", [False]),
        (IMPORTS + "from builders import build\nfor fold in folds:\n    self.model = build()\n    self.model.fit(x, y, epochs=1)", [False]),
        (IMPORTS + "def train(models):\n    for name, model in models.items(): model.fit(x, y, epochs=1)", [False]),
        # No loop.
        (MODEL + "model.fit(x, y)", []),
        (MODEL + "for x in data: print(x)\nmodel.fit(x, y)", []),
    ],
)  # fmt: skip
def test_the_model_of_each_iteration(tmp_path, text, same):
    assert [each.is_same for each in repeated_calls(load(tmp_path, text), "fit")] == same


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("for i in range(20):\n    model = build()\n    model.fit(x, y)", 1),
        ("for i in range(20): build().fit(x, y)", 1),
        ("def trial(i):\n    model = build()\n    model.fit(x, y)\nfor i in range(20): trial(i)", 1),
        ("for i in range(20):\n    model = build()\n    for e in range(9): model.fit(x, y)", 1),
        ("class A(keras.Model): pass\nwhile True:\n    model = A()\n    model.train_on_batch(x, y)", 1),
        ("model = build()\nfor i in range(20): model.fit(x, y)", 0),
        ("models = [build() for i in range(20)]\nfor model in models: model.fit(x, y)", 0),
        ("for i in range(20): model = build()\nmodel.fit(x, y)", 0),
    ],
)
def test_models_rebuilt_in_each_iteration(tmp_path, text, count):
    assert len(list(rebuilt_models(load(tmp_path, text, BUILD), "fit", "train_on_batch"))) == count


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("for i in range(20): build()", (20, True)),
        ("for i in (1, 2): build()", (2, True)),
        ("for i in settings: build()", (1, False)),
        ("while True: build()", (float("inf"), True)),
        ("while True:\n    build()\n    break", (1, True)),
        # A grid.
        ("for a in rates:\n    for b in sizes: build()", (9, False)),
        ("for a in (1, 2):\n    for b in sizes: build()", (6, False)),
        ("for a in (1, 2):\n    for b in (3, 4): build()", (4, True)),
        ("def search(rates, sizes):\n    for a in rates:\n        for b in sizes: build()", (9, False)),
        ("def train(a):\n    for b in sizes: build()\nfor a in rates: train(a)", (9, False)),
        ("for a in rates:\n    for b in sizes[:2]: build()", (6, False)),
        ("import itertools\nfor a, b in itertools.product(rates, sizes): build()", (9, False)),
        ("import itertools\nfor i, (a, b) in enumerate(itertools.product([1, 2], [3, 4, 5])): build()", (6, True)),
        (
            "from sklearn.model_selection import ParameterGrid\nfor a in ParameterGrid({'rate': [1, 2], 'size': sizes}): build()",
            (6, False),
        ),
        ("from sklearn.model_selection import ParameterGrid\nfor a in ParameterGrid(grid): build()", (1, False)),
    ],
)
def test_fewest_iterations(tmp_path, text, least):
    made = next(call for call in load(tmp_path, text, BUILD).run.calls if call.name == "keras.Sequential")
    assert least_iterations(made.path) == least


@pytest.mark.parametrize(
    ("body", "place", "facts"),
    [
        ("    model = build()", "build()", ""),
        ("    model = keras.Sequential([keras.layers.Dense(i)])", "keras.Sequential([keras.layers.Dense(i)])", "differs"),
        ("    model = keras.Sequential([keras.layers.Dense(3)])\n    keras.backend.clear_session()", "keras.Sequential([keras.layers.Dense(3)])", "cleared"),
        ("    model = build()\n    others.append(model)", "build()", "kept"),
        ("    model = build()\n    models[i] = model", "build()", "kept"),
        ("    model = build()\n    input()", "build()", "asked for"),
    ],
)  # fmt: skip
def test_facts_about_rebuilt_models(tmp_path, body, place, facts):
    module = load(tmp_path, f"models, others = {{}}, []\nfor i in range(20):\n{body}\n    model.fit(x, y)", BUILD)
    (found,) = rebuilt_models(module, "fit")
    true = {
        "differs": found.differs(module),
        "cleared": found.is_cleared(module),
        "kept": found.is_kept(module),
        "asked for": found.is_asked_for(module),
    }
    assert (written(module, found.place.node), " ".join(key for key in true if true[key])) == (place, facts)
    assert (found.times, found.times_known) == (20, True)
