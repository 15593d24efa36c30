"""kerascheck.api: what rules import, and that it says what each of it is for."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

from kerascheck import api, registry

ROOT = Path(__file__).resolve().parent.parent
TOPICS = sorted(name for name in api.__all__ if isinstance(getattr(api, name), ModuleType))
RULES = sorted(registry.rules_folder().glob("*/*/rule.py"))


def imported(tree):
    """What a file imports of kerascheck: pairs of module and name, and None for a module as a whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.split(".")[0] == "kerascheck"):
            yield from (("." * node.level + (node.module or ""), each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, None) for each in node.names if each.name.split(".")[0] == "kerascheck")


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.parent.name)
def test_rules_import_nothing_else_of_kerascheck(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = list(imported(tree))
    assert found and {module for module, _ in found} == {"kerascheck.api"}
    assert {name for _, name in found} <= set(api.__all__)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.parent.name)
def test_rules_ask_a_topic_for_what_it_offers_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    topics = {name for _, name in imported(tree)} & set(TOPICS) - {"names"}
    local = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assert not topics & local
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in topics:
            assert node.attr in getattr(api, node.value.id).__all__


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_offers_what_it_has(topic):
    module = getattr(api, topic)
    assert all(hasattr(module, name) for name in module.__all__)
