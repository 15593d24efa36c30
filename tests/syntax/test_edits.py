"""Every builder of edits, as pairs of text before and after."""

import io
import random
import tokenize

import libcst as cst
import pytest

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.fixes.apply import compose
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_OUTPUT
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree

P = ".prefetch(2)"


def call(tree, name, nth=0):
    """The nth call, in source order, of a function or method called ``name``."""
    found = [
        node
        for node in tree.descendants(tree.root)
        if isinstance(node, cst.Call)
        and name
        == (node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", None))
    ]
    return sorted(found, key=lambda node: tree.range_of(node)[1])[nth]


def node(tree, text, kind=cst.CSTNode):
    """The outermost node with exactly this text."""
    for found in tree.descendants(tree.root):
        start, end = tree.range_of(found)
        if isinstance(found, kind) and tree.text[start:end] == text and not isinstance(found, cst.Module):
            return found
    raise LookupError(text)


def small(tree, text):
    return node(tree, text, cst.BaseSmallStatement)


def compound(tree, kind):
    return next(found for found in tree.descendants(tree.root) if isinstance(found, kind))


def applied(text, build):
    """``text`` after the edits, which are checked to be valid."""
    tree = Tree(text)
    made = build(tree)
    assert all(isinstance(edit, Edit) for edit in made)
    if not made:
        return text
    result, fixes = compose(text, [Fix(Applicability.SAFE, "", tuple(made))])
    assert fixes, f"the edits overlap: {made}"
    Tree(result)
    return result


def comments_of(text):
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def check(before, after, build, comments=True):
    """Check that the edits turn ``before`` into ``after``, with either newline, and lose no comment."""
    assert applied(before, build) == after
    assert applied(before.replace("\n", "\r\n"), build) == after.replace("\n", "\r\n") or "\n" not in before
    if comments:
        assert comments_of(before) == comments_of(after)


ADD = [
    ("x.map(f)", "x.map(f, k=v)"),
    ("x.map()", "x.map(k=v)"),
    ("x.map( )", "x.map(k=v)"),
    ("x.map(\n)", "x.map(k=v)"),
    ("x.map(f,)", "x.map(f, k=v,)"),
    ("x.map(f, )", "x.map(f, k=v, )"),
    ("x.map( f )", "x.map( f, k=v )"),
    ("x.map((f))", "x.map((f), k=v)"),
    ("x.map(( (f) ) )", "x.map(( (f) ), k=v )"),
    ("x.map(*a)", "x.map(*a, k=v)"),
    ("x.map(*a, **o)", "x.map(*a, **o, k=v)"),
    ("x.map(** (o))", "x.map(** (o), k=v)"),
    ("x.map(f, n=1)", "x.map(f, n=1, k=v)"),
    ("x.map(i for i in y)", "x.map((i for i in y), k=v)"),
    ("x.map((i for i in y))", "x.map((i for i in y), k=v)"),
    ("x.map(\n    i\n    for i in y  # c\n)", "x.map(\n    (i\n    for i in y), k=v  # c\n)"),
    ("x.map(lambda a, b: (a, b))", "x.map(lambda a, b: (a, b), k=v)"),
    ("x.map(lambda a: a)", "x.map(lambda a: a, k=v)"),
    ("x.map(y := f)", "x.map(y := f, k=v)"),
    ("x.map(f)(g).map", "x.map(f, k=v)(g).map"),
    ("(x.map)(f)", "(x.map)(f, k=v)"),
    ("x.map (f)", "x.map (f, k=v)"),
    ("x.map(f  # c\n)", "x.map(f, k=v  # c\n)"),
    ("x.map(f, # c\n)", "x.map(f, k=v, # c\n)"),
    ("x.map(f if a else b)", "x.map(f if a else b, k=v)"),
    ("x.map(f, g,\n      h)", "x.map(f, g,\n      h, k=v)"),
    # One argument per line.
    ("x.map(\n    f,\n)", "x.map(\n    f,\n    k=v,\n)"),
    ("x.map(\n    f\n)", "x.map(\n    f,\n    k=v\n)"),
    ("x.map(\n    f,  # c\n)", "x.map(\n    f,  # c\n    k=v,\n)"),
    ("x.map(\n    f  # c\n)", "x.map(\n    f,  # c\n    k=v\n)"),
    ("x.map(\n    f,\n    # c\n)", "x.map(\n    f,\n    k=v,\n    # c\n)"),
    ("x.map(\n\tf,\n\tn=1,  # d\n\t# c\n)", "x.map(\n\tf,\n\tn=1,  # d\n\tk=v,\n\t# c\n)"),
    ("x.map(f,\n      g)", "x.map(f,\n      g,\n      k=v)"),
    ("x.map(f,\n      g\n      )", "x.map(f,\n      g,\n      k=v\n      )"),
    ("x.map(\n    f)", "x.map(\n    f, k=v)"),
    ("x.map(\n    f, g,\n)", "x.map(\n    f, g, k=v,\n)"),
    ("x.map(\n    **o,\n)", "x.map(\n    **o,\n    k=v,\n)"),
    ("x.map(\n    f\n    ,\n)", "x.map(\n    f\n    ,\n    k=v,\n)"),
    ("x.map(lambda a: (\n    a, 1\n))", "x.map(lambda a: (\n    a, 1\n), k=v)"),
    ("x.map(\n    lambda a: g(\n        a\n    ),\n)", "x.map(\n    lambda a: g(\n        a\n    ),\n    k=v,\n)"),
    # Comments only.
    ("x.map(  # c\n)", "x.map(  # c\n    k=v,\n)"),
    ("x.map(\n        # c\n    )", "x.map(\n        # c\n        k=v,\n    )"),
    # Backslashes, strings and f-strings.
    ("x.map(f, \\\n    g)", "x.map(f, \\\n    g,\n    k=v)"),
    ("x.map(')', \"#\")", "x.map(')', \"#\", k=v)"),
    ('x.map("""\n)#\n""")', 'x.map("""\n)#\n""", k=v)'),
    ("f'{x.map(f)!r:>{w}}'", "f'{x.map(f, k=v)!r:>{w}}'"),
    # Nested, and deep in a statement.
    ("if a: x = x.map(f); y = 1  # c", "if a: x = x.map(f, k=v); y = 1  # c"),
    ("@x.map(f)\ndef g(): pass", "@x.map(f, k=v)\ndef g(): pass"),
    ("y = (  # a\n    x\n    # b\n    .map(f)  # c\n)", "y = (  # a\n    x\n    # b\n    .map(f, k=v)  # c\n)"),
    ("async def g():\n\treturn await x.map(f)", "async def g():\n\treturn await x.map(f, k=v)"),
    ("é = '\U0001f600'; x.map(f)", "é = '\U0001f600'; x.map(f, k=v)"),
    ("x = x.map(f)  # type: ignore", "x = x.map(f, k=v)  # type: ignore"),
    # A comment behind the call stays on its line.
    ("x.map(f,\n      g)  # c", "x.map(f,\n      g, k=v)  # c"),
    ("x.map(f,\n      g).y()  # c", "x.map(f,\n      g,\n      k=v).y()  # c"),
]


@pytest.mark.parametrize(("before", "after"), ADD)
def test_add_keyword(before, after):
    check(before, after, lambda tree: edits.add_keyword(tree, call(tree, "map"), "k", "v"))
    indented = "class C:\n\tdef g(self):\n\t\t"
    if '"""' not in before:
        before, after = (indented + text.replace("\n", "\n\t\t") for text in (before, after))
        assert applied(before, lambda tree: edits.add_keyword(tree, call(tree, "map"), "k", "v")) == after


def test_add_keyword_twice():
    with pytest.raises(CannotEdit):
        applied("x.map(f, k=1)", lambda tree: edits.add_keyword(tree, call(tree, "map"), "k", "v"))


@pytest.mark.parametrize(("value", "before"), [("'v'", "f'{x.map(f)}'"), ("v", "f'''{x.map(\n  f,\n)}'''")])
def test_edits_in_f_strings_reject_quotes_and_newlines(value, before):
    with pytest.raises(CannotEdit):
        applied(before, lambda tree: edits.add_keyword(tree, call(tree, "map"), "k", value))


@pytest.mark.parametrize(
    ("before", "old", "text", "after"),
    [
        ("x = a", "a", "b + c", "x = b + c"),
        ("x = (a)", "a", "b + c", "x = (b + c)"),
        ("x = ( (a) )  # c", "a", "b, c", "x = ( (b, c) )  # c"),
        ("x = a.d", "a", "b + c", "x = (b + c).d"),
        ("x = a.d", "a", "b.c(1)", "x = b.c(1).d"),
        ("x = a.d", "a", "5", "x = (5).d"),
        ("x = a * 2", "a", "b + c", "x = (b + c) * 2"),
        ("x = a * 2", "a", "5", "x = 5 * 2"),
        ("x = -a", "a", "lambda: 1", "x = -(lambda: 1)"),
        ("x = a[0]", "a", "b if c else d", "x = (b if c else d)[0]"),
        ("f(*a)", "a", "b or c", "f(*b or c)"),
        ("f(a)", "a", "b if c else d", "f(b if c else d)"),
        ("f(a)", "a", "b, c", "f((b, c))"),
        ("f(a, d)", "a", "i for i in b", "f((i for i in b), d)"),
        ("f(a.d)", "a", "(b) + (c)", "f(((b) + (c)).d)"),
        ("f(a)", "a", "*b", "f(*b)"),
        ("f(a.d)", "a", "(b)", "f((b).d)"),
        ("f(k=a)", "a", "lambda: 1", "f(k=lambda: 1)"),
        ("f(k=a)", "a", "y := 1", "f(k=(y := 1))"),
        ("def g():\n    return'a'", "'a'", "b", "def g():\n    return b"),
        ("x = 'a'if c else d", "'a'", "b", "x = b if c else d"),
        ("x = not(a)", "a", "b", "x = not(b)"),
        ("x = f(a)", "f(a)", "None", "x = None"),
        ("f(a for a in y)", "a for a in y", "b", "f(b)"),
        ("f'{a}'", "a", "lambda: 1", "f'{(lambda: 1)}'"),
        ("with a as b: pass", "a", "c", "with c as b: pass"),
    ],
)
def test_replace(before, old, text, after):
    check(before, after, lambda tree: edits.replace(tree, node(tree, old, cst.BaseExpression), text))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g(k=1)", "g(k=new)"),
        ("g(k = ( 1 ) )", "g(k = ( new ) )"),
        ("g(a,\n  k=1,  # c\n)", "g(a,\n  k=new,  # c\n)"),
        ("g(*k)", "g(*new)"),
    ],
)
def test_set_argument_value(before, after):
    check(before, after, lambda tree: edits.set_argument_value(tree, call(tree, "g").args[-1], "new"))


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("g(a)", 0, "g()"),
        ("g( a, )", 0, "g()"),
        ("g(\n    a,\n)", 0, "g()"),
        ("g(\n    # b\n    a,\n)", 0, "g(\n    # b\n)"),
        ("g(a  # b\n)", 0, "g(  # b\n)"),
        ("g(i for i in x)", 0, "g()"),
        ("g(a, b)", 0, "g(b)"),
        ("g(a, b)", 1, "g(a)"),
        ("g(a, b,)", 1, "g(a,)"),
        ("g(a , (b) )", 1, "g(a )"),
        ("g(a, b=(1, 2), c=3)", 1, "g(a, c=3)"),
        ("g(a, *b, **c)", 1, "g(a, **c)"),
        ("g(a, *b, **c)", 2, "g(a, *b)"),
        ("g(a,\n  b)", 0, "g(b)"),
        ("g(a,\n  b)", 1, "g(a)"),
        ("g(a,  # a\n  b)", 0, "g(# a\n  b)"),
        ("g(a,  # a\n  b)", 1, "g(a  # a\n  )"),
        ("g(a,  # a\n  b, c)", 1, "g(a,  # a\n  c)"),
        ("g(\n    a,\n    b,\n    c,\n)", 0, "g(\n    b,\n    c,\n)"),
        ("g(\n    a,\n    b,\n    c,\n)", 1, "g(\n    a,\n    c,\n)"),
        ("g(\n    a,\n    b,\n    c,\n)", 2, "g(\n    a,\n    b,\n)"),
        ("g(\n    a,\n    c\n)", 1, "g(\n    a\n)"),
        ("g(\n    a,  # a\n    c\n)", 1, "g(\n    a  # a\n)"),
        ("g(\n\ta,\n\tb=f(\n\t\t1,\n\t),\n\tc=2,\n)", 1, "g(\n\ta,\n\tc=2,\n)"),
        ("g(\n    a, b,\n    c\n)", 1, "g(\n    a, c\n)"),
        ("g(\n    a, b,\n    c\n)", 2, "g(\n    a, b\n)"),
        ("g(a, lambda x: x, 1)", 1, "g(a, 1)"),
        ("g(a, ',')", 1, "g(a)"),
        ("g(a, \\\n  b)", 1, "g(a)"),
        ("h(g(a, b), c)", 1, "h(g(a), c)"),
    ],
)
def test_remove_argument(before, index, after):
    def build(tree):
        return edits.remove_argument(tree, call(tree, "g"), call(tree, "g").args[index])

    check(before, after, build)


