"""Effects of statements on variables: branches, handlers, loops."""

import pytest
from snippets import load, shown

from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.values import Constant, options_of

HEAD = "from z import flag, items, load, show\n"


def possible(folder, text):
    """The possible arguments of the only ``show``: constants, and "?" for other values."""
    (value,) = shown(load(folder, text, HEAD))
    return sorted({option.value if isinstance(option, Constant) else "?" for option in options_of(value)}, key=str)


@pytest.mark.parametrize(
    ("test", "expected"),
    [("if n: a = 1\n    else: a = 2", 1), ("if not n: a = 1\n    else: a = 2", 2), ("if n == 4: a = 2", 0)],
)
def test_a_known_condition_runs_one_branch_only(tmp_path, test, expected):
    assert possible(tmp_path, f"def f(n):\n    a = 0\n    {test}\n    return a\nshow(f(3))\n") == [expected]


def test_a_skipped_branch_leaves_no_call_and_no_attribute(tmp_path):
    text = "class C: n = 1\ndef f(c, off):\n    if off:\n        c.n = load()\n    return c.n\nshow(f(C(), False))\n"
    assert possible(tmp_path, text) == [1]
    assert not [call for call in load(tmp_path, text, HEAD).run.calls if call.name == "z.load"]


def test_an_unknown_condition_joins_both_branches(tmp_path):
    assert possible(tmp_path, "def f(n):\n    a = 1\n    if n: a = 2\n    return a\nshow(f(load()))\n") == [1, 2]


@pytest.mark.parametrize("end", ["raise ValueError", "exit()"])
@pytest.mark.parametrize(
    ("branches", "expected"),
    [("if flag:\n    n = 2\n    {}", 1), ("if flag: n = 3\nelse:\n    n = 2\n    {}", 3)],
)
def test_a_branch_ending_the_program_does_not_join(tmp_path, branches, expected, end):
    assert possible(tmp_path, f"n = 1\n{branches.format(end)}\nshow(n)\n") == [expected]


def test_code_after_two_ending_branches_is_unreachable(tmp_path):
    module = load(tmp_path, "if flag: raise ValueError\nelse: raise TypeError\nshow(1)\n", HEAD)
    assert not shown(module)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("load(); n = 2", [1, 2]),
        ("n = load(); n = 2", [1, 2]),
        ("if load(): n = 2", [1, 2]),
    ],
)
def test_a_handler_sees_the_state_before_and_after_the_body(tmp_path, body, expected):
    text = "n = 1\ntry:\n    {}\nexcept ValueError:\n    show(n)\n".format(body.replace("; ", "\n    "))
    assert possible(tmp_path, text) == expected


def test_a_completing_handler_joins_with_the_body(tmp_path):
    assert possible(tmp_path, "n = 1\ntry: n = 2\nexcept ValueError: n = 3\nshow(n)\n") == [2, 3]


def test_a_raising_handler_does_not_join(tmp_path):
    assert possible(tmp_path, "n = 1\ntry: n = 2\nexcept ValueError: raise\nshow(n)\n") == [2]


def test_a_raising_body_does_not_join(tmp_path):
    text = "try:\n    n = 2\n    raise ValueError\nexcept ValueError: n = 3\nexcept TypeError: n = 4\nshow(n)\n"
    assert possible(tmp_path, text) == [3, 4]


@pytest.mark.parametrize(("count", "expected"), [(2, [2]), (MAX_OPTIONS, [MAX_OPTIONS]), (MAX_OPTIONS + 1, [0, "?"])])
def test_few_functions_of_a_list_run_one_after_the_other(tmp_path, count, expected):
    functions = ", ".join(["lambda n: n + 1"] * count)
    text = f"a = 0\nfor f in [{functions}]: a = f(a)\nshow(a)\n"
    assert possible(tmp_path, text) == expected


# ``show`` runs in each iteration in which the loop neither ends nor continues before it.
CUT = [
    "for i, x in enumerate(items):\n    if i > 3: break\n    show(x)",
    "for i, x in enumerate(items):\n    if i > 3: continue\n    show(x)",
    "n = 0\nfor x in items:\n    if n > 3: break\n    n += 1\n    show(x)",
    "n = 0\nwhile items:\n    if n > 3: break\n    n += 1\n    show(n)",
    "kept = []\nfor x in items:\n    if len(kept) > 3: break\n    kept.append(x)\n    show(x)",
    "n = 0\nfor x in items:\n    show(x)\n    if n == 3: break\n    n += 1",
]


def bound(folder, loop):
    """Maximum number of iterations of the loop around ``show``."""
    module = load(folder, loop, HEAD)
    call = next(call for call in module.run.calls if call.name == "z.show")
    return call.path.innermost_loop(within="program").turns


@pytest.mark.parametrize("loop", CUT)
def test_the_bound_of_a_loop_with_a_break_equals_its_iterations_in_python(tmp_path, loop):
    runs = []
    exec(loop, {"items": range(50), "show": runs.append})
    assert bound(tmp_path, loop) == len(runs) == 4


@pytest.mark.parametrize(
    "test",
    ["if len(kept) == 4: break", "if len(kept) >= 4: break", "if len(kept) > 3: break", "if len(kept) == 50: break"],
)
def test_the_bound_of_a_loop_is_never_below_its_iterations_in_python(tmp_path, test):
    loop = f"kept = []\nfor x in items:\n    show(x)\n    kept.append(x)\n    {test}"
    runs = []
    exec(loop, {"items": range(50), "show": runs.append})
    assert len(runs) <= bound(tmp_path, loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for x in items:\n    if x > 3: break\n    show(x)",
        "n = 0\nfor x in items:\n    if n < 3: break\n    n += 1\n    show(x)",
        "n = 0\nfor x in items:\n    if n > limit: break\n    n += 1\n    show(x)",
        "k = []\nfor x in items:\n    if id(k) > 3: break\n    k.append(x)\n    show(x)",
        "n = 0\nfor x in items:\n    if n == 3: continue\n    n += 1\n    show(x)",
        "n = 0\nfor x in items:\n    if load(): n = 0\n    if n > 3: break\n    n += 1\n    show(x)",
        "k = []\nfor x in items:\n    if load(): k = []\n    if len(k) > 3: break\n    k.append(x)\n    show(x)",
    ],
)
def test_a_break_without_an_iteration_counter_bounds_nothing(tmp_path, loop):
    assert bound(tmp_path, loop) is None


@pytest.mark.parametrize(("length", "turns"), [(4, 4), (5, 5), (6, 5)])
def test_a_break_bounds_only_longer_loops(tmp_path, length, turns):
    loop = f"for i, x in enumerate(range({length})):\n    show(x)\n    if i == 4: break"
    assert bound(tmp_path, loop) == turns
