"""Configuration files: precedence, and errors for invalid ones."""

import json
import re
from pathlib import Path

import pytest
from command import click_runner, kerascheck

from kerascheck.cli.main import cli
from kerascheck.finding import Severity
from kerascheck.project.config import SETTINGS, Configuration, Settings, from_table

PROBLEM = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: tf.random.normal([]) + x, num_parallel_calls=1)\nmodel = tf.keras.Sequential()\nmodel.fit(ds)\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROBLEM)
    return tmp_path


def run(*arguments):
    result = click_runner().invoke(cli, arguments, standalone_mode=False)
    problem = result.exception
    return problem.format_message() if problem else result.output


def codes(*arguments):
    return {each["code"] for each in json.loads(run("check", "--output-format", "json", *arguments))["findings"]}


def test_dedicated_files_take_precedence_over_pyproject(project):
    assert "KC101" in codes()
    (project / "pyproject.toml").write_text("[tool.kerascheck]\nfail-on = 'error'\n")
    assert Configuration().for_file("train.py").fail_on is Severity.ERROR
    (project / "kerascheck.toml").write_text("ignore = ['KC101']\n")
    assert Configuration().for_file("train.py").fail_on is Severity.WARNING
    assert "KC101" not in codes()
    (project / ".kerascheck.toml").write_text("select = ['KC101']\n")
    assert codes() == {"KC101"}
    assert "configuration file = .kerascheck.toml" in run("check", "--show-settings")


def test_nearest_file_wins_without_merging(project):
    (project / "kerascheck.toml").write_text("ignore = ['ALL']\n")
    (project / "inner").mkdir()
    (project / "inner" / "train.py").write_text(PROBLEM)
    (project / "inner" / "kerascheck.toml").write_text("")
    findings = json.loads(run("check", "--output-format", "json"))["findings"]
    assert {Path(each["path"]).parent.name for each in findings} == {"inner"}


@pytest.mark.parametrize("name, head", [("ci.toml", ""), ("pyproject.toml", "[tool.kerascheck]\n")])
def test_config_option_applies_to_all_files(project, name, head):
    (project / "kerascheck.toml").write_text("nonsense = 1\n")
    (project / "settings").mkdir()
    named = project / "settings" / name
    named.write_text(head + "select = ['KC101']\n")
    assert codes("--config", f"settings/{name}") == {"KC101"}
    named.write_text(head + "extend-exclude = ['/train.py']\n")
    assert "no Python files" in run("check", "--config", f"settings/{name}")


@pytest.mark.parametrize(
    "text, words",
    [
        ("[tool.kerascheck]\nignore = []", "kerascheck.toml: the settings stand by themselves here"),
        ("slect = []", "kerascheck.toml: has no setting 'slect'; did you mean 'select'?"),
        ("select = 3", "kerascheck.toml: 'select' must be a list of strings"),
        ("select = [", "kerascheck.toml: "),
        (b"\xff", "kerascheck.toml: 'utf-8' codec"),
        (None, "kerascheck.toml: cannot be read"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--config", "kerascheck.toml")])
def test_invalid_configuration_is_one_error_line(project, options, text, words):
    file = project / "kerascheck.toml"
    file.mkdir() if text is None else file.write_bytes(text if isinstance(text, bytes) else text.encode())
    said = run("check", *options)
    assert said.startswith(words) and "\n" not in said


@pytest.mark.parametrize(
    "options, words",
    [
        (("--config", "none.toml"), "none.toml: no such configuration file"),
        (("--config", "pyproject.toml"), "pyproject.toml: has no [tool.kerascheck]"),
        (("--config", "a.toml", "--isolated"), "--isolated cannot be combined with --config a.toml"),
    ],
)
def test_missing_config_file_is_an_error(project, options, words):
    (project / "pyproject.toml").write_text("[tool.ruff]\n")
    assert run("check", *options) == words


def test_config_command_lists_every_setting():
    listed = json.loads(run("config", "--output-format", "json"))
    assert list(listed) == list(SETTINGS)
    stated = {key: setting["default"] for key, setting in listed.items() if setting["default"] is not None}
    default, read = Settings(), from_table(stated, "kerascheck.toml")
    for key in stated:
        name = key.replace("-", "_")
        if hasattr(default, name) and "exclude" not in key:
            assert getattr(read, name) == getattr(default, name), key
    assert listed["fail-on"]["option"] == "--fail-on" and listed["keras"]["option"] is None
    text = run("config")
    assert re.findall(r"(?m)^\S+$", text) == list(SETTINGS)
    assert 'default: "warning"' in run("config", "fail-on")
    assert run("config", "fail-no") == "there is no setting 'fail-no'; did you mean 'fail-on'?"


def test_an_error_in_toml_shows_its_line_and_column(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.kerascheck]\nselect = ["KC1"\n\tfail-on = "error\x1b"\n')
    (tmp_path / "a.py").write_text("x = 1\n")
    ran = kerascheck(str(tmp_path))
    assert ran.code == 2
    error, line, caret = ran.err.splitlines()
    assert "pyproject.toml: Unclosed array (at line 3, column 2)" in error
    assert (line, caret) == ('   fail-on = "error\\x1b"', "   ^")