def test_remove_argument_takes_the_comment_of_its_line():
    def build(tree):
        return edits.remove_argument(tree, call(tree, "g"), call(tree, "g").args[1])

    check("g(\n    a,  # a\n    b,  # b\n)", "g(\n    a,  # a\n)", build, comments=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = np.g(a)", "x = keras.ops.sin(a)"),
        ("x = (np.g)(a)", "x = (keras.ops.sin)(a)"),
        ("x = np . g (\n  a,  # c\n)", "x = keras.ops.sin (\n  a,  # c\n)"),
        ("x = -np.g(a).b", "x = -keras.ops.sin(a).b"),
        ("def f():\n    return(np.g)(a)", "def f():\n    return(keras.ops.sin)(a)"),
    ],
)
def test_rename_callee(before, after):
    check(before, after, lambda tree: edits.rename_callee(tree, node_of_call(tree), "keras.ops.sin"))


def node_of_call(tree):
    return next(found for found in tree.descendants(tree.root) if isinstance(found, cst.Call) and found.args)


def test_rename_callee_keeps_comments():
    with pytest.raises(CannotEdit):
        applied("x = (np  # c\n .g)(a)", lambda tree: edits.rename_callee(tree, call(tree, "g"), "y"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m.g(a)", "m.fit(a)"),
        ("(m\n  # c\n  . g  (a))", "(m\n  # c\n  . fit  (a))"),
        ("m.g().g", "m.fit().g"),
        ("f()[0].g(\n)", "f()[0].fit(\n)"),
    ],
)
def test_rename_method(before, after):
    check(before, after, lambda tree: edits.rename_method(tree, call(tree, "g"), "fit"))


