"""Each name of TensorFlow or Keras is in one file of kerascheck/knowledge, and nowhere else."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(
    r"(?:tensorflow|keras|tf_keras|tensorflow_datasets|tensorflow_addons|tensorflow_text|tensorflow_hub|keras_tuner|keras_cv|keras_hub|keras_nlp)(?:\.\w+)+\.?|"
    r"(?:tensorflow|keras|tensorflow_datasets|keras_tuner)\."
)
"""Canonical names and prefixes: strings without other content. The bare names of the libraries do not count."""

IN_CHILDREN = ("kerascheck/runtime/verify/child/", "kerascheck/runtime/doctor/child.py")
"""Code in the training interpreter uses the libraries' modules directly.

It may have to work without the rest of kerascheck.
"""

KEYED = "signatures.py"
"""A table keyed by names: signatures complement other facts about a callable, and do not replace them."""

ALLOWED = 0
"""Maximum names outside of kerascheck/knowledge, once per file. It only decreases."""


def _is_docstring(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    return isinstance(parents.get(node), ast.Expr)


def _is_word_of_message(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether it is a choice inside an f-string with other words."""
    around = node
    while around is not None and not isinstance(around, ast.JoinedStr):
        around = parents.get(around)
    return around is not None and any(isinstance(part, ast.Constant) and " " in part.value for part in around.values)


def names_in(path: Path) -> set[str]:
    """Return the canonical names among the strings of a file, and the prefixes of concatenated ones."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    names = (node for node in strings if NAME.fullmatch(node.value))
    return {node.value for node in names if not _is_docstring(node, parents) and not _is_word_of_message(node, parents)}


def files() -> list[Path]:
    return sorted([*(ROOT / "kerascheck").rglob("*.py"), *(ROOT / "rules").glob("*/*/rule.py")])


def test_each_name_is_in_one_file_of_knowledge():
    where = defaultdict(set)
    for path in (ROOT / "kerascheck" / "knowledge").glob("*.py"):
        for name in names_in(path) if path.name != KEYED else ():
            where[name].add(path.name)
    assert {name: sorted(found) for name, found in where.items() if len(found) > 1 and not name.endswith(".")} == {}


def test_no_name_is_elsewhere():
    found = Counter()
    for path in files():
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(("kerascheck/knowledge/", *IN_CHILDREN)):
            found[place] = len(names_in(path))
    assert found.total() <= ALLOWED, [(place, count) for place, count in found.most_common() if count]
