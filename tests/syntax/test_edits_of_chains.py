"""Edits of method chains, as pairs of text before and after."""

import io
import random
import tokenize

import libcst as cst
import pytest
from edit_cases import applied, call, check, comments_of, compound, node

from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = y.map(f).batch(2)", "x = y.batch(2).map(f)"),
        ("x = y.a().map(f).batch(2).b()  # c", "x = y.a().batch(2).map(f).b()  # c"),
        ("x = y.map(f).shuffle(1).batch(2)", "x = y.batch(2).shuffle(1).map(f)"),
        ("x = (y.map(f)).batch(2)", "x = (y.batch(2)).map(f)"),
        ("x = y.map(f) \\\n    .batch(2)  # c", "x = y.batch(2) \\\n    .map(f)  # c"),
        (
            "x = (\n    y\n    .map(f)  # a\n    .batch(2)  # b\n)",
            "x = (\n    y\n    .batch(2)  # b\n    .map(f)  # a\n)",
        ),
        ("x = (\n    y\n    .map(f)  # a\n    .batch(2))  # b", "x = (\n    y\n    .batch(2)  # a\n    .map(f))  # b"),
        (
            "x = (\n    y\n    # a\n    # b\n    .map(f)\n    # c\n    .batch(2)  # d\n)",
            "x = (\n    y\n    # c\n    .batch(2)  # d\n    # a\n    # b\n    .map(f)\n)",
        ),
        ("x = (\n    y.map(f)  # a\n    # b\n    .batch(2)\n)", "x = (\n    y.batch(2)\n    # b\n    .map(f)  # a\n)"),
        (
            "x = (y\n     .map(\n         lambda a: a,\n         n=1,\n     )\n     .batch(2))",
            "x = (y\n     .batch(2)\n     .map(\n         lambda a: a,\n         n=1,\n     ))",
        ),
        # Adjacent statements.
        ("x = x.map(f)\nx = x.batch(2)", "x = x.batch(2)\nx = x.map(f)"),
        ("x = x.map(f)  # a\nx = x.batch(2)  # b\n", "x = x.batch(2)  # b\nx = x.map(f)  # a\n"),
        ("# a\nx = x.map(f)\n# b\nx = x.batch(2)\n", "# b\nx = x.batch(2)\n# a\nx = x.map(f)\n"),
        ("# All\nx = x.map(f)\nx = x.batch(2)\n", "# All\nx = x.batch(2)\nx = x.map(f)\n"),
        ("x = x.map(f); x = x.batch(2)  # c\n", "x = x.batch(2); x = x.map(f)  # c\n"),
        ("if a: x = x.map(f); x = x.batch(2)", "if a: x = x.batch(2); x = x.map(f)"),
        ("def g(x):\n    x = x.map(f)\n    return x.batch(2)", "def g(x):\n    x = x.batch(2)\n    return x.map(f)"),
        ("y = x.map(f)\n\nz = y.batch(2)\n", "y = x.batch(2)\n\nz = y.map(f)\n"),
        ("x = x.map(\n    f,  # a\n)\nx = x.batch(2)\n", "x = x.batch(2)\nx = x.map(\n    f,  # a\n)\n"),
    ],
)
def test_swap_calls(before, after):
    check(before, after, lambda tree: edits.swap_calls(tree, call(tree, "map"), call(tree, "batch")))
    assert applied(after, lambda tree: edits.swap_calls(tree, call(tree, "batch"), call(tree, "map"))) == before


