"""The plugin inside the real pytest, loaded by name; an installation loads it through its entry point."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.project.toml import parse_toml

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "kerascheck.integrations.pytest_plugin"
SLOW = """\
import tensorflow as tf
import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'
ds = tf.data.Dataset.range(10)
ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))
model = tf.keras.Sequential()
model.fit(ds.batch(2))
"""
DATA = """\
import tensorflow as tf


def make(count):
    return tf.data.Dataset.range(count).map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64)).batch(8)
"""
TRAIN = "from data import make\n\nimport keras\n\nmodel = keras.Sequential()\nmodel.fit(make(10))\n"
NOTEBOOK = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "code", "metadata": {}, "source": SLOW, "outputs": [], "execution_count": None}
]})  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


def run(*arguments):
    """Run pytest without other plugins."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-rA", "--color=no", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)


def outcomes(ran):
    """The outcomes by test."""
    found = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    return {test: outcome for outcome, test in found}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_findings_equal_those_of_the_command_line(project, workers):
    if workers and find_spec("xdist") is None:
        pytest.skip("needs pytest-xdist: pip install kerascheck[test]")
    project({
        "data.py": DATA, "train.py": TRAIN, "plain.py": "x = 1\n", "a/bad.py": "import keras\ndef f(:\n", "b.ipynb": NOTEBOOK,
        "hint.py": SLOW.replace("+ tf.random.uniform([], maxval=9, dtype=tf.int64)", ""), "requirements.txt": "tensorflow\n",
        "old/train.py": SLOW, "tests/slow.py": SLOW, "test_it.py": "def test_it():\n    assert True\n",
        "pyproject.toml": '[project]\nname = "x"\n[tool.kerascheck]\nextend-exclude = ["old"]\n', "notes.txt": SLOW,
    })  # fmt: skip
    report = json.loads(kerascheck("--output-format", "json", "--min-severity", "warning", ".").out)
    failing = {each["path"] for each in (*report["findings"], *report["errors"])}
    assert failing >= {"data.py", "b.ipynb", "a/bad.py"} and "train.py" not in failing
    ran = run("--kerascheck", ".", *(["-p", "xdist", "-n", str(workers)] if workers else []))
    seen = outcomes(ran)
    assert seen.pop("test_it.py::test_it") == "PASSED"
    assert {test for test, outcome in seen.items() if outcome == "FAILED"} == {
        f"{path}::kerascheck" for path in failing
    }
    assert len(seen) == report["summary"]["files"], ran.stdout
    assert ran.returncode == 1


def test_findings_are_shown_without_a_traceback(project):
    project({"train.py": SLOW, "bad.py": "import keras\ndef f(:\n"})
    ran = run("--kerascheck", ".")
    failures = ran.stdout.split("= FAILURES =")[1].split("short test summary")[0]
    assert "train.py:4:9  warning  KC101 serial-map\n" in failures and "= fix: Add num_parallel_calls" in failures
    assert "bad.py:2:7: KC999 does not parse" in failures
    # A hint does not fail the test.
    assert "KC306" not in failures and "pytest_plugin.py" not in failures and "Error" not in failures


@pytest.mark.slow
def test_fail_on_is_configurable(project):
    project({"train.py": SLOW, "pyproject.toml": '[tool.kerascheck]\nfail-on = "error"\n'})
    assert outcomes(run("--kerascheck", ".")) == {"train.py::kerascheck": "PASSED"}
    project({"pyproject.toml": '[tool.kerascheck]\nfail-on = "info"\n'})
    assert "KC306" in run("--kerascheck", ".").stdout


