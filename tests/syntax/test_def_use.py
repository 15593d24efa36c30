"""Names that statements bind, read and change, by form; objections to moving statements."""

import libcst as cst
import pytest

from kerascheck.syntax.def_use import def_use
from kerascheck.syntax.moves import Objections, objections_to_move
from kerascheck.syntax.tree import Tree


def uses(text, statement=0):
    tree = Tree(text + "\n")
    return def_use(tree).uses(tree.root.body[statement])


def words(names):
    return " ".join(sorted(names))


@pytest.mark.parametrize(
    ("text", "binds", "certain"),
    [
        ("a = 1", "a", "a"),
        ("a = b = 1", "a b", "a b"),
        ("a, (b, *c) = d", "a b c", "a b c"),
        ("[a, b] = d", "a b", "a b"),
        ("a.b = a[0] = 1", "", ""),
        ("a += 1", "a", "a"),
        ("a: int = 1", "a", "a"),
        ("a: int", "a", ""),
        ("f(a := 1)", "a", "a"),
        ("b or (a := 1)", "a", ""),
        ("(a := 1) or b", "a", "a"),
        ("c if b else (a := 1)", "a", ""),
        ("b < c < (a := 1)", "a", ""),
        ("assert (a := 1)", "a", ""),
        ("[b for b in c if (a := b)]", "a", ""),
        ("lambda: (a := 1)", "", ""),
        ("[a for a in b]", "", ""),
        ("{a: c for a, c in b}", "", ""),
        ("for a, b in c: pass", "a b", ""),
        ("async def f():\n    async for a in b: pass", "f", "f"),
        ("while (a := f()): b = 1", "a b", "a"),
        ("with a as b, c as (d, e): f = 1", "b d e f", "b d e"),
        ("try:\n    a = 1\nexcept E as b:\n    c = 1", "a b c", ""),
        ("try:\n    a = 1\nexcept* E as b:\n    a = 2", "a b", "a"),
        ("try:\n    a = 1\nexcept E:\n    a = 2\nelse:\n    b = 1", "a b", "a"),
        ("try:\n    a = 1\nexcept E:\n    raise\nelse:\n    b = 1", "a b", "a b"),
        ("try:\n    a = 1\nfinally:\n    b = 1", "a b", "a b"),
        ("if a:\n    b = 1\nelse:\n    b = 2", "b", "b"),
        ("if a:\n    b = 1\nelif c:\n    b = 2", "b", ""),
        ("if a:\n    b = 1\nelif c:\n    b = 2\nelse:\n    raise d", "b", "b"),
        ("if a:\n    b = 1\nelse:\n    b = 2\n    del b", "b", ""),
        ("import a.b, c as d", "a d", "a d"),
        ("from a import b, c as d", "b d", "b d"),
        ("def a(b, *c, d=1, **e): f = 1", "a", "a"),
        ("class a:\n    b = 1\n    def c(self): pass", "a", "a"),
        ("match a:\n    case [b, *c]: pass", "b c", ""),
        ("match a:\n    case {'k': b, **c}: pass", "b c", ""),
        ("match a:\n    case B(c=d) as e: pass", "d e", ""),
        ("type a = b", "a", "a"),
        ("global a\na = 1", "", ""),
    ],
)
def test_bound_names(text, binds, certain):
    found = uses(text)
    assert (words(found.binds), words(found.certain)) == (binds, certain)


@pytest.mark.parametrize(
    ("text", "reads", "later"),
    [
        ("a = b.c[d]", "b d", ""),
        ("a.b = c", "a c", ""),
        ("a += b", "a b", ""),
        ("f(k=a)", "a f", ""),
        ("f'{a:{b}}'", "a b", ""),
        ("[a + c for a in b]", "b c", ""),
        ("[c for a in b for c in a]", "b", ""),
        ("{a for a in b}", "b", ""),
        ("{a: c for a, c in b}", "b", ""),
        ("f(a for a in b)", "b f", ""),
        ("{**a, 'k': b}", "a b", ""),
        ("lambda a, b=c: a + d", "c", "d"),
        ("@a\ndef f(b: c, d=e) -> g:\n    h = i\n    return h + b", "a c e g", "i"),
        ("def f():\n    def g(): return a + b\n    b = 1", "", "a"),
        ("def f():\n    return [a for a in b]", "", "b"),
        ("class A(B, metaclass=M):\n    c = d\n    def e(self): return c", "B M d", "c"),
        ("match a:\n    case b.c: pass\n    case D(e=1): pass", "D a b", ""),
        ("del a, b.c, d[e]", "a b d e", ""),
        ("try:\n    a\nexcept B as c:\n    c", "B a c", ""),
        ("from a import b", "", ""),
    ],
)
def test_read_names(text, reads, later):
    found = uses(text)
    assert (words(found.reads), words(found.later)) == (reads, later)


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("del a, (b, c)", "unbinds", "a b c"),
        ("try:\n    a\nexcept E as b: c", "unbinds", "b"),
        ("def f():\n    global a\n    a = 1", "rebinds", "a"),
        ("def f():\n    a = 1", "rebinds", ""),
        ("def f():\n    global a\n    def g():\n        global b\n        del b", "rebinds", "b"),
        ("a.b = 1", "changes", "a"),
        ("a.b.c[0] += 1", "changes", "a"),
        ("del a[0], b.c", "changes", "a b"),
        ("for a.b in c: pass", "changes", "a"),
        ("def f():\n    a.b = 1", "changes_later", "a"),
        ("def f(a):\n    a.b = 1", "changes_later", ""),
        ("a.b + c", "attributes", "a"),
        ("a = b = []", "mutable", "a b"),
        ("a = b = -1", "mutable", ""),
        ("for a in b: pass", "mutable", "a"),
        ("import a", "mutable", ""),
        ("global a, b", "declared", "a b"),
        ("def f():\n    nonlocal a\n    a = 1", "rebinds", "a"),
    ],
)
def test_other_uses(text, field, expected):
    assert words(getattr(uses(text), field)) == expected