@pytest.mark.parametrize(
    "text",
    [
        "x = x.map(f)\ny = 1\nx = x.batch(2)",
        "x = x.map(f)\ny = z.batch(2)",
        "x = x.map(f).a()\nx = x.batch(2)",
        "if a:\n    x = x.map(f)\nx = x.batch(2)",
        "x.map(f)\nx = x.batch(2)",
        "x = map(f)\nx = x.batch(2)",
    ],
)
def test_swap_calls_rejects(text):
    with pytest.raises(CannotEdit):
        applied(text, lambda tree: edits.swap_calls(tree, call(tree, "map"), call(tree, "batch")))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = y.move(1).to(2)", "x = y.to(2).move(1)"),
        ("x = y.move(1).a().to(2).b()  # c", "x = y.a().to(2).move(1).b()  # c"),
        ("x = y.to(2).a().move(1)", "x = y.to(2).move(1).a()"),
        ("x = y.to(2).move(1)", "x = y.to(2).move(1)"),
        ("x = to(2).a().move(1)", "x = to(2).move(1).a()"),
        ("x = (y.move(1)).to(2)", "x = (y).to(2).move(1)"),
        ("x = (y.move(1).to(2))", "x = (y.to(2).move(1))"),
        # One call per line.
        ("x = (\n    y\n    .move(1)\n    .to(2)\n)", "x = (\n    y\n    .to(2)\n    .move(1)\n)"),
        (
            "x = (\n    y\n    # a\n    .move(1)  # b\n    .c()  # c\n    .to(2)  # d\n    # e\n)",
            "x = (\n    y\n    .c()  # c\n    .to(2)  # d\n    # a\n    .move(1)  # b\n    # e\n)",
        ),
        ("x = (y\n     .move(1)  # b\n     .to(2))", "x = (y\n     .to(2)\n     # b\n     .move(1))"),
        ("x = (y\n     .to(1)\n     .a()\n     .move(2))", "x = (y\n     .to(1)\n     .move(2)\n     .a())"),
        (
            "x = (y\n     .to(1)\n     .a()  # a\n     .move(2))",
            "x = (y\n     .to(1)\n     .move(2)\n     .a()  # a\n     )",
        ),
        (
            "x = (\n    to(a)  # h\n    .a()\n    # i\n    .move(1)\n)",
            "x = (\n    to(a)  # h\n    # i\n    .move(1)\n    .a()\n)",
        ),
        ("x = (\n    y.to(a)\n    .move(1)  # c\n)", "x = (\n    y.to(a)\n    .move(1)  # c\n)"),
        ("x = (\n    y.to(a).b()\n    .move(1)  # c\n)", "x = (\n    y.to(a).move(1).b()\n    # c\n)"),
        ("x = (\n    y.to(a).b()\n    .move(1)\n)", "x = (\n    y.to(a).move(1).b()\n)"),
        (
            "x = y \\\n    .move(1) \\\n    .a() \\\n    .to(2)  # c",
            "x = y \\\n    .a() \\\n    .to(2) \\\n    .move(1)  # c",
        ),
        ("x = to(y) \\\n    .a() \\\n    .move(1)  # c", "x = to(y) \\\n    .move(1) \\\n    .a()  # c"),
        # Statements.
        ("x = x.move(1)\nx = x.to(2)\n", "x = x.to(2)\nx = x.move(1)\n"),
        ("x = x.move(1)\nx = x.to(2)", "x = x.to(2)\nx = x.move(1)"),
        (
            "# a\nx = x.move(1)  # b\nx = x.c()  # c\nx = x.to(2)  # d\n\ny = x\n",
            "x = x.c()  # c\nx = x.to(2)  # d\n# a\nx = x.move(1)  # b\n\ny = x\n",
        ),
        ("x = to(1)\nx = x.a()\nx = x.move(2)\n", "x = to(1)\nx = x.move(2)\nx = x.a()\n"),
        ("x = to(1)\nx = x.a()\nx = x.move(2)", "x = to(1)\nx = x.move(2)\nx = x.a()\n"),
        ("x = to(1)\nx = x.a().move(2)\n", "x = to(1).move(2)\nx = x.a()\n"),
        ("x = x.a().move(2)\nx = x.to(1)\n", "x = x.a()\nx = x.to(1).move(2)\n"),
        ("def f(x):\n\tx = x.move(1)\n\treturn x.to(2)\n", "def f(x):\n\treturn x.to(2).move(1)\n"),
        ("x = x.move(1); x = x.to(2)\n", "x = x.to(2).move(1)\n"),
        ("if a: x = x.move(1); x = x.to(2)\n", "if a: x = x.to(2).move(1)\n"),
        ("x = x.move(1)\ny = x.to(2)\n", "y = x.to(2).move(1)\n"),
        (
            "x = x.move(1)\nx = (\n    x\n    .a()\n    .to(2)\n    .b()\n)\n",
            "x = (\n    x\n    .a()\n    .to(2)\n    .move(1)\n    .b()\n)\n",
        ),
    ],
)
def test_move_call(before, after):
    if before.endswith("x = x.move(2)"):
        # The last line had no newline; it keeps none if it stays last.
        after = after.rstrip("\n") + "\n"
    check(before, after, lambda tree: edits.move_call(tree, call(tree, "move"), call(tree, "to")))


