"""A name of TensorFlow or Keras stands in one file of kerascheck/knowledge, and nowhere else."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(
    r"(?:tensorflow|keras|tf_keras|tensorflow_datasets|tensorflow_addons|tensorflow_text|tensorflow_hub|keras_tuner|keras_cv|keras_hub|keras_nlp)(?:\.\w+)+\.?|"
    r"(?:tensorflow|keras|tensorflow_datasets|keras_tuner)\."
)
"""Canonical names, and how they start: strings that are nothing else. The names of the libraries alone are no names of theirs."""

IN_CHILDREN = ("kerascheck/runtime/verify/child/", "kerascheck/runtime/doctor/child.py")
"""What runs in the interpreter that trains uses the modules of the libraries themselves, and may stand without the rest of kerascheck."""

KEYED = "signatures.py"
"""A table whose keys are names: what a callable takes stands beside what else is known of it, not instead of it."""

ALLOWED = 0
"""How many names stand outside of kerascheck/knowledge, once for each file. It only falls."""


def _is_docstring(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    return isinstance(parents.get(node), ast.Expr)


def _is_word_of_message(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether it is chosen within an f-string that has other words."""
    around = node
    while around is not None and not isinstance(around, ast.JoinedStr):
        around = parents.get(around)
    return around is not None and any(isinstance(part, ast.Constant) and " " in part.value for part in around.values)


def names_in(path: Path) -> set[str]:
    """The canonical names that the strings of a file are, and how those begin that are put together."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    names = (node for node in strings if NAME.fullmatch(node.value))
    return {node.value for node in names if not _is_docstring(node, parents) and not _is_word_of_message(node, parents)}


def files() -> list[Path]:
    return sorted([*(ROOT / "kerascheck").rglob("*.py"), *(ROOT / "rules").glob("*/*/rule.py")])


def test_a_name_stands_in_one_file_of_knowledge():
    where = defaultdict(set)
    for path in (ROOT / "kerascheck" / "knowledge").glob("*.py"):
        for name in names_in(path) if path.name != KEYED else ():
            where[name].add(path.name)
    assert {name: sorted(found) for name, found in where.items() if len(found) > 1 and not name.endswith(".")} == {}


def test_no_name_stands_elsewhere():
    found = Counter()
    for path in files():
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(("kerascheck/knowledge/", *IN_CHILDREN)):
            found[place] = len(names_in(path))
    assert found.total() <= ALLOWED, [(place, count) for place, count in found.most_common() if count]
