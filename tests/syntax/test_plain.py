"""libcst's nodes in a process of kerascheck's own: they cost less, and do what is asked of them."""

import subprocess
import sys

ASKED = """
import dataclasses
from kerascheck.syntax.plain import plain_nodes
{before}
plain_nodes()
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


def said(before):
    """What such a process says of nodes."""
    command = [sys.executable, "-c", ASKED.format(before=before)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_nodes_have_no_methods_that_nobody_calls():
    assert said("") == ["[False, False] True False True 2 b True 3 True True True", "validated"]


def test_nodes_that_are_there_already_stay_as_they_are():
    assert said("import libcst")[0] == "[True, True] True False True 2 b True 3 True True True"
