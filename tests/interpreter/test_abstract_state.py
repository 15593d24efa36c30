"""State of one interpretation: writes in branches, and their rollback."""

import pytest
from snippets import MODEL, load, shown

from kerascheck.interpreter.limits import MAX_ITEMS, MAX_ROUTES
from kerascheck.interpreter.values import UNKNOWN, Constant, SequenceValue, options_of

HEAD = "from z import flag, items, load, other, show\nclass C: pass\no = C()\no.n = 1\n"


def possible(folder, text):
    """The possible arguments of each ``show``: constants, and "?" for other values."""
    return [
        sorted({option.value if isinstance(option, Constant) else "?" for option in options_of(value)}, key=str)
        for value in shown(load(folder, text, HEAD))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if flag:\n    o.n = 2\n    o.n = 3\nshow(o.n)", [1, 3]),
        ("if flag:\n    o.n = 2\n    if other: o.n = 3\nshow(o.n)", [1, 2, 3]),
        ("if flag:\n    o.n = 2\n    o.n = 1\nshow(o.n)", [1]),
        ("for i in items:\n    o.n = 2\n    o.n = 3\nshow(o.n)", [1, 3]),
        ("while flag:\n    o.n = 2\n    o.n = 3\nshow(o.n)", [1, 3]),
        ("try: load()\nexcept ValueError:\n    o.n = 2\n    o.n = 3\nshow(o.n)", [1, 3]),
        ("match flag:\n    case 1:\n        o.n = 2\n        o.n = 3\nshow(o.n)", [1, 3]),
        ("for i in range(2): o.n = 2\nshow(o.n)", [2]),
    ],
)
def test_a_branch_joins_the_old_and_the_new_value_of_an_attribute(tmp_path, text, expected):
    assert possible(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "if flag: o.n = 2\nelse: show(o.n)",
        "if flag:\n    o.n = 2\n    o.n = 3\nelif other: show(o.n)",
        "match flag:\n    case 1: o.n = 2\n    case 2: show(o.n)",
        "try: load()\nexcept ValueError: o.n = 2\nexcept OSError: show(o.n)",
        "def f(): o.n = 2\nif flag: f()\nelse: show(o.n)",
    ],
)
def test_a_branch_does_not_see_writes_of_the_other_branch(tmp_path, text):
    assert possible(tmp_path, text) == [[1]]


@pytest.mark.parametrize(
    "text",
    [
        "if flag: o.new = 2\nelse: show(o.new)",
        "d = {}\nif flag: d['new'] = 2\nelse: show(d['new'])",
        "def f():\n    global new\n    new = 2\nif flag: f()\nelse: show(new)",
    ],
)
def test_items_added_in_one_branch_are_absent_in_the_other(tmp_path, text):
    assert possible(tmp_path, text) == [["?"]]


@pytest.mark.parametrize("made", ["p = C()\n    p.n = 2", "p = load()\n    p = C()\n    p.n = 2"])
def test_an_object_created_in_a_branch_keeps_its_attributes(tmp_path, made):
    assert possible(tmp_path, f"if flag:\n    {made}\nelse: raise ValueError\nshow(p.n)\n") == [[2]]


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("kept = []\nkept.append(1)", 1),
        ("kept = []\nif flag: kept.append(1)", 1),
        ("kept = []\nfor i in range(3): kept.append(i)", 3),
        ("kept = []\nfor i in range(3): kept.extend([i, i])", 6),
        ("kept = []\nfor i in range(3):\n    for j in range(5): kept.append(j)", 15),
        ("kept = [0]\nfor i in range(3): kept.append(i)", 4),
        ("kept = []\nfor i in items: kept.append(i)", None),
        ("kept = []\nfor i in items:\n    for j in range(5): kept.append(j)", None),
        ("kept = []\nkept.extend(load())", None),
    ],
)
def test_a_list_has_a_maximum_length(tmp_path, text, most):
    (value,) = shown(load(tmp_path, f"{text}\nshow(kept)\n", HEAD))
    assert (value.most if value.open else len(value.items)) == most