def test_rename_method_of_a_function():
    with pytest.raises(CannotEdit):
        applied("g(a)", lambda tree: edits.rename_method(tree, call(tree, "g"), "fit"))


@pytest.mark.parametrize(
    ("before", "expression", "after"),
    [
        ("x = y", "y", f"x = y{P}"),
        ("x = (y)", "y", f"x = (y{P})"),
        ("x = y.batch(2)", "y.batch(2)", f"x = y.batch(2){P}"),
        ("x = y.batch(2)  # c", "y.batch(2)", f"x = y.batch(2){P}  # c"),
        ("x = y.map(f).batch(2)", "y.map(f)", f"x = y.map(f){P}.batch(2)"),
        ("x = a if c else b", "a if c else b", f"x = (a if c else b){P}"),
        ("x = (a if c else b)", "a if c else b", f"x = (a if c else b){P}"),
        ("x = a if c else b", "b", f"x = a if c else b{P}"),
        ("f(a, k=b or c)", "b or c", f"f(a, k=(b or c){P})"),
        ("f(lambda: y)", "lambda: y", f"f((lambda: y){P})"),
        ("f(lambda: y)", "y", f"f(lambda: y{P})"),
        ("f(i for i in y)", "i for i in y", f"f((i for i in y){P})"),
        ("f((i for i in y))", "i for i in y", f"f((i for i in y){P})"),
        ("async def g():\n    return await y", "await y", f"async def g():\n    return (await y){P}"),
        ("async def g():\n    return await y", "y", f"async def g():\n    return await y{P}"),
        ("if (y := z): pass", "y := z", f"if (y := z){P}: pass"),
        ("if (y := z): pass", "z", f"if (y := z{P}): pass"),
        ("x = 'a' 'b'", "'a' 'b'", f"x = 'a' 'b'{P}"),
        ("x = [y]", "[y]", f"x = [y]{P}"),
        ("x = 5", "5", f"x = (5){P}"),
        ("x = y[0]", "y[0]", f"x = y[0]{P}"),
        ("x = y + z", "y + z", f"x = (y + z){P}"),
        ("for i in y: pass", "y", f"for i in y{P}: pass"),
        ("x, z = y.a(), w", "y.a()", f"x, z = y.a(){P}, w"),
        ("f'{y}'", "y", f"f'{{y{P}}}'"),
        # One call per line.
        ("x = (\n    y\n    .map(f)\n    .batch(2)\n)", "B", f"x = (\n    y\n    .map(f)\n    .batch(2)\n    {P}\n)"),
        ("x = (\n    y.map(f)\n    .batch(2)  # c\n)", "B", f"x = (\n    y.map(f)\n    .batch(2)  # c\n    {P}\n)"),
        ("x = (y\n     .map(f)\n     .batch(2))", "B", f"x = (y\n     .map(f)\n     .batch(2)\n     {P})"),
        (
            "x = (y\n     .map(f)\n     .batch(2)).take(1)",
            "B",
            f"x = (y\n     .map(f)\n     .batch(2)\n     {P}).take(1)",
        ),
        (
            "x = (\n\ty\n\t# a\n\t.batch(\n\t\t2,\n\t)\n\t# b\n)",
            "B",
            f"x = (\n\ty\n\t# a\n\t.batch(\n\t\t2,\n\t)\n\t{P}\n\t# b\n)",
        ),
        (
            "m.fit(\n    y\n    .batch(2),  # c\n    z,\n)",
            "B",
            f"m.fit(\n    y\n    .batch(2)\n    {P},  # c\n    z,\n)",
        ),
        ("x = y.map(f) \\\n    .batch(2)  # c", "B", f"x = y.map(f) \\\n    .batch(2) \\\n    {P}  # c"),
        ("x = y \\\n    .map(f) \\\n    .batch(2)", "M", f"x = y \\\n    .map(f) \\\n    {P} \\\n    .batch(2)"),
        (
            "x = (\n    y\n    .map(f)  # a\n    .batch(2)\n)",
            "M",
            f"x = (\n    y\n    .map(f)  # a\n    {P}\n    .batch(2)\n)",
        ),
        # Broken over lines, but not one call per line.
        ("x = (y.map(f).\n     batch(2))", "B", f"x = (y.map(f).\n     batch(2){P})"),
        ("x = Y(\n    (a, b)  # c\n).batch(2)", "B", f"x = Y(\n    (a, b)  # c\n).batch(2){P}"),
        ("x = (\n    y.batch(2)  # c\n)", "B", f"x = (\n    y.batch(2){P}  # c\n)"),
        ("if a: x = y.batch(2); z = 1", "B", f"if a: x = y.batch(2){P}; z = 1"),
    ],
)
def test_append_method(before, expression, after):
    def build(tree):
        names = {"B": "batch", "M": "map"}
        where = (
            call(tree, names[expression])
            if expression in names
            else node(tree, expression_text(tree), cst.BaseExpression)
        )
        return edits.append_method(tree, where, P)

    def expression_text(tree):
        return expression.replace("\n", "\r\n") if "\r\n" in tree.text else expression

    check(before, after, build)


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds.a()  # c", "ds = ds.a()  # c"),
        ("if x: ds.a()", "if x: ds = ds.a()"),
        ("(ds\n  .a())", "ds = (ds\n  .a())"),
        ("def f():\n\tds.a();", "def f():\n\tds = ds.a();"),
    ],
)
def test_assign_back(before, after):
    check(before, after, lambda tree: edits.assign_back(tree, compound(tree, cst.Expr), "ds"))
    check(before, after, lambda tree: edits.assign_back(tree, tree.parents[compound(tree, cst.Expr)], "ds"))


