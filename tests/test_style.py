"""Checks of the tools in pyproject.toml: ruff, mypy, and import-linter for the layers."""

import ast
import graphlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


needs_ruff = pytest.mark.skipif(find_spec("ruff") is None, reason="needs ruff: pip install kerascheck[test]")
needs_importlinter = pytest.mark.skipif(
    find_spec("importlinter") is None, reason="needs import-linter: pip install kerascheck[test]"
)

needs_mypy = pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy: pip install kerascheck[test]")


def run(*command):
    ran = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_ruff
def test_ruff_reports_nothing():
    run("-m", "ruff", "check", "--no-cache", "--output-format", "concise", ".")


@needs_ruff
def test_every_file_is_formatted():
    run("-m", "ruff", "format", "--no-cache", "--check", ".")


@needs_importlinter
def test_layers_do_not_import_upwards():
    run("-c", "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())")


@needs_importlinter
def test_imports_have_no_cycles():
    import grimp

    graph = grimp.build_graph("kerascheck", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # Imports in functions and for type checkers count; raises CycleError.
    graphlib.TopologicalSorter(imported).prepare()


@needs_mypy
def test_mypy_reports_nothing():
    run("-m", "mypy")


PRIVATE_NAMES = frozenset(
    "AtTheEnd Checked Const Counter Env Fact Finder Group Habit Iteration Machine Made Narrowing Outcome Place Recent Room SeenModule "
    "Signs Sink Surroundings Through Told Union Wish carry forget gist kind_of_call made_anew taker".split()
)
"""Former private terms; docs/internals.md has a glossary of the current names."""


def test_names_are_those_of_the_field():
    defined = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in (ROOT / "kerascheck").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in PRIVATE_NAMES
    }
    assert defined == set()


def test_no_file_is_longer_than_600_lines():
    long = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kerascheck").rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > 600
    }
    assert long == set()
