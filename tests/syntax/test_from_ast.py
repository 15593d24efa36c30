"""The nodes converted from Python's tree equal those from libcst's parser."""

import ast
import sys
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from kerascheck.source.python import parsed
from kerascheck.syntax.from_ast import Converter, UnsupportedSyntax
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.whitespace import NEWLINE

ROOT = Path(__file__).parents[2]
TEXTS = {
    "arguments": "f(a, *b, c=1, **d)\nf(a=1, *b)\nf(x for x in y)\nf((x for x in y), z)\n",
    "binary operations": "a + b * (c - d) ** -e // f @ g % h << i >> j & k | l ^ ~m\n",
    "boolean operations": "a and b and (c or d or e) and not f\n",
    "comparisons": "a < b <= c != d is not e not in f == (g > h)\n",
    "numbers": "0x1F, 1_000, 1e-3, .5, 2j, True, None, ...\n",
    "strings": "'a', r\"b\\\"\", b'''c'd''', \"\"\"e\n\"f\"\"\", u'\\'g', ''\n",
    "strings one after the other": "a = 'b' \"c\"\nd = ('e'  # f\n     'g' f'{h}')\n",
    "formatted strings": "f'{a!r:>{b}} {{}} {c=}'\nx = rf'''{d}\n'''\n",
    "tuples": "a, = b\n(c, *d), e = f\n() \nreturn_ = 1, (2, 3)\nfor g, h in i, j: pass\n",
    "subscripts": "a[b]\na[b, c]\na[(b, c)]\na[(b), (c)]\na[(b, c),]\na[b:c:d, ::e, ...]\na[:]\na[()]\na[b,]\n",
    "displays": "[a, *b]; {a, *b}; {a: b, **c}; {}\n",
    "comprehensions": "[a for b in c if d if e for f in g]\n{a for b in c}\n{a: b for c in d}\n",
    "lambdas": "lambda: 0\nlambda a, /, b=1, *c, d, e=2, **f: g\nlambda *, a: b\n",
    "walrus and choice": "(a := b) if (c := d) else e\n",
    "parameters": "def f(a: int, b=1, /, c: str = 'd', *e: int, g, h=2, **i) -> j:\n    pass\ndef k(*, l): pass\n",
    "asynchronous": "async def f():\n    async for a in b: await c\n    async with d as e, g: return [h async for h in i]\n",
    "generators": "def f():\n    a = yield\n    yield b, c\n    yield from d\n",
    "classes": "@a.b(c)\n@d\nclass E(F, *G, metaclass=H, **I):\n    'doc'\nclass J: x = 1; y: int; z: int = 2\n",
    "assignments": "a = b = c\na: int\na.b: int = c\na[b] += c\na @= b\na //= b; a **= b\n",
    "imports": "import a.b.c as d, e\nfrom . import f\nfrom ...g.h import (i as j, k,)\nfrom l import *\n",
    "deletions": "del a\ndel (a)\ndel a, b\ndel (a, b)\ndel a,\ndel (a), b[c]\n",
    "small statements": "def f():\n    global a, b\n    nonlocal c\n    assert d, e\n    raise\n    raise f from g\n    return\n",
    "semicolons": "a; b; c;\nd\nif e: f; g;\nh; \\\ni\n",
    "conditions": "if a: b\nelif c:\n    d\nelse:\n    if e: f\n    else: g\n",
    "loops": "for a in b:\n    continue\nelse: break_\nwhile c: break\nelse:\n    d\n",
    "exceptions": "try: a\nexcept B as c: d\nexcept (E, F):\n    g\nexcept: h\nelse: i\nfinally:\n    j\n",
    "contexts": "with a as (b, c), d: e\nwith (f): g\nwith (h as i, j):\n    k\n",
    "comments that end in a backslash": "if a:\n    # b \\\n    c\nd  # ; \\\ne\n",
    "lines that go on": "if a: \\\n  b\nelse:\\\n  c; \\\n  d\ne = \\\n  f\n",
    "line ends": "a = 1\r\nif b:\r\n\tc\r\nd\re",
    "letters of more bytes": "a = 'é'; b = 'ü' + c  # ö\nd['ß'].e(f='€').g\n",
    "nothing": "",
    "comments alone": "# a\n\n# b",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_nodes_equal_those_of_libcst(text):
    made, written = Tree(text), cst.parse_module(text)
    assert made.root is not written and made.written(made.root) is not made.root, "libcst has made it"
    assert alike(made.root, written) and alike(written, made.root)


def lines_of(text):
    return [0, *(match.end() for match in NEWLINE.finditer(text))]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_ranges_equal_those_of_libcst(text):
    made, wrapper = Tree(text), MetadataWrapper(cst.parse_module(text))
    places, starts = wrapper.resolve(PositionProvider), lines_of(text)
    pending = [(made.root, wrapper.module)]
    while pending:
        node, written = pending.pop()
        if not isinstance(node, (cst.Module, cst.BaseSuite, cst.BaseCompoundStatement)):
            place = places[written]
            start, end = (starts[each.line - 1] + each.column for each in (place.start, place.end))
            assert text[slice(*made.range_of(node))] == text[start:end]
        pending.extend(zip(made.children(node), made.children(written), strict=True))


def test_files_of_this_project_convert_to_libcsts_nodes():
    for path in [*sorted((ROOT / "kerascheck").rglob("*.py")), *sorted((ROOT / "rules").rglob("rule.py"))]:
        text = path.read_text(encoding="utf-8")
        assert alike(Converter(text, parsed(text), lambda node, parents: None).root, cst.parse_module(text)), path


@pytest.mark.parametrize(
    "text",
    [
        "match a:\n    case [b, *c]: d\n",
        "\uff41 = 1\n",  # Python reads it as an a.
        "ä = 1\n",
        "if a:  # b: \\\n    c\n",
        "try: a\nexcept* B: c\n",
    ],
)
def test_libcst_parses_unsupported_syntax(text):
    if sys.version_info < (3, 11) and "except*" in text:
        pytest.skip("newer than this Python")
    with pytest.raises(UnsupportedSyntax):
        Converter(text, ast.parse(text), lambda node, parents: None)
    tree = Tree(text)
    assert tree.written(tree.root) is tree.root
    assert tree.root.code == text


def test_layout_is_available_on_demand():
    tree = Tree("a = 1\nb = (f(c , d) )\n")
    call = next(node for node in tree.descendants(tree.root) if isinstance(node, cst.Call))
    with pytest.raises(AttributeError):
        call.lpar  # noqa: B018
    assert len(tree.written(call).lpar) == 1
    assert tree.range_of(tree.written(call.args[0]).comma) == (15, 16)


@pytest.mark.parametrize(
    ("text", "newline", "indent"),
    [("a", "\n", "    "), ("if a:\r\n\tb\r\n", "\r\n", "\t"), ("if a: b\nif c:\n  if d:\n   e\n", "\n", "  ")],
)
def test_newline_and_indent_of_the_first_line_and_block(text, newline, indent):
    tree = Tree(text)
    assert (tree.newline, tree.indent) == (newline, indent)


def test_own_parentheses_differ_from_those_of_a_call():
    text = "f(a)\nf((b))\nf(c, d=e)\nf(c, (g))\nf(d=(h))\n(i)\n(j)(k)\nf(  # (\n    l\n)\n(m).n(o)\nf((p), (q)\n)\nr, (s)\n"
    tree = Tree(text)
    names = [node for node in tree.descendants(tree.root) if isinstance(node, cst.Name)]
    assert {node.value for node in names if tree.is_parenthesised(node)} == set("bghijmpqs")
    for arg in (node for node in tree.descendants(tree.root) if isinstance(node, cst.Arg)):
        written = tree.written(arg)
        assert tree.range_of(arg) == tree.range_of(written)


def test_libcst_parses_code_too_deep_for_the_stack():
    tree = Tree("a" + ".b()" * 300)
    assert tree.written(tree.root) is tree.root