@pytest.mark.parametrize(
    ("text", "star", "calls"),
    [
        ("from a import *", True, True),
        ("a = 1", False, False),
        ("f()", False, True),
        ("import a", False, True),
        ("with a: pass", False, True),
        ("for a in b: pass", False, True),
        ("a, b = c", False, True),
        ("a.b = 1", False, True),
        ("class A: pass", False, True),
        ("def f(): g()", False, False),
        ("@f\ndef g(): pass", False, True),
        ("lambda: f()", False, False),
        ("(a for a in b)", False, True),
        ("await a", False, True),
    ],
)
def test_code_elsewhere_may_run(text, star, calls):
    assert (uses(text).star, uses(text).calls) == (star, calls)


def place(text):
    """The tree of a text, and its statement ``HERE``."""
    tree = Tree(text + "\n")
    name = next(node for node in tree.parents if isinstance(node, cst.Name) and node.value == "HERE")
    return tree, tree.statement(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nHERE\nb = 2", "a"),
        ("a = 1\ndel a\nHERE", ""),
        ("if x: a = 1\nHERE", ""),
        ("for a in b:\n    c = 1\n    HERE", "a c"),
        ("for a in b:\n    HERE\n    c = 1", "a"),
        ("for a in b:\n    c = 1\n    HERE\n    del c", "c a"),
        ("c = 1\nfor a in b:\n    HERE\n    del c", "a"),
        ("with a as b:\n    HERE", "b"),
        ("if (a := b):\n    HERE", "a"),
        ("try:\n    a = 1\nexcept E as b:\n    HERE", "b"),
        ("try:\n    a = 1\nexcept E: pass\nelse:\n    HERE", "a"),
        ("a = 1\ntry:\n    del a\nexcept E:\n    HERE", ""),
        ("try:\n    import a\nexcept E:\n    a = None\nHERE", "a"),
        ("a = 1\ndef f(b, *c):\n    d = 1\n    HERE", "b c d"),
        ("a = 1; HERE; b = 2", "a"),
        ("if x: a = 1; HERE", "a"),
        ("class A:\n    a = 1\n    HERE", "a"),
    ],
)
def test_names_bound_before_a_statement(text, expected):
    tree, statement = place(text)
    if "; HERE" in text:
        statement = next(each for each in statement.body if isinstance(each.value, cst.Name))
    assert words(def_use(tree).bound_before(statement)) == words(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for a in b:\n    f(a)", "b f"),
        ("for a in a:\n    pass", "a"),
        ("for a in b:\n    pass\nelse:\n    f(a)", "a b f"),
        ("if a:\n    try:\n        for b in a: b\n    except E as c:\n        print(c)", "E a print"),
        ("if a:\n    b = 1\nelse:\n    print(b)", "a b print"),
        ("with a as b:\n    c = b\nprint(c)", "a"),
        ("while a:\n    f(b)\n    b = 1", "a b f"),
    ],
)
def test_free_reads_of_compound_statements(text, expected):
    tree = Tree(text + "\n")
    assert words(def_use(tree).free_reads(tree.root.body[0])) == words(expected.split())


def moved(text, *, last=1):
    """The objections to moving the last statements of a text behind its first one."""
    tree = Tree(text + "\n")
    body = tree.root.body
    return objections_to_move(tree, body[-last:], body[1], lambda node: f"line {tree.line_of(node)}")


