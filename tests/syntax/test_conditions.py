"""Conditions, loops and order of paths."""

import pytest
from snippets import load

from kerascheck.syntax.conditions import branch_before, happens_before, written_conditions

MARK = "from z import mark, other\n"


def place(tmp_path, code, name="z.mark"):
    (call,) = load(tmp_path, MARK + code).program.calls(name)
    return call.path


@pytest.mark.parametrize(
    # The conditions around mark(): in the program, in its function, and in the innermost loop.
    ("code", "program", "function", "loop"),
    [
        ("mark()", [], [], None),
        ("if a: mark()", ["a"], ["a"], None),
        ("if a: pass\nelse: mark()", ["a"], ["a"], None),
        ("if a: pass\nelif b: mark()", ["b", "a"], ["b", "a"], None),
        ("mark() if a else 0", ["a"], ["a"], None),
        ("a and mark()", [], [], None),
        ("if __name__ == '__main__': mark()", [], [], None),
        ("def f(): mark()\nif a: f()", ["a"], [], None),
        ("def f(debug=False):\n    if debug: mark()\nf(load())", ["debug"], ["debug"], None),
        ("def f(debug=False):\n    if debug: mark()\nf(True)", [], [], None),
        # Handlers and cases have no test.
        ("try: pass\nexcept E: mark()", [""], [""], None),
        ("match a:\n    case 1: mark()", [""], [""], None),
        ("try: mark()\nexcept E: pass", [], [], None),
        ("with a: mark()", [], [], None),
        ("for i in load(): mark()", [], [], []),
        ("if a:\n    for i in load(): mark()", ["a"], ["a"], []),
        ("for i in load():\n    if a: mark()", ["a"], ["a"], ["a"]),
        ("for i in load():\n    if a: pass\n    else: mark()", ["a"], ["a"], ["a"]),
        ("def f():\n    if b: mark()\nif a:\n    for i in load(): f()", ["b", "a"], ["b"], ["b"]),
        ("[mark() for i in load() if a]", [], [], []),
        ("if a: [mark() for i in load()]", ["a"], ["a"], []),
    ],
)
def test_conditions(tmp_path, code, program, function, loop):
    scope = place(tmp_path, code)
    assert [each.question for each in scope.conditions(within="program")] == program
    assert [each.question for each in scope.conditions(within="function")] == function
    innermost = scope.innermost_loop(within="program")
    assert (None if innermost is None else [each.question for each in scope.conditions(within=innermost)]) == loop


@pytest.mark.parametrize(
    # The conditions of mark() that other() does not share.
    ("code", "alone"),
    [
        ("if a:\n    mark()\n    other()", []),
        ("if a:\n    if b: mark()\n    other()", ["b"]),
        ("if a: mark()\nelse: other()", ["a"]),
        ("def f():\n    if b: mark()\nif a:\n    f()\n    other()", ["b"]),
        ("def f():\n    if b: mark()\nother()\nif a: f()", ["b", "a"]),
    ],
)
def test_conditions_relative_to_another_path(tmp_path, code, alone):
    program = load(tmp_path, MARK + code).program
    (first,), (second,) = program.calls("z.mark"), program.calls("z.other")
    assert [each.question for each in first.path.conditions(within=second.path)] == alone


@pytest.mark.parametrize(
    # The innermost loop around mark(), by its iterable: in the program, among loop statements there, and in the function.
    ("code", "program", "statement", "function"),
    [
        ("mark()", None, None, None),
        ("for i in one: mark()", "one", "one", "one"),
        ("for i in one:\n    for j in two: mark()", "two", "two", "two"),
        ("for i in one:\n    [mark() for j in two]", "two", "one", "two"),
        ("[mark() for j in two]", "two", None, "two"),
        ("def f(): mark()\nfor i in one: f()", "one", "one", None),
        ("def f():\n    for j in two: mark()\nfor i in one: f()", "two", "two", "two"),
        ("def f(): [mark() for j in two]\nfor i in one: f()", "two", "one", "two"),
        ("for i in mark(): pass", None, None, None),
    ],
)
def test_innermost_loop(tmp_path, code, program, statement, function):
    scope = place(tmp_path, code)

    def over(loop):
        node = loop and (loop.node.iter if hasattr(loop.node, "iter") else loop.node.for_in.iter)
        return node and node.value

    assert over(scope.innermost_loop(within="program")) == program
    assert over(scope.innermost_loop(within="program", comprehensions=False)) == statement
    assert over(scope.innermost_loop(within="function")) == function


