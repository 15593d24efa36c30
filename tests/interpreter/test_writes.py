"""Writes of dataset functions: to older objects, and to objects they create."""

import pytest
from snippets import MODEL, load, written

SEQUENCE = """
class Box:
    def put(self, n): self.n = n
class Data(keras.utils.Sequence):
    kept = []
    def __init__(self):
        self.items, self.table, self.pairs = [], {{}}, [[1]]
        self.array = np.zeros(3)
        self.box = Box()
    def __getitem__(self, index):
        {body}
        return index
"""
HEAD = MODEL + "import numpy as np\nfrom z import load\nitems, box = [], None\n"


def writes(folder, body):
    """Source of the writes in ``__getitem__`` to objects that outlive the call."""
    lines = body.replace("\n", "\n        ")
    module = load(folder, SEQUENCE.format(body=lines), HEAD)
    (found,) = module.run.item_writes.values()
    return [written(module, place.node) for place in found]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("self.items.append(index)", "self.items.append(index)"),
        ("mine = self.items\nmine.append(index)", "mine.append(index)"),
        ("mine = self.items if index else []\nmine.append(index)", "mine.append(index)"),
        ("mine = self.pairs[0]\nmine.append(index)", "mine.append(index)"),
        ("mine = self.table\nmine['a'] = index", "mine['a']"),
        ("self.kept.append(index)", "self.kept.append(index)"),
        ("mine = items\nmine += [index]", "mine += [index]"),
        ("mine = self.array\nmine[0] = index", "mine[0]"),
        ("mine = self.table\ndel mine['a']", "mine['a']"),
        ("Data.count = index", "Data.count"),
        ("mine = np\nmine.count = index", "mine.count"),
        ("global box\nbox = index", "box"),
    ],
)
def test_a_write_to_an_older_object_is_recorded(tmp_path, body, text):
    assert text in writes(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "mine = []\nmine.append(index)",
        "mine = {}\nmine['a'] = [index]",
        "mine = np.zeros(3)\nmine[0] = index",
        "mine = Box()\nmine.n = index",
        "mine = Box()\nmine.put(index)",
        "mine = [i for i in range(3)]\nmine.append(index)",
        "mine = list(self.items)\nmine.append(index)",
        "mine = self.items + [1]\nmine.append(index)",
        "mine = load()\nmine.n = index",
        "index = 3",
        "def inner():\n    nonlocal index\n    index = 3\ninner()",
        "for index in range(3): pass",
    ],
)
def test_a_write_to_a_local_object_or_variable_is_not_recorded(tmp_path, body):
    assert writes(tmp_path, body) == []


@pytest.mark.parametrize(
    ("made", "write"), [("np.zeros(3)", "mine[0] = index"), ("Box()", "mine.n = index"), ("[]", "mine.append(index)")]
)
def test_a_write_to_an_object_created_just_before_the_call_is_recorded(tmp_path, made, write):
    text = (
        f"class Data(keras.utils.Sequence):\n    def __getitem__(self, index):\n        mine = made\n        {write}\n"
    )
    module = load(tmp_path, f"class Box: pass\n{text}made = {made}\n", HEAD)
    assert [len(places) for places in module.run.item_writes.values()] == [1]


@pytest.mark.parametrize(
    "body", ["mine = np.zeros(3)\nmine[0] = index", "mine = Box()\nmine.n = index", "np.zeros(3)[0] = index"]
)
def test_a_write_to_an_object_that_the_function_creates_is_not_recorded(tmp_path, body):
    assert writes(tmp_path, body) == []


def test_a_write_in_a_callee_is_recorded(tmp_path):
    item = "class D(keras.utils.Sequence):\n    def __getitem__(self, i): self.note(i)\n"
    text = f"{item}    def note(self, i): self.n = i\n"
    module = load(tmp_path, text, HEAD)
    assert [written(module, each.node) for places in module.run.item_writes.values() for each in places] == ["self.n"]
