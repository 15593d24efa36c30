"""Edits of expressions and calls, as pairs of text before and after."""

import libcst as cst
import pytest
from edit_cases import applied, call, check, compound, node

from kerascheck.finding import Edit
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_OUTPUT
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree

P = ".prefetch(2)"


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


def test_append_method_to_a_starred_element():
    with pytest.raises(CannotEdit):
        applied("x = [*y]", lambda tree: edits.append_method(tree, compound(tree, cst.StarredElement), P))


def test_no_fix_for_code_that_libcst_rejects():
    # libcst rejects a tab after spaces, and only libcst knows the layout of the call.
    tree = Tree("def f():\n\tif a:\n        \tb.c()\n")
    (call,) = (node for node in tree.descendants(tree.root) if isinstance(node, cst.Call))

    def build():
        return (Edit(*tree.range_of(tree.written(call).func.dot), "."),)

    assert offer("Do", build, [SAME_OUTPUT.unless(None)]) is None
