"""Numbers with thousands of digits, which Python rejects, cause at most one error line."""

import json

import pytest
from command import kerascheck

LONG = "9" * 5000
SLOW = (
    "from tensorflow import keras\n\nmodel = keras.models.load_model('a')\nfor row in rows:\n    model.predict(row)\n"
)
FOUND = "train.py:5:11: info: KC405"


@pytest.fixture
def lint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SLOW)

    def run(name, text, *arguments):
        (tmp_path / name).write_text(text)
        return kerascheck(".", "--output-format", "concise", *arguments)

    return run


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("requirements.txt", f"tensorflow=={LONG}\n", 1),
        ("requirements.txt", f"tensorflow\nkeras>=2,<2.{LONG}.0\n", 2),
        ("pyproject.toml", f'[project]\nname = "x"\nversion = "1"\ndependencies = ["tensorflow==2.{LONG}"]\n', 4),
        ("pyproject.toml", f'[tool.poetry.dependencies]\ntensorflow = "^2.{LONG}"\n', 2),
        ("environment.yml", f"dependencies:\n  - tensorflow=2.{LONG}\n", 2),
        ("Dockerfile", f"FROM tensorflow/tensorflow:2.{LONG}\n", 1),
    ],
)
def test_version_with_thousands_of_digits_is_one_error(lint, name, text, line):
    ran = lint(name, text)
    assert ran.code == 2 and FOUND in ran.out and "KC998" not in ran.out
    (error_line,) = (each for each in ran.out.splitlines() if each.startswith(f"{name}:"))
    assert error_line.startswith(f"{name}:{line}:") and error_line.endswith(
        "error: KC999 has a number of 5000 digits, which is no version"
    )


@pytest.mark.parametrize("name, text", [("Pipfile.lock", f'{{"x": {LONG}}}'), ("poetry.lock", f"x = {LONG}\n")])
def test_lock_file_with_a_huge_number_is_ignored(lint, name, text):
    ran = lint(name, text)
    assert ran.code == 0 and FOUND in ran.out


def test_notebook_with_a_huge_number_is_linted_and_fixed(lint, tmp_path):
    cell = {"cell_type": "code", "source": SLOW, "metadata": {}, "outputs": [], "execution_count": -1}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).replace("-1", LONG)
    ran = lint("n.ipynb", text)
    assert ran.code == 0 and "n.ipynb:cell 1:5:11: info: KC405" in ran.out
    ran = lint("n.ipynb", text, "--fix", "--unsafe-fixes")
    assert ran.err.count("Fixed") == 2 and LONG in (tmp_path / "n.ipynb").read_text()


def test_malformed_target_version_is_rejected(lint):
    ran = lint("a.py", "", "--target-tensorflow", f"2.{LONG}")
    said = 'kerascheck: error: --target-tensorflow must be a version as a string, such as "2.21"\n'
    assert (ran.code, ran.out, ran.err) == (2, "", said)


@pytest.mark.parametrize(
    "value, words",
    [
        (f'{"[" * 1000}"KC1"{"]" * 1000}', ("is nested too deeply", "'select' must be a list of strings")),
        (LONG, ("has a number of too many digits",)),
        (f"1\n{'.'.join('a' * 20_000)} = 1", ("has a key of too many parts",)),
        ("1\n[" + " . ".join(['"a"'] * 20_000) + "]", ("has a key of too many parts",)),
    ],
)
def test_unreadable_configuration_is_one_error_line(lint, value, words):
    ran = lint("pyproject.toml", f"[tool.kerascheck]\nselect = {value}\n")
    said = ran.out + ran.err
    assert ran.code == 2 and "Traceback" not in said and "pyproject.toml" in said
    assert any(each in said for each in words)


def test_configuration_with_many_dots_is_accepted(lint):
    names = ", ".join(f'"data.{number}.py"' for number in range(2000))
    ran = lint("pyproject.toml", f"[tool.kerascheck]\nexclude = [{names}]\n")
    assert (ran.code, ran.err) == (0, "")