def test_assign_back_requires_an_expression_statement():
    with pytest.raises(CannotEdit):
        applied("x = 1", lambda tree: edits.assign_back(tree, small(tree, "x = 1"), "ds"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\ngone()\nb\n", "a\nb\n"),
        ("a\ngone()  # c\nb\n", "a\nb\n"),
        ("a\n# c\ngone()\nb\n", "a\n# c\nb\n"),
        ("gone()", ""),
        ("a\ngone()", "a\n"),
        ("gone();\na", "a"),
        ("a; gone()", "a"),
        ("a; gone();  # c", "a;  # c"),
        ("gone(); a  # c", "a  # c"),
        ("a; gone(); b", "a; b"),
        ("if x: gone()", "if x: pass"),
        ("if x: gone(); a", "if x: a"),
        ("if x: a ; gone()  # c", "if x: a  # c"),
        ("if x:\n    gone()  # c\na", "if x:\n    pass\na"),
        ("if x:\n    # c\n    gone()\nelse:\n    a", "if x:\n    # c\n    pass\nelse:\n    a"),
        ("if x:\n    a\n    gone()\n", "if x:\n    a\n"),
        ("def f():\n    'doc'\n    gone()\n", "def f():\n    'doc'\n"),
        ("gone(\n    1,  # c\n)\na", "a"),
        ("gone('''\n''')\na", "a"),
        ("a\n(gone())\nb", "a\nb"),
        ("a\ngone() \\\n    .b()\nb", "a\nb"),
        ("\tif_ = 1\n".strip() + "\ngone()\n\n\nb", "if_ = 1\n\n\nb"),
    ],
)
def test_delete_statement(before, after):
    def build(tree):
        holders = tree.ancestors(call(tree, "gone"))
        return edits.delete_statement(tree, next(h for h in holders if isinstance(h, cst.BaseSmallStatement)))

    check(before, after, build, comments=False)