BINDINGS = (
    "kind = 'GPU'", "kind, x = 'GPU', 1", "[x, *kind] = 'GPU'", "kind += 'GPU'", "kind: str = 'GPU'", "print(kind := 'GPU')",
    "[x for x in y if (kind := x)]", "for kind in x: pass", "with x as kind: pass", "import kind", "import kind.x", "from x import kind",
    "import x as kind", "def kind(): pass", "class kind: pass", "try: kind = 1\nexcept E: pass", "del kind",
    "match x:\n    case [kind]: pass", "try: x\nexcept E as kind: pass", "while x: kind = 1", "type kind = x",
)  # fmt: skip


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_read_does_not_move_above_the_binding(binding):
    assert "below the new place" in moved(f"import tf\n{binding}\ntf.set(kind)").unbound
    assert moved(f"import tf\nkind = 'GPU'\n{binding}\ntf.set(kind)").unbound.startswith("`kind` is bound")


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_binding_in_another_scope_does_not_count(binding):
    inner = "\n    ".join(f"def f(y):\n{binding}".splitlines())
    assert moved(f"kind = 'GPU'\n{inner}\nset(kind)") == Objections()


@pytest.mark.parametrize(
    ("between", "objection"),
    [
        ("x = 1", None),
        ("f(y)", None),
        ("from x import *", "line 2 may bind any name"),
        ("def f():\n    global kind\n    kind = 1\nf()", "`kind` may change at line 5"),
        ("kind.x = 1", "`kind` may change at line 2"),
        ("del kind[0]", "`kind` may change at line 2"),
        ("def f(): kind.x = 1\nf()", "`kind` may change at line 3"),
        ("print(gpu)", "`gpu`, which the moved statement binds, may be read at line 2"),
        ("def f(): return gpu\nf()", "`gpu`, which the moved statement binds, may be read at line 2"),
        ("gpu = 1", "`gpu`, which the moved statement binds, may also be bound at line 2"),
        ("globals()['kind'] = 1", "line 2 may bind any name"),
    ],
)
def test_conflicts_with_statements_in_between(between, objection):
    assert moved(f"kind = 'GPU'\n{between}\ngpu = set(kind)").between == objection


def test_any_use_may_mutate_a_list():
    assert moved("kinds = []\nf(kinds)\nset(kinds)").between == "`kinds` may change at line 2"
    assert moved("kinds = ''\nf(kinds)\nset(kinds)").between is None


def test_unknown_code_may_set_attributes_except_those_of_libraries():
    assert moved("import cfg\nf()\nset(cfg.KIND)").between == "the attributes of `cfg` may change at line 2"
    assert moved("import numpy as np\nf()\nset(np.pi)").between is None


def test_functions_read_names_when_called():
    text = "def kind(): return KIND\nx = 1\nKIND = 'GPU'\nset(kind())"
    assert moved(text).unbound == "`KIND` is bound at line 3, below the new place"
    assert moved("KIND = 'GPU'\ndef kind(): return KIND\nset(1)") == Objections()


@pytest.mark.parametrize(
    "between", ["from x import *", "def f():\n    global kind\n    kind = 1\nf()", "exec('kind = 1')"]
)
def test_code_in_between_may_bind_names_indirectly(between):
    assert moved(f"import tf\n{between}\ntf.set(kind)").unbound.startswith("`kind` may be bound at line")


def test_statements_that_move_together_may_use_each_other():
    text = "import tf\nf()\nkind, x = 'GPU', 1\ntf.set(kind)"
    assert moved(text).unbound is not None
    assert moved(text, last=2).unbound is None


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("from x import *\nf()\nset(kind)", "nothing in this file binds `kind`"),
        ("if x: kind = 1\nf()\nset(kind)", "`kind` may not be bound before line 2"),
        ("kind = 1\nf()\nset(kind)", None),
        ("import tf\nprint()\nprint(len(tf))", None),
    ],
)
def test_possibly_unbound_names(text, doubt):
    assert moved(text).doubtful == doubt


def test_moving_statements_out_of_a_loop():
    def out_of(text):
        tree, statement = place(text)
        return objections_to_move(tree, [statement], tree.parents[tree.parents[statement]], lambda node: "there")

    assert out_of("a = 1\nfor b in c:\n    set(a, HERE)\n    f(b)").unbound is None
    assert out_of("for b in c:\n    set(b, HERE)").unbound == "`b` is bound at there, below the new place"
    assert out_of("for b in c:\n    d = 1\n    set(d, HERE)").unbound == "`d` is bound at there, below the new place"
    assert out_of("while f():\n    x = set(HERE)\n    g(x)").between.startswith("`x`, which")


def test_early_returns():
    tree, statement = place("def f(a):\n    b = 1\n    if a: return\n    set(HERE)")
    block = tree.parents[statement]
    assert "leave the block" in objections_to_move(tree, [statement], block.body[0], lambda node: "there").between
