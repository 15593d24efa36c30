"""The commands themselves, on scripts that do not train."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import click_runner
from verify.made_up import gone
from verify.stand_ins import invoke

from kerascheck.cli.evidence import evidence
from kerascheck.cli.verify import _training
from kerascheck.runtime.verify.budget import TrainingSelector

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text("import sys\nsys.exit(3)\n")
    return path


@pytest.mark.parametrize(
    "text, words",
    [
        ("raise ValueError('no')", "ValueError: no at line 1"),
        pytest.param("import time; time.sleep(600)", "no progress", marks=pytest.mark.slow),
        ("print(input())", "reads standard input at line 1"),
        ("import sys; print(sys.stdin.read()); input()", "reads standard input at line 1"),
        ("import os; os.fork()", "without a training step"),
        ("import os; os.abort()", "SIGABRT"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import sys; sys.exit('enough')", "'enough' before any training step"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "without a training step"),
        ("import sys; sys.setrecursionlimit(100); f = lambda: f(); f()", "RecursionError"),
        ("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "E"),
        ("import sys; sys.stderr = None; raise ValueError('no')", "ValueError: no"),
        ("import sys; del sys.modules['__main__'], sys.argv; sys.stdout = None", "without a training step"),
    ],
)
def test_every_failure_has_a_reason_without_our_traceback(script, text, words):
    script.write_text(text)
    result = invoke("train.py", "--start-limit", "3")
    assert result.return_value == 2
    first, *others = result.stdout.strip().splitlines()
    assert first.startswith("not run") and words in first
    assert "kerascheck" not in "".join(others), result.stdout


def test_the_command_is_announced_first(script):
    result = invoke("train.py", "--", "--epochs", "3")
    assert "EXECUTES YOUR SCRIPT: python train.py --epochs 3" in result.stderr
    assert "before any training step" in result.stdout
    assert result.return_value == 2


def test_json(script):
    result = invoke("train.py", "--output-format", "json")
    assert "sys.exit" in json.loads(result.stdout)["failure"]


def test_html_goes_to_a_file(script):
    invoke("train.py", "--output-format", "html", "--output-file", "report.html")
    assert (script.parent / "report.html").read_text().startswith("<!doctype html>")
    assert sorted(os.listdir(script.parent)) == ["report.html", "train.py"]


def test_usage(script):
    import click

    for arguments in ((), ("train.py", "--rule", "KC101")):
        with pytest.raises(click.UsageError):
            invoke(*arguments)
    with pytest.raises(click.ClickException, match="missing.py"):
        invoke("missing.py")
    script.write_text("def f(:")
    with pytest.raises(click.ClickException, match="not Python"):
        invoke("train.py")


@pytest.mark.parametrize("given", ["0", "0.5%", "60%", "little", "-5%"])
def test_the_no_effect_limit_is_a_percentage(script, given):
    import click

    with pytest.raises(click.BadParameter, match="no percentage between 1% and 50%"):
        invoke("train.py", "--no-effect", given)


@pytest.mark.parametrize(
    "given, chosen",
    [
        ("2", TrainingSelector(number=2)),
        (":40", TrainingSelector(line=40)),
        ("lib/train.py:40", TrainingSelector(path="lib/train.py", line=40)),
        ("./a.py:4", TrainingSelector(path="a.py", line=4)),
    ],
)
def test_a_training_is_selected_by_number_or_line(given, chosen):
    assert _training(None, None, given) == chosen


@pytest.mark.parametrize("given", ["0", "-1", "train.py", "a.py:", "a.py:x", "²"])
def test_an_invalid_training_selector_is_refused(script, given):
    import click

    with pytest.raises(click.BadParameter, match="neither the number of a training"):
        invoke("train.py", "--training", given)


def test_an_interpreter_that_does_not_exist(script):
    import click

    with pytest.raises(click.ClickException, match="no process could be started"):
        invoke("train.py", "--python", "/nowhere/python")


def test_importing_the_commands_imports_no_framework():
    code = (
        "import sys, kerascheck.cli.verify, kerascheck.runtime.verify.compare, kerascheck.runtime.verify.findings, "
        "kerascheck.runtime.verify.evidence, kerascheck.runtime.verify.report_html\n"
        "print({'tensorflow', 'keras', 'numpy', 'libcst', 'torch', 'jax'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout.strip() == "set()"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_signal_leaves_nothing_running(script, number, tmp_path):
    script.write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    code = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from kerascheck.cli.verify import verify\nverify.main(['train.py'], standalone_mode=False)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)
    pid_file = tmp_path / "pid"
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(number)
    parent.communicate(timeout=30)
    assert parent.returncode != 0
    assert gone(int(pid_file.read_text()))
    assert not os.listdir(scratch)


def test_notebooks_run_as_scripts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["%matplotlib inline\n", "x = 41"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["display(x)\n", "raise ValueError(x + 1)"]},
    ]  # fmt: skip
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
    assert "ValueError: 42" in invoke("train.ipynb").stdout


def test_evidence_of_an_unknown_rule_is_refused():
    import click

    result = click_runner().invoke(evidence, ["KC000"], standalone_mode=False)
    assert isinstance(result.exception, click.ClickException)