@pytest.mark.slow
def test_baseline_findings_do_not_fail(project):
    project({"a.py": SLOW, "kerascheck.toml": 'baseline = "known.json"\n'})
    kerascheck("--write-baseline", "known.json", ".")
    assert outcomes(run("--kerascheck")) == {"a.py::kerascheck": "PASSED"}
    project({"a.py": SLOW + "model.fit(ds.map(lambda x: x + tf.random.uniform([])).batch(4))\n"})
    assert outcomes(run("--kerascheck")) == {"a.py::kerascheck": "FAILED"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("selekt = []", "kerascheck.toml: has no setting 'selekt'; did you mean 'select'?"),
        ('baseline = "none.json"', "none.json: no such baseline; write it with --write-baseline none.json"),
    ],
)
def test_a_bad_configuration_is_reported_once(project, settings, problem):
    project({"a.py": SLOW, "b.py": SLOW, "kerascheck.toml": settings})
    ran = run("--kerascheck")
    assert ran.stdout.count(problem) == 1 and "another exception" not in ran.stdout
    assert ran.returncode == 2 and not outcomes(ran).keys() & {"a.py::kerascheck", "b.py::kerascheck"}


@pytest.mark.slow
def test_lint_tests_can_be_selected_and_listed(project):
    # Imports leave a trace.
    traced = "open('imported', 'w')\n" + SLOW
    project({"train.py": traced, "data.py": traced, "test_it.py": "def test_it():\n    pass\n"})
    assert set(outcomes(run("--kerascheck", ".", "-m", "kerascheck"))) == {
        "train.py::kerascheck",
        "data.py::kerascheck",
    }
    assert set(outcomes(run("--kerascheck", ".", "-m", "not kerascheck", "--strict-markers"))) == {
        "test_it.py::test_it"
    }
    assert set(outcomes(run("--kerascheck", ".", "-k", "kerascheck and data"))) == {"data.py::kerascheck"}
    assert outcomes(run("--kerascheck", "train.py::kerascheck")) == {"train.py::kerascheck": "FAILED"}
    for test in ("pkg/sub/train.py::kerascheck", "pkg"):
        project({"pkg/__init__.py": traced, "pkg/sub/__init__.py": traced, "pkg/sub/train.py": traced})
        assert outcomes(run("--kerascheck", test, "-k", "kerascheck"))["pkg/sub/train.py::kerascheck"] == "FAILED"
    listed = run("--kerascheck", ".", "--collect-only", "-q")
    assert set(listed.stdout.split()) >= {"train.py::kerascheck", "data.py::kerascheck"} and listed.returncode == 0
    assert not Path("imported").exists()


@pytest.mark.slow
def test_a_bad_setting_is_one_line(project):
    project({"src/train.py": SLOW, "pyproject.toml": '[tool.kerascheck]\nselect = ["serial-mop"]\n'})
    ran = run("--kerascheck", ".")
    assert "pyproject.toml: no rule matches 'serial-mop'; did you mean 'serial-map'?" in ran.stdout
    assert "Traceback" not in ran.stdout and "pytest_plugin.py" not in ran.stdout
    assert ran.returncode == 2


@pytest.mark.slow
def test_a_test_may_change_the_working_directory(project):
    leaves = "import os\n\n\ndef test_it(tmp_path):\n    os.chdir(tmp_path)\n"
    project({"a/test_it.py": leaves, "b/train.py": SLOW})
    assert "b/train.py:4:9  warning  KC101" in run("--kerascheck", ".").stdout


@pytest.mark.slow
def test_without_the_option_nothing_is_imported_or_linted(project):
    modules = "import sys\n\n\ndef test_it():\n    print(sorted(name for name in sys.modules if name.startswith(('kerascheck', 'libcst'))))\n"
    project({"test_it.py": modules, "train.py": SLOW, "pytest.ini": "[pytest]\naddopts = --strict-markers\n"})
    ran = run("-s")
    assert outcomes(ran) == {"test_it.py::test_it": "PASSED"}
    assert f"{['kerascheck', 'kerascheck.integrations', PLUGIN]}\n" in ran.stdout
    assert "@pytest.mark.kerascheck: " in run("--markers").stdout


def test_the_plugin_has_an_entry_point_and_the_command_needs_no_pytest():
    project = parse_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"kerascheck": PLUGIN}
    assert not any("pytest" in each for each in project["dependencies"])
