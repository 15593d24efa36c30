"""The hooks inside the real pre-commit, which installs the checkout from its package registry."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXABLE = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10).batch(2)
model = tf.keras.Sequential()
model.fit(ds)
"""
STATEFUL = FIXABLE.replace(".batch(2)", ".map(lambda x: tf.random.uniform([])).batch(2)")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def registry(tmp_path_factory):
    """Skip if pip cannot download the requirements of an installation."""
    if find_spec("pre_commit") is None:
        pytest.skip("needs pre-commit: pip install kerascheck[test]")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: pre-commit clones one")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "-d",
        str(tmp_path_factory.mktemp("pip")),
        "pathspec",
    ]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("pip cannot reach a package registry")


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        return tmp_path

    return write


def git(*arguments, stdin=b""):
    return subprocess.run(["git", *map(str, arguments)], check=True, input=stdin, capture_output=True).stdout


@pytest.fixture(scope="module")
def run_hook(tmp_path_factory, registry):
    """Run a hook of this checkout, as it is now, on a repository; all runs share the first one's environment."""
    folder = tmp_path_factory.mktemp("pre-commit")
    source, changed = ROOT, git("-C", ROOT, "diff", "HEAD", "--binary")
    if changed:
        source = folder / "changed"
        git("clone", "-q", ROOT, source)
        git("-C", source, "apply", "--index", stdin=changed)
        git("-C", source, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--no-verify", "-m", "Changed")
    revision = git("-C", source, "rev-parse", "HEAD").decode().strip()
    hooks = [{"id": "kerascheck"}, {"id": "kerascheck-fix"}]
    config = folder / "config.yaml"  # JSON is YAML
    config.write_text(json.dumps({"repos": [{"repo": str(source), "rev": revision, "hooks": hooks}]}))

    def run_hook(repository, hook):
        # As in CI: hide git's variables of the outer checkout.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment["PRE_COMMIT_HOME"] = str(folder / "home")
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--config", str(config), "--verbose", "--all-files"]
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=900)

    return run_hook


def test_findings_fail_the_hook(repository, run_hook):
    notebook = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": STATEFUL}]})
    ran = run_hook(
        repository(
            train__py=STATEFUL, n__ipynb=notebook, test_a__py=f"import unittest\n{STATEFUL}", plain__py="x = 1\n"
        ),
        "kerascheck",
    )
    assert ran.returncode == 1, ran.stderr
    assert "exit code: 1" in ran.stdout
    assert "train.py:3:32  warning  KC101" in ran.stdout and "n.ipynb:cell 1:3:32  warning  KC101" in ran.stdout
    assert "test_a.py:" not in ran.stdout


def test_other_files_are_skipped(repository, run_hook):
    prose = "It's all about TensorFlow: model.fit(ds) isn't Python 2 -- or is it?\n"
    path = repository(
        LICENSE=prose, README=prose, CHANGELOG=prose, AUTHORS=prose, NEWS=prose, README__md=prose, README__rst=prose, notes__txt=prose,
        README__adoc=prose, CITATION__cff="cff-version: 1.2.0\n", poetry__lock='[[package]]\nname = "tensorflow"\n',
        uv__lock='version = 1\n[[package]]\nname = "keras"\n', Pipfile='[packages]\ntensorflow = "*"\n', setup__cfg="[metadata]\nname = keras\n",
        mkdocs__yml="site_name: Keras\n", stubs__pyi="import keras\n", run__sh="#!/bin/sh\nls\n", Makefile="all:\n\ttensorflow\n",
        pyproject__toml='[project]\nname = "x"\n', requirements__txt="keras\n", plain__py="x = 1\n",
    )  # fmt: skip
    ran = run_hook(path, "kerascheck")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Passed" in ran.stdout and "KC999" not in ran.stdout
    (path / "train").write_text(f"#!/usr/bin/env python3\n{STATEFUL}")
    (path / "train").chmod(0o755)
    ran = run_hook(repository(), "kerascheck")
    assert ran.returncode == 1 and "train:4:32  warning  KC101" in ran.stdout, ran.stdout + ran.stderr


def test_no_relevant_files_are_success(repository, run_hook):
    ran = run_hook(repository(test_a__py=f"import unittest\n{STATEFUL}", plain__py="x = 1\n"), "kerascheck")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Passed" in ran.stdout


def test_fixes_are_written_and_fail_the_hook_once(repository, run_hook):
    path = repository(
        train__py=FIXABLE, pyproject__toml='[tool.kerascheck]\nselect = ["missing-prefetch"]\npedantic = true\n'
    )
    ran = run_hook(path, "kerascheck-fix")
    assert ran.returncode == 1, ran.stderr
    assert "files were modified by this hook" in ran.stdout
    assert (path / "train.py").read_text() == FIXABLE.replace(".batch(2)", ".batch(2).prefetch(tf.data.AUTOTUNE)")


def test_a_missing_path_is_an_error(repository):
    from command import kerascheck

    hook = (ROOT / ".pre-commit-hooks.yaml").read_text().split("entry: kerascheck ")[1].splitlines()[0].split()
    assert kerascheck(*hook, "nope.py").code == 2