@pytest.mark.parametrize(
    ("before", "kind", "after"),
    [
        ("a\nif x:\n    b\n    # c\nd\n", cst.If, "a\n    # c\nd\n"),
        ("a\n# c\n@e\ndef f():\n    b  # c\n\nd\n", cst.FunctionDef, "a\n# c\n\nd\n"),
        ("class A:\n    @e\n    @g\n    def f(): pass\n", cst.FunctionDef, "class A:\n    pass\n"),
        ("for i in x: a; b;  # c\nd", cst.For, "d"),
    ],
)
def test_delete_compound_statement(before, kind, after):
    check(before, after, lambda tree: edits.delete_statement(tree, compound(tree, kind)), comments=False)


def test_elif_is_not_deletable():
    tree = Tree("if a: b\nelif c: d\n")
    inner = compound(tree, cst.If).orelse
    with pytest.raises(CannotEdit):
        edits.delete_statement(tree, inner)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): pass", "@tf.function\ndef f(): pass"),
        ("a\nasync def f(): pass", "a\n@tf.function\nasync def f(): pass"),
        ("class A:\n\t# c\n\tdef f(self):\n\t\tpass", "class A:\n\t# c\n\t@tf.function\n\tdef f(self):\n\t\tpass"),
        ("@staticmethod\n# c\ndef f(): pass", "@staticmethod\n# c\n@tf.function\ndef f(): pass"),
        (
            "if x:\n    @a(\n        1\n    )\n    def f(): pass",
            "if x:\n    @a(\n        1\n    )\n    @tf.function\n    def f(): pass",
        ),
    ],
)
def test_add_decorator(before, after):
    check(before, after, lambda tree: edits.add_decorator(tree, tree.functions[0], "@tf.function"))


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


