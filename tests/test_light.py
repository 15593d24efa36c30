"""Dataclasses in a process of kerascheck's own: they cost less, and do what is asked of them."""

import pickle
import subprocess
import sys

import pytest

ASKED = """
import dataclasses
from kerascheck.light import lighten
{before}
lighten()
import libcst as cst
from libcst.metadata import CodePosition
@dataclasses.dataclass(frozen=True)
class Own:
    x: int
text = "def f(a, *b: int) -> None:\\n    return [a[0]  , 1.0]  # text\\n"
module, other = cst.parse_module(text), cst.parse_module(text)
name = cst.Name("a")
print(
    [method in vars(cst.Name) for method in ("__setattr__", "__delattr__")],
    module.code == text, module == other, module.deep_equals(other), len({{module, other}}),
    name.with_changes(value="b").value, isinstance(name.with_changes(value="b"), cst.Name), len(dataclasses.fields(name)),
    CodePosition(1, 2) == CodePosition(1, 2), Own(1) == Own(1), hash(Own(1)) == hash(Own(1)),
)
try:
    cst.Name("")
except cst.CSTValidationError:
    print("validated")
"""


def said(command):
    """What a new process says."""
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert not ended.returncode, ended.stderr
    return ended.stdout.splitlines()


def test_nodes_have_no_methods_that_nobody_calls():
    assert said(ASKED.format(before="")) == ["[False, False] True False True 2 b True 3 True True True", "validated"]


def test_nodes_that_are_there_already_stay_as_they_are():
    expected = "[True, True] True False True 2 b True 3 True True True"
    assert said(ASKED.format(before="import libcst"))[0] == expected


RECORDS = """
import math
from dataclasses import dataclass, field, replace
from typing import ClassVar
{before}
__name__ = "kerascheck.somewhere"
@dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: list = field(default_factory=list, compare=False, repr=False)
    kind: ClassVar[int] = 3
@dataclass(frozen=True, order=True)
class Ordered:
    a: float
    b: str = ""
    c: int = field(default=0, kw_only=True)
@dataclass
class Changing:
    a: int = 1
    def __post_init__(self):
        self.a += 1
@dataclass(slots=True)
class Derived(Changing):
    b: int = 2
@dataclass(frozen=True)
class Own:
    a: int
    def __hash__(self):
        return 7
    def __repr__(self):
        return "own"
@dataclass(frozen=True)
class Compared:
    a: int
    def __eq__(self, other):
        return True
@dataclass(eq=False)
class Single:
    a: int
@dataclass(frozen=True)
class Number:
    a: float
@dataclass(frozen=True, repr=False)
class Quiet:
    a: int
    def __init__(self, b):
        object.__setattr__(self, "a", b + 1)
@dataclass(frozen=True)
class Empty:
    pass
"""
LIGHTLY = "from kerascheck.light import lighten; lighten()\nfrom dataclasses import dataclass"
EXPRESSIONS = [
    "Frozen(1) == Frozen(1, [2]), Frozen(1) == Frozen(2), Frozen(1) == Ordered(1), Frozen(1) != 1",
    "hash(Frozen(1)) == hash(Frozen(1, [2])), len({Frozen(1), Frozen(1, [2]), Frozen(2)})",
    "Frozen(1).b, Frozen(1).b is Frozen(1).b, Frozen.kind, Frozen(1)",
    "Frozen.__slots__, hasattr(Frozen(1), '__dict__'), Frozen(b=[3], a=2).b",
    "sorted([Ordered(2), Ordered(1, 'b'), Ordered(1, 'a'), Ordered(1, 'a', c=-1)])",
    "Ordered(1) <= Ordered(1), Ordered(1) < Ordered(1), Ordered(2) > Ordered(1), Ordered(1) >= Ordered(2)",
    "Single(1) == Single(1), Empty() == Empty(), Empty()",
    "Number(1) == Number(True), repr(Quiet(1)).startswith('<'), Quiet(b=1).a",
    "Changing(), Changing(4), Changing() == Changing(1), Changing.__hash__",
    "Derived(), Derived(1, 5).b, Derived() == Changing(), isinstance(Derived(), Changing), Changing()",
    "replace(Frozen(1, [4]), a=5).b, replace(Ordered(1), c=9)",
    "hash(Own(1)), Own(1), Own(1) == Own(1), hash(Compared(1)) == hash(Compared(1))",
    "Frozen.__match_args__, Frozen.__doc__ is None, Frozen.__qualname__",
]