def test_move_call_before_the_first_link():
    def build(tree):
        return edits.move_call(tree, call(tree, "move"), node(tree, "y", cst.Name))

    check("x = y.a().move(1)", "x = y.move(1).a()", build)
    check("x = (\n    y  # c\n    .a()\n    .move(1)\n)", "x = (\n    y  # c\n    .move(1)\n    .a()\n)", build)
    build_if = lambda tree: edits.move_call(tree, call(tree, "move"), compound(tree, cst.IfExp))  # noqa: E731
    check("x = (a if b else c).a().move(1)", "x = (a if b else c).move(1).a()", build_if)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = y.a(1).b(2).c(3)  # z", "x = y.c(3).a(1).k().b(2)  # z"),
        ("x = y.z().a(1).b(2).c(3).z()", "x = y.z().c(3).a(1).k().b(2).z()"),
        ("x = (y.a(1)\n     .b(2).c(3))", "x = (y.c(3)\n     .a(1).k().b(2))"),
        (
            "x = (\n    y\n    # one\n    .a(1)\n    .b(2)  # two\n    # three\n    .c(3)\n)",
            "x = (\n    y\n    # three\n    .c(3)\n    # one\n    .a(1)\n    .k()\n    .b(2)  # two\n)",
        ),
        ("x = x.a(1)\nx = x.b(2)\nx = x.c(3)\n", "x = x.c(3)\nx = x.a(1).k()\nx = x.b(2)\n"),
        ("x = x.a(1)  # a\nx = x.b(2)\nx = x.c(3)  # c\n", "x = x.c(3)  # c\nx = x.a(1).k()  # a\nx = x.b(2)\n"),
        ("x = x.a(1).b(2)\nm = 1\nreturned = x.c(3)\n", "x = x.c(3).a(1).k()\nm = 1\nreturned = x.b(2)\n"),
        (
            "def f(x):\n    x = x.a(1)\n    y = x.b(2)\n    return y.c(3)",
            "def f(x):\n    x = x.c(3)\n    y = x.a(1).k()\n    return y.b(2)",
        ),
    ],
)
def test_arrange_links(before, after):
    def build(tree):
        a, b, c = (call(tree, name) for name in "abc")
        return edits.arrange_links(tree, [a, b, c], [edits.Slot(c), edits.Slot(a, added=(".k()",)), edits.Slot(b)])

    check(before, after, build)


@pytest.mark.parametrize(
    "text",
    [
        "x = y.a(1)\nz = y.b(2)\nx = x.c(3)",
        "x = x.a(1)\nprint(x)\nx = x.b(2)\nx = x.c(3)",
        "x = x.a(1)\nn = 3\nx = x.b(2)\nx = x.c(n)",
        "x = x.a(1)\nx = x.b(2)\nx = x.c(len(x))",
        "if m:\n    x = x.a(1)\nx = x.b(2)\nx = x.c(3)",
        "x = x.a(1); x = x.b(2); x = x.c(3)",
        "x = x.a(1).b(2)\nfor i in x.c(3): pass",
        "x = y \\\n    .a(1) \\\n    .b(2) \\\n    .c(3)",
    ],
)
def test_arrange_links_rejects(text):
    def build(tree):
        a, b, c = (call(tree, name) for name in "abc")
        return edits.arrange_links(tree, [a, b, c], [edits.Slot(c), edits.Slot(a, added=(".k()",)), edits.Slot(b)])

    with pytest.raises(CannotEdit):
        applied(text, build)