def test_loops_not_shared_with_another_path(tmp_path):
    program = load(tmp_path, MARK + "for i in one:\n    other()\n    for j in two: mark()").program
    (first,), (second,) = program.calls("z.mark"), program.calls("z.other")
    assert [loop.node.iter.value for loop in first.path.loops(within=second.path)] == ["two"]
    assert [loop.node.iter.value for loop in first.path.loops(within="program")] == ["two", "one"]
    assert not list(second.path.loops(within=first.path))


@pytest.mark.parametrize(
    # The number of "with" and "try" around mark(), in its function and in the program.
    ("code", "function", "program"),
    [
        ("with a, b: mark()", (2, 0), (2, 0)),
        ("try:\n    mark()\nexcept E: pass", (0, 1), (0, 1)),
        ("try:\n    pass\nexcept E: mark()", (0, 0), (0, 0)),
        ("def f(): mark()\nwith a:\n    try: f()\n    except E: pass", (0, 0), (1, 1)),
    ],
)
def test_enclosing_managers_and_tries(tmp_path, code, function, program):
    scope = place(tmp_path, code)
    for within, counts in (("function", function), ("program", program)):
        assert (len(list(scope.managers(within=within))), len(list(scope.tries(within=within)))) == counts


@pytest.mark.parametrize(
    ("code", "file", "function"),
    [
        ("def f():\n    mark()\nif a: f()", [], []),
        ("if a:\n    def f():\n        if b: mark()", ["b", "a"], ["b"]),
        ("def f():\n    x = mark() if b else 0", ["b"], ["b"]),
    ],
)
def test_written_conditions(tmp_path, code, file, function):
    module = load(tmp_path, MARK + code)
    (call,) = module.program.calls("z.mark")
    for within, asked in ((module.tree.root, file), (module.tree.functions[0], function)):
        assert [each.test.value for each in written_conditions(module.tree, call.node, within=within)] == asked


@pytest.mark.parametrize(
    ("code", "label"),
    [
        ("if a: mark()\nelse: pass\nother()", "if"),
        ("if a: pass\nelse: mark()\nother()", "else"),
        ("if a:\n    if b: mark()\nother()", None),
        ("try: pass\nexcept E: mark()\nother()", None),
        ("mark()\nother()", None),
    ],
)
def test_branch_before(tmp_path, code, label):
    program = load(tmp_path, MARK + code).program
    (first,), (second,) = program.calls("z.mark"), program.calls("z.other")
    branch = branch_before(first, second)
    assert (branch and branch.label) == label


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("first()\nsecond()", True),
        ("second()\nfirst()", False),
        ("if a:\n    first()\nsecond()", False),
        ("if a:\n    first()\n    second()", True),
        ("if a:\n    first()\nelse:\n    second()", False),
        ("first()\nif a:\n    second()", True),
        ("with first() as x:\n    second()", True),
        ("try:\n    first()\nexcept E:\n    second()", True),
        ("try:\n    pass\nexcept E:\n    first()\nsecond()", False),
        ("def f(): second()\nfirst()\nf()", True),
        ("def f(): first()\nf()\nsecond()", True),
        ("def f(): first()\nsecond()\nf()", False),
        ("def f(): first()\nif a: f()\nsecond()", False),
        ("first()\ndef f(): second()", True),
        ("def f(): first()\ndef g(): second()", False),
        ("def f(): first()\nsecond()", False),
        ("def f(x=first()): pass\nsecond()", True),
        ("class A:\n    x = first()\nsecond()", True),
        ("f = lambda: first()\nf()\nsecond()", True),
        ("x = first() if a else 0\nsecond()", False),
        ("if __name__ == '__main__':\n    first()\nsecond()", True),
        ("def main():\n    if a:\n        first()\n        return\n    second()\nmain()", False),
        ("import multiprocessing as mp\ndef f(): second()\nfirst()\nmp.Process(target=f).start()", False),
        ("import multiprocessing as mp\ndef f():\n    first()\n    second()\nmp.Process(target=f).start()", True),
        ("import threading\ndef f(): second()\nfirst()\nthreading.Thread(target=f).start()", True),
    ],
)
def test_happens_before(tmp_path, text, before):
    text = text.replace("first()", "tf.random.uniform([])").replace("second()", "tf.random.normal([])")
    program = load(tmp_path, f"import tensorflow as tf\n{text}\n").program
    (first,), (second,) = program.calls("tensorflow.random.uniform"), program.calls("tensorflow.random.normal")
    assert happens_before(first, second) is before
    assert not happens_before(second, first) or not before