def test_suites():
    check("if a: here(); b", "if a: pass", lambda t: edits.delete_statement(t, compound(t, cst.If).body))


def test_statement_ending_in_a_backslash():
    with pytest.raises(CannotEdit):
        applied("a() \\\n\nb", lambda tree: edits.delete_statement(tree, small(tree, "a()")))


@pytest.mark.parametrize(
    ("before", "moved", "after"),
    [
        ("to()\na\nx\n", "x", "x\nto()\na\n"),
        ("to()\na\nx", "x", "x\nto()\na\n"),
        ("# t\nto()\na\n# x\nx  # y\nb\n", "x", "# t\n# x\nx  # y\nto()\na\nb\n"),
        ("i\n# t\nto()\na\n# x\nx  # y\nb\n", "x", "i\n# x\nx  # y\n# t\nto()\na\nb\n"),
        ("to()\na\nx\nb\ny\n", "x y", "x\ny\nto()\na\nb\n"),
        ("x\na\nto()\n", "x", "a\nx\nto()\n"),
        ("# licence\nx\na\nto()\n", "x", "# licence\na\nx\nto()\n"),
        ("x\nto()\n", "x", "x\nto()\n"),
        ("a\nx\ny\n\nto()\n", "x y", "a\nx\ny\n\nto()\n"),
        # Another block.
        ("to()\nif a:\n    # c\n    x\n    b\n", "x", "# c\nx\nto()\nif a:\n    b\n"),
        ("to()\nif a:\n    x\n    y\n", "x y", "x\ny\nto()\nif a:\n    pass\n"),
        ("if a:\n\tto()\nx\n", "x", "if a:\n\tx\n\tto()\n"),
        ("to()\na; x; b\n", "x", "x\nto()\na; b\n"),
        ("to()\nif a: x\n", "x", "x\nto()\nif a: pass\n"),
        ("to()\na; x; b; y; c\n", "x y", "x\ny\nto()\na; b; c\n"),
        ("to()\nx; y;  # c\na", "x y", "x\ny\nto()\na"),
    ],
)
def test_move_statements(before, moved, after):
    def build(tree):
        statements = [small(tree, text) for text in moved.split()]
        return edits.move_statements(tree, statements, before=small(tree, "to()"))

    check(before, after, build, comments="; y;  # c" not in before)