@pytest.mark.parametrize(
    "text",
    [
        "f(x.move(1), y.to(2))",
        "if a:\n    x = x.move(1)\nx = x.to(2)",
        "move(1).to(1)",
        "if x.move(1): pass\nx = x.to(2)",
    ],
)
def test_move_call_rejects(text):
    with pytest.raises(CannotEdit):
        applied(text, lambda tree: edits.move_call(tree, call(tree, "move"), call(tree, "to")))


ARGUMENTS = ("", "a", "lambda i: (i, 1),", "\n    i for i in a\n", "  # in\n    a,\n    k='#',  # k\n")


def random_chain(rng):
    """A chain of calls ``.m0()`` to ``.mN()`` on ``y`` in a random layout, and the number of calls."""
    count = rng.randint(2, 5)
    layout = rng.choice(("inline", "lines", "mixed", "backslash"))
    text = rng.choice(("y", "(y)", "make(a)", "(a or b)", "y[0]"))
    for number in range(count):
        link = f".m{number}({rng.choice(ARGUMENTS)})"
        if layout == "backslash":
            link = " \\\n    " + link
        elif layout == "lines" or (layout == "mixed" and rng.random() < 0.5):
            before = rng.choice(("", "  # beside"))
            above = rng.choice(("", "\n    # above", "\n\n    # one\n    # two"))
            link = f"{before}{above}\n    {link}"
        text += link
        if rng.random() < 0.1:
            text = f"({text})"
    if layout in ("lines", "mixed"):
        text = rng.choice(
            ("({})", "(  # open\n    {}\n)", "(\n    {}  # last\n)", "f({}, 1)", "[\n    {},  # c\n]")
        ).format(text)
    return f"{{}} = 1\nx = {text}  # end\n".format("z"), count


def order_of_calls(text):
    tree = Tree(text)
    names = [
        found.func.attr.value
        for found in tree.descendants(tree.root)
        if isinstance(found, cst.Call) and isinstance(found.func, cst.Attribute)
    ]
    return [int(name[1:]) for name in reversed(names)]


def tokens(text):
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in found if token.type not in skipped)


@pytest.mark.parametrize("seed", range(100))
def test_random_chains(seed):
    rng = random.Random(seed)
    text, count = random_chain(rng)
    one, two = sorted(rng.sample(range(count), 2))
    numbers = list(range(count))

    swapped = applied(text, lambda tree: edits.swap_calls(tree, call(tree, f"m{one}"), call(tree, f"m{two}")))
    expected = list(numbers)
    expected[one], expected[two] = two, one
    assert order_of_calls(swapped) == expected
    assert tokens(swapped) == tokens(text)

    later = applied(text, lambda tree: edits.move_call(tree, call(tree, f"m{one}"), call(tree, f"m{two}")))
    assert order_of_calls(later) == numbers[:one] + numbers[one + 1 : two + 1] + [one] + numbers[two + 1 :]
    assert tokens(later) == tokens(text)

    earlier = applied(text, lambda tree: edits.move_call(tree, call(tree, f"m{two}"), call(tree, f"m{one}")))
    assert order_of_calls(earlier) == numbers[: one + 1] + [two] + numbers[one + 1 : two] + numbers[two + 1 :]
    assert tokens(earlier) == tokens(text)

    longer = applied(text, lambda tree: edits.append_method(tree, call(tree, f"m{one}"), f".m{count}()"))
    assert order_of_calls(longer) == numbers[: one + 1] + [count] + numbers[one + 1 :]
    assert tokens(longer) == sorted([*tokens(text), ".", f"m{count}", "(", ")"])

    keyword = applied(text, lambda tree: edits.add_keyword(tree, call(tree, f"m{one}"), "zz", "v"))
    assert sorted(comments_of(keyword)) == comments_of(text)
    compile(keyword, "<test>", "exec")
