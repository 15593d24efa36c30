"""Dataclasses, named tuples and namespaces."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import UNKNOWN, DictValue, constant

HEAD = (
    IMPORTS
    + """\
import dataclasses
import types
from typing import NamedTuple
from z import more, show

@dataclasses.dataclass
class Inner:
    size: int = 1

@dataclasses.dataclass
class Outer:
    inner: Inner = dataclasses.field(default_factory=Inner)
    depth: int = dataclasses.field(default=2)
    width: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.width = 3

class Pair(NamedTuple):
    left: int
    right: int = 5

class Other:
    rate: int = 1

    def __init__(self):
        self.size = 2

"""
)


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"show({last})\n"]), HEAD))
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Outer().inner.size", 1),
        ("Outer(inner=Inner(4)).inner.size", 4),
        ("Outer().depth", 2),
        ("Outer().width", 3),
        ("dataclasses.asdict(Outer())['inner']['size']", 1),
        ("dataclasses.replace(Inner(), size=6).size", 6),
        ("dataclasses.replace(Outer(), depth=6).width", 3),
        ("vars(Inner())['size']", 1),
        ("Pair(4)[0]", 4),
        ("Pair(4)[-1]", 5),
        ("left, right = Pair(4); right", 5),
        ("Pair(4)._asdict()['right']", 5),
        ("types.SimpleNamespace(a=7).a", 7),
        ("vars(types.SimpleNamespace(a=7))['a']", 7),
    ],
)
def test_fields_are_known(tmp_path, text, expected):
    assert constant(value_of(tmp_path, text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Inner(**more).size",
        "dataclasses.replace(Inner(), **more).size",
        "dataclasses.asdict(Inner(**more))['size']",
        "dataclasses.asdict(more)",
        "vars(Other())",
        "vars(more)",
        "more._asdict()",
    ],
)
def test_overridden_fields_are_unknown(tmp_path, text):
    assert constant(value_of(tmp_path, text), UNKNOWN) is UNKNOWN


def test_a_namespace_of_unknown_values_may_hold_others(tmp_path):
    value = value_of(tmp_path, "vars(types.SimpleNamespace(a=1, **more))")
    assert isinstance(value, DictValue) and value.open
