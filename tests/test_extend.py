"""extend: a configuration file that builds on another one."""

import json

import pytest
from command import kerascheck

from kerascheck.finding import Severity
from kerascheck.project.config import Configuration, Selection

PROBLEM = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: tf.random.normal([]) + x, num_parallel_calls=1)\nmodel = tf.keras.Sequential()\nmodel.fit(ds)\n"
BASE = """[tool.kerascheck]
extend-select = ["KC306"]
ignore = ["KC102"]
extend-exclude = ["old/"]
per-file-ignores = { "train.py" = ["KC1"] }
fail-on = "error"
baseline = "known.json"
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_toml", ".toml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path

    write(**{"inner__train.py": PROBLEM})
    return write


def settings(path="inner/train.py"):
    return Configuration().for_file(path)


def codes(*arguments):
    return {each["code"] for each in json.loads(kerascheck("--output-format", "json", *arguments).out)["findings"]}


def test_own_settings_take_precedence(project):
    folder = project(pyproject_toml=BASE, inner__kerascheck_toml='extend = "../pyproject.toml"\nfail-on = "info"\n')
    found = settings()
    assert (found.origin, found.fail_on) == ("inner/kerascheck.toml", Severity.INFO)
    assert found.baseline == str(folder / "known.json")


def test_selectors_and_exclusions_add_up(project):
    own = (
        'extend = "../pyproject.toml"\nextend-select = ["KC5"]\nextend-ignore = ["KC103"]\nextend-exclude = ["new/"]\n'
    )
    folder = project(pyproject_toml=BASE, inner__kerascheck_toml=own)
    found = settings()
    assert found.selections[:2] == (Selection(None, ("KC306",), ("KC102",)), Selection(None, ("KC5",), ("KC103",)))
    assert [(each.folder, each.glob) for each in found.extend_exclude] == [
        (str(folder), "old/"),
        (str(folder / "inner"), "new/"),
    ]


def test_select_replaces_the_extended_selection(project):
    project(pyproject_toml=BASE, inner__kerascheck_toml='extend = "../pyproject.toml"\nselect = ["KC101", "KC102"]\n')
    shown = dict(line.split(" = ", 1) for line in kerascheck("--show-settings", "inner").out.splitlines())
    assert shown["rules"] == "KC101 KC102"
    assert shown["extend-select"] == "[]  (default)" and shown["ignore"] == "[]  (default)"


def test_per_file_ignores_replace_those_of_the_extended_file(project):
    project(pyproject_toml=BASE, inner__kerascheck_toml='extend = "../pyproject.toml"\n')
    assert "KC101" not in codes("--no-baseline", "inner")
    own = 'extend = "../pyproject.toml"\nper-file-ignores = { "train.py" = ["KC3"] }\n'
    project(inner__kerascheck_toml=own)
    assert codes("--no-baseline", "inner") == {"KC101"}


def test_chain_of_files_is_followed_and_shown(project):
    project(
        pyproject_toml=BASE,
        base_toml='extend = "pyproject.toml"\nkeras = "2"\n',
        inner__kerascheck_toml='extend = "../base.toml"\nfail-on = "warning"\n',
    )
    shown = dict(line.split(" = ", 1) for line in kerascheck("--show-settings", "inner").out.splitlines())
    assert shown["configuration file"] == "inner/kerascheck.toml"
    assert shown["extend"] == "base.toml  (inner/kerascheck.toml)"
    assert shown["ignore"] == '["KC102"]  (pyproject.toml)' and shown["keras"] == "2  (base.toml)"
    assert shown["fail-on"] == "warning  (inner/kerascheck.toml)"


def test_home_folder_is_expanded(project, monkeypatch):
    folder = project(base_toml='fail-on = "error"\n', inner__kerascheck_toml='extend = "~/base.toml"\n')
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(folder))
    assert settings().fail_on is Severity.ERROR


def test_named_file_finds_its_base_beside_itself(project):
    project(inner__base_toml='extend-exclude = ["/train.py"]\n', inner__ci_toml='extend = "base.toml"\n')
    # Paths are relative to the current folder, as in every file that --config names.
    assert kerascheck("--config", "inner/ci.toml", "--show-files", ".").out == "inner/train.py\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "inner/kerascheck.toml: 'extend' names base.toml: no such configuration file"),
        ({"base_toml": "slect = []\n"}, "base.toml: has no setting 'slect'; did you mean 'select'?"),
        ({"base_toml": "select = ['KC99']\n"}, "base.toml: no rule matches 'KC99'; did you mean 'KC900'?"),
        ({"base_toml": "select = \n"}, "base.toml: Invalid value (at line 1, column 10)\n  select = \n           ^"),
        (
            {"base_toml": "extend = 'inner/kerascheck.toml'\n"},
            "base.toml: 'extend' goes round in a circle: inner/kerascheck.toml -> base.toml -> inner/kerascheck.toml; remove one of them",
        ),
        (
            {"base_toml": "extend = 'pyproject.toml'\n", "pyproject_toml": "[tool.ruff]\n"},
            "base.toml: 'extend' names pyproject.toml: has no [tool.kerascheck]",
        ),
        ({"inner__kerascheck_toml": "extend = 3\n"}, "inner/kerascheck.toml: 'extend' must be the path of a file, such as \"../pyproject.toml\""),
        ({"inner__kerascheck_toml": "extend = 'kerascheck.toml'\n"}, "inner/kerascheck.toml: 'extend' goes round in a circle: inner/kerascheck.toml -> inner/kerascheck.toml; remove one of them"),
    ],
)  # fmt: skip
def test_unusable_base_is_one_error(project, files, message):
    project(**{"inner__kerascheck_toml": 'extend = "../base.toml"\n', **files})
    ran = kerascheck("inner/train.py")
    assert (ran.code, ran.out, ran.err) == (2, "", f"kerascheck: error: {message}\n")