@pytest.fixture(scope="module")
def answers():
    """What the expressions give in a process of kerascheck's own, and in another."""
    asked = "\n".join(f"print(({each}))" for each in EXPRESSIONS)
    plainly = RECORDS.format(before=LIGHTLY)
    return said(plainly + asked), said(RECORDS.format(before="") + asked)


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_records_do_what_dataclasses_do(number, answers):
    plainly, usually = answers
    assert plainly[number] == usually[number]


def test_what_is_no_number_equals_itself():
    """As in dataclasses until Python 3.12: one value of a program is the same as itself wherever it comes from."""
    command = "\nprint(Ordered(math.nan) == Ordered(math.nan), Number(math.nan) == Number(math.nan))"
    assert said(RECORDS.format(before=LIGHTLY) + command) == ["True True"]


def test_records_can_be_assigned_to():
    """The only difference, by which one sees that the records above are not those of Python."""
    command = "from kerascheck.light import lighten; lighten()\nfrom kerascheck.finding import Edit\n"
    assert said(command + "edit = Edit(1, 2, ''); edit.start = 5; print(edit)") == ["Edit(start=5, end=2, content='')"]


def test_who_derives_a_frozen_class_from_a_record_may():
    command = "from kerascheck.light import lighten; lighten()\nfrom kerascheck.finding import Edit\n"
    derived = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Own(Edit):\n    more: int = 3\n"
    assert said(command + derived + "print(Own(1, 2, '').more)") == ["3"]


def test_records_are_understood_by_processes_that_have_the_usual_ones():
    from kerascheck.finding import Edit

    change = "from kerascheck.light import lighten; lighten()\n"
    command = "import pickle\nfrom kerascheck.finding import Edit\n"
    (sent,) = said(change + command + "print(pickle.dumps(Edit(1, 2, 'a')).hex())")
    assert pickle.loads(bytes.fromhex(sent)) == Edit(1, 2, "a")
    received = f"print(pickle.loads(bytes.fromhex('{pickle.dumps(Edit(1, 2, 'a')).hex()}')))"
    assert said(change + command + received) == [str(Edit(1, 2, "a"))]


PATTERNS = """
import re
{before}
__name__ = "kerascheck.somewhere"
PATTERN = re.compile(r"(?i)a+(b)?", re.M)
KEYWORD = re.compile("^b", flags=re.M)
def made():
    return re.compile("c")
class Holder:
    HELD = re.compile("d")
print(PATTERN.search("xAAb")[1], PATTERN.sub("-", "caab"), [each[0] for each in PATTERN.finditer("a ab")])
print(PATTERN.pattern, PATTERN.flags == re.I | re.M | re.U, KEYWORD.findall("a\\nb"), KEYWORD.groups, {{PATTERN: 1}}[PATTERN])
print([type(each).__name__ for each in (PATTERN, made(), Holder.HELD)])
__name__ = "somewhere"
print(type(re.compile("e")).__name__, type(re.compile(b"f")).__name__)
"""


def test_patterns_do_what_they_do_elsewhere():
    usually = said(PATTERNS.format(before=""))
    lightly = said(PATTERNS.format(before="from kerascheck.light import lighten; lighten()"))
    assert usually[:2] == lightly[:2] and usually[3] == lightly[3]
    assert lightly[2] == "['_Pattern', 'Pattern', 'Pattern']", "that of a module is compiled when it is used"


def test_a_pattern_is_compiled_once():
    command = (
        "from kerascheck.light import lighten; lighten()\n"
        "from kerascheck import light\nfrom kerascheck.source import code\n"
        "compiled = []\nlight._compile = lambda *given: compiled.append(given) or __import__('re')._compile(*given)\n"
        "code._BRACKET.findall('()'), code._BRACKET.search('x'), code._BRACKET.findall('[')\nprint(len(compiled))"
    )
    assert said(command) == ["1"]
