"""Selection of the interpreter that runs a script."""

import sys

import pytest

from kerascheck.runtime.verify.interpreter import of_project


def environment(prefix, framework="keras"):
    """Create a folder that looks like a virtual environment with a framework."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").touch()
    (prefix / "lib" / "python3.12" / "site-packages" / framework).mkdir(parents=True)
    return str(prefix / "bin" / "python")


@pytest.fixture
def script(tmp_path):
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    path = tmp_path / "project" / "src" / "train.py"
    path.touch()
    return str(path)


def test_without_a_project_environment_it_is_this_interpreter(script):
    assert of_project(script, {}) == (sys.executable, None)


@pytest.mark.parametrize("folder", [".venv", "venv"])
def test_the_folder_of_the_project_is_found_from_below(script, tmp_path, folder):
    python = environment(tmp_path / "project" / folder, "tensorflow")
    assert of_project(script, {}) == (python, folder)


def test_environments_above_the_project_are_ignored(script, tmp_path):
    environment(tmp_path / ".venv")
    assert of_project(script, {}) == (sys.executable, None)


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_activated_environment_comes_first(script, tmp_path, variable):
    environment(tmp_path / "project" / ".venv")
    python = environment(tmp_path / "other")
    assert of_project(script, {variable: str(tmp_path / "other")}) == (python, variable)


def test_an_environment_without_a_framework_is_skipped(script, tmp_path):
    environment(tmp_path / "project" / ".venv", "numpy")
    python = environment(tmp_path / "project" / "venv")
    assert of_project(script, {}) == (python, "venv")
    assert of_project(script, {"VIRTUAL_ENV": sys.prefix}) == (sys.executable, None)


def test_uv_may_name_another_folder(script, tmp_path):
    python = environment(tmp_path / "project" / "env-of-uv")
    assert of_project(script, {"UV_PROJECT_ENVIRONMENT": "env-of-uv"}) == (python, "env-of-uv")


def test_poetry_is_queried_if_it_locks_the_project(script, tmp_path, monkeypatch):
    python = environment(tmp_path / "cache" / "project-py3")
    program = tmp_path / "tools" / "poetry"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho {tmp_path / 'cache' / 'project-py3'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    assert of_project(script, {}) == (sys.executable, None)
    (tmp_path / "project" / "poetry.lock").touch()
    assert of_project(script, {}) == (python, "poetry")
