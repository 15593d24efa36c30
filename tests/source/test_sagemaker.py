"""Versions that an estimator of SageMaker states for a script."""

import json

import pytest

from kerascheck.project import requirements
from kerascheck.project.requirements import estimator_versions

IMPORT = "from sagemaker.tensorflow import TensorFlow\n"


@pytest.fixture(autouse=True)
def nothing_remembered():
    requirements.invalidate()


def version(folder, script, launchers):
    (folder / ".git").mkdir()
    for name, text in launchers.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return {package: pin.specifier for package, pin in estimator_versions(folder / script).items()}


@pytest.mark.parametrize(
    ("script", "call", "found"),
    [
        ("train.py", "TensorFlow(entry_point='train.py', role=role(), framework_version='2.11', py_version='py39')", "==2.11"),
        ("src/train.py", "TensorFlow(entry_point='train.py', source_dir='./src', framework_version='2.11.1')", "==2.11.1"),
        ("src/nets/model.py", "TensorFlow(entry_point='train.py', source_dir='src', framework_version='2.11')", "==2.11"),
        ("src/train.py", "TensorFlow(\n    'src/train.py',\n    entry_point='src/train.py',\n    framework_version='2.11',\n)", "==2.11"),
        ("src/train.py", "sagemaker.tensorflow.TensorFlow(entry_point='train.py', framework_version='2.11')", "==2.11"),
        ("train.py", "TensorFlow(entry_point='train.py', framework_version=version)", None),
        ("train.py", "TensorFlow(entry_point='train.py', framework_version=f'2.{minor}')", None),
        ("train.py", "TensorFlow(entry_point=entry, framework_version='2.11')", None),
        ("train.py", "TensorFlow(entry_point='train.py', source_dir=folder, framework_version='2.11')", None),
        ("train.py", "TensorFlow(entry_point='train.py', framework_version='2.11', **more)", None),
        ("other.py", "TensorFlow(entry_point='train.py', framework_version='2.11')", None),
        ("train.py", "PyTorch(entry_point='train.py', framework_version='2.1')", None),
        ("train.py", "# TensorFlow(entry_point='train.py', framework_version='2.11')", None),
    ],
)  # fmt: skip
def test_the_version_of_an_estimator(tmp_path, script, call, found):
    assert version(tmp_path, script, {"launch.py": f"{IMPORT}e = {call}\n", script: ""}).get("tensorflow") == found


def test_a_notebook_may_launch(tmp_path):
    cell = f"{IMPORT}TensorFlow(entry_point='train.py', framework_version=\"2.9\")"
    notebook = {"cells": [{"cell_type": "code", "source": cell}], "metadata": {}, "nbformat": 4}
    assert version(tmp_path, "train.py", {"a.ipynb": json.dumps(notebook)}) == {"tensorflow": "==2.9"}


def test_the_newer_of_two_estimators_counts(tmp_path):
    call = "TensorFlow(entry_point='train.py', framework_version='{}')\n"
    launchers = {"a.py": IMPORT + call.format("2.9"), "b.py": IMPORT + call.format("2.11")}
    assert version(tmp_path, "train.py", launchers) == {"tensorflow": "==2.11"}


def test_other_libraries_have_no_estimators(tmp_path):
    call = "TensorFlow(entry_point='train.py', framework_version='2.9')\n"
    assert version(tmp_path, "train.py", {"a.py": call}) == {}


def test_the_repository_ends_the_search(tmp_path):
    (tmp_path / "launch.py").write_text(f"{IMPORT}TensorFlow(entry_point='train.py', framework_version='2.9')")
    (tmp_path / "part").mkdir()
    assert version(tmp_path / "part", "train.py", {}) == {}