@pytest.mark.parametrize(("manager", "is_open"), [("with load():", False), ("try:", False), ("if flag:", True)])
def test_an_item_is_certain_if_its_line_certainly_runs(tmp_path, manager, is_open):
    end = "except OSError: raise\n" if manager == "try:" else ""
    (value,) = shown(load(tmp_path, f"kept = []\n{manager}\n    kept.append(1)\n{end}show(kept)\n", HEAD))
    assert (value.items, value.open) == ([Constant(1)], is_open)


def test_a_list_at_its_limit_keeps_its_items_and_is_open(tmp_path):
    text = f"kept = [0]\nlong = [0] * 4\nlong.extend(range({MAX_ITEMS}))\nshow(long)\n"
    (value,) = shown(load(tmp_path, text, HEAD))
    assert not isinstance(value, SequenceValue) or value.open


@pytest.mark.parametrize("write", ["d['a'] = kept", "o.n = kept", "kept.append(kept)"])
def test_a_container_that_holds_itself_is_unknown_inside(tmp_path, write):
    text = f"d = {{}}\nkept = [d]\n{write}\nshow(d.get('a'))\nshow(kept)\n"
    first, second = shown(load(tmp_path, text, HEAD))
    assert first is UNKNOWN
    assert all(item is not second for item in second.items)


def test_the_routes_of_a_dataset_are_limited(tmp_path):
    lines = "ds = ds.concatenate(ds)\n" * 15
    module = load(tmp_path, f"ds = tf.data.Dataset.range(3)\n{lines}model.fit(ds)\n", MODEL)
    routes = [stage.routes for stage in module.run.stages]
    assert routes[:3] == [1, 2, 4]
    assert MAX_ROUTES / 2 < max(routes) <= MAX_ROUTES


def test_a_training_call_marks_the_loops_around_it(tmp_path):
    text = "def train(): model.fit(x)\nfor a in load():\n    train()\n    for b in load(): print(b)\n"
    outer, inner = load(tmp_path, text, MODEL + "from z import load, x\n").run.loops
    assert (outer.trains, inner.trains) == (True, False)


@pytest.mark.parametrize(
    ("line", "trains"),
    [
        ("model.fit(a)", True),
        ("model.train_on_batch(a)", True),
        ("unknown.train_on_batch(a)", True),
        ("load().train_on_batch(a)", False),
        ("load().apply_gradients(a)", True),
        ("load().fit(a)", False),
        ("model.predict(a)", False),
    ],
)
def test_a_loop_trains_if_a_call_in_it_certainly_updates_weights(tmp_path, line, trains):
    (loop,) = load(tmp_path, f"for a in load():\n    {line}\n", MODEL + "from z import load\n").run.loops
    assert loop.trains is trains


def test_calls_are_recorded_in_program_order(tmp_path):
    module = load(tmp_path, "def f(): show(2)\nshow(1)\nf()\nshow(3)\n", "from z import show\n")
    found = [call for call in module.run.calls if call.name == "z.show"]
    assert [call.first for call in found] == [Constant(1), Constant(2), Constant(3)]
    assert [call.order for call in found] == sorted({call.order for call in found})


@pytest.mark.parametrize(
    ("given", "expected"),
    [("o", [[1, "?"]]), ("[o]", [[1]]), ("o.n", [[1]])],
)
def test_unknown_code_may_change_settings_of_its_arguments(tmp_path, given, expected):
    assert possible(tmp_path, f"load({given})\nshow(o.n)\n") == expected


def test_unknown_code_reads_datasets_among_its_arguments(tmp_path):
    module = load(tmp_path, "load([tf.data.Dataset.range(3)], k={'a': tf.data.Dataset.range(4)})\n", MODEL)
    assert [sink.role for sink in module.run.sinks] == ["escape", "escape"]
