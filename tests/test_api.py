"""kerascheck.api: the imports of rules, and the documentation of each name."""

import ast
import doctest
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from snippets import IMPORTS, load

from kerascheck import api
from kerascheck.catalog import registry
from kerascheck.project.suppression import suppressions
from kerascheck.source import Source

ROOT = Path(__file__).resolve().parent.parent
TOPICS = sorted(name for name in api.__all__ if isinstance(getattr(api, name), ModuleType))
PAGE = (ROOT / "docs" / "rule-api.md").read_text(encoding="utf-8")
RULES = sorted(registry.rules_folder().glob("*/*/rule.py"))


def imported(tree):
    """Imports of kerascheck in a file: pairs of module and name, None for a whole module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.split(".")[0] == "kerascheck"):
            yield from (("." * node.level + (node.module or ""), each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, None) for each in node.names if each.name.split(".")[0] == "kerascheck")


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.parent.name)
def test_rules_import_only_the_api_of_kerascheck(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = list(imported(tree))
    assert found and {module for module, _ in found} == {"kerascheck.api"}
    assert {name for _, name in found} <= set(api.__all__)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.parent.name)
def test_rules_use_only_exported_names_of_a_topic(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    topics = {name for _, name in imported(tree)} & set(TOPICS) - {"names"}
    local = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assert not topics & local
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in topics:
            assert node.attr in getattr(api, node.value.id).__all__


@pytest.mark.parametrize("topic", TOPICS)
def test_topic_exports_all_its_names(topic):
    module = getattr(api, topic)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("topic", sorted(set(TOPICS) - {"names"}))
def test_every_exported_name_has_a_docstring(topic):
    """The docstring is a sentence on the generated page."""
    listed = re.findall(rf"^- (.*)\n  `{topic}\.(\w+)", PAGE, re.MULTILINE)
    listed += [(line, name) for name, line in re.findall(rf"^### `{topic}\.(\w+)`\n\n(.*)", PAGE, re.MULTILINE)]
    assert sorted(name for _, name in listed) == sorted(getattr(api, topic).__all__)
    assert [name for sentence, name in listed if not sentence.endswith(".")] == []


class _Examples:
    """Names in examples, in addition to those of kerascheck.api."""

    def __init__(self, folder):
        self._folder = folder

    def module(self, *lines):
        """A script that has imported tensorflow as tf, and keras."""
        return load(self._folder, "\n".join(lines), head=IMPORTS)

    def call(self, *lines):
        """The last call of a script."""
        return self.module(*lines).run.calls[-1]

    def file(self, text):
        """A requirements file."""
        return api.RequirementsFile(Source(str(self._folder / "requirements.txt"), text))

    def comments(self, text):
        """Comments of a script that suppressed nothing although every rule ran."""
        source = Source(str(self._folder / "train.py"), text)
        directives = suppressions(source).directives
        rules = registry.rule_specs()
        return api.Comments(source, directives, dict.fromkeys(directives, ()), [each.code for each in rules], rules)


@pytest.mark.parametrize("name", api.__all__)
def test_example_in_docstring_runs(name, tmp_path):
    found = getattr(api, name)
    docstring = inspect.getdoc(found)
    made = _Examples(tmp_path)
    known = {each: getattr(made, each) for each in ("module", "call", "file", "comments")}
    test = doctest.DocTestParser().get_doctest(docstring, {**vars(api), **known}, name, None, 0)
    said = []
    assert test.examples and doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


def test_every_function_of_the_api_serves_a_rule():
    rules = "\n".join(path.read_text(encoding="utf-8") for path in registry.rules_folder().glob("*/*/rule.py"))
    topics = {name: getattr(api, name) for name in api.__all__ if inspect.ismodule(getattr(api, name))}
    unused = {
        f"{topic}.{name}"
        for topic, module in topics.items()
        for name in module.__all__
        # Rules get instances of a class from functions, and need not name it.
        if not inspect.isclass(getattr(module, name)) and not re.search(rf"\b{topic}\.{name}\b", rules)
    }
    assert unused == set()