def test_move_compound_statement():
    before = "def f():\n    to()\nif g:\n    # a\n    h('''\nx\n    y\n''',\n      1)  # b\n\n    z\nlast\n"
    after = "def f():\n    if g:\n        # a\n        h('''\nx\n    y\n''',\n          1)  # b\n\n        z\n    to()\nlast\n"
    check(
        before,
        after,
        lambda tree: edits.move_statements(tree, [compound(tree, cst.If)], before=small(tree, "to()")),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\nb\nx\nc\n", "import a\n\nx\n\nb\nc\n"),
        ("import a\n\nx\nb\n", "import a\n\nx\nb\n"),
        ("import a\n\ndef f():\n\tb\n\t# c\n\tx  # d\n", "import a\n\n# c\nx  # d\n\ndef f():\n\tb\n"),
        ("import a\nb\nx", "import a\n\nx\n\nb\n"),
    ],
)
def test_move_statements_after_imports(before, after):
    check(before, after, lambda tree: edits.move_statements(tree, [small(tree, "x")], after_imports=True))


def test_move_statements_requires_exactly_one_destination():
    tree = Tree("a\nb")
    for options in ({}, {"before": small(tree, "a"), "after_imports": True}):
        with pytest.raises(ValueError, match="either"):
            edits.move_statements(tree, [small(tree, "b")], **options)


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


def test_append_method_to_a_starred_element():
    with pytest.raises(CannotEdit):
        applied("x = [*y]", lambda tree: edits.append_method(tree, compound(tree, cst.StarredElement), P))


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


def test_no_fix_for_code_that_libcst_rejects():
    # libcst rejects a tab after spaces, and only libcst knows the layout of the call.
    tree = Tree("def f():\n\tif a:\n        \tb.c()\n")
    (call,) = (node for node in tree.descendants(tree.root) if isinstance(node, cst.Call))

    def build():
        return (Edit(*tree.range_of(tree.written(call).func.dot), "."),)

    assert offer("Do", build, [SAME_OUTPUT.unless(None)]) is None
