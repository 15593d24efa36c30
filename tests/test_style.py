"""Checks of the tools in pyproject.toml: ruff, mypy, and import-linter for the layers."""

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
