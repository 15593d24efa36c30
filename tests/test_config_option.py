"""--config 'key = value': settings in TOML on the command line."""

import json

import pytest
from command import kerascheck

PROBLEM = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: tf.random.normal([]) + x, num_parallel_calls=1)\nmodel = tf.keras.Sequential()\nmodel.fit(ds)\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROBLEM)
    return tmp_path


def codes(*arguments):
    return {each["code"] for each in json.loads(kerascheck("--output-format", "json", *arguments).out)["findings"]}


def shown(*arguments):
    ran = kerascheck("--show-settings", *arguments)
    assert ran.code == 0, ran
    return dict(line.split(" = ", 1) for line in ran.out.splitlines())


def test_setting_overrides_files(project):
    (project / "kerascheck.toml").write_text('select = ["KC306"]\nextend-exclude = ["a/"]\nfail-on = "error"\n')
    assert codes(".") == {"KC306"}
    assert codes("--config", 'select = ["KC101"]', ".") == {"KC101"}
    assert codes("--config", 'extend-select = ["KC101"]', ".") == {"KC101", "KC306"}
    settings = shown("--config", 'extend-exclude = ["b/"]', "--config", "pedantic = true")
    assert settings["configuration file"] == "kerascheck.toml"
    assert settings["extend-exclude"] == '["a/", "b/"]  (kerascheck.toml, --config)'
    assert settings["pedantic"] == "true  (--config)" and settings["fail-on"] == "error  (kerascheck.toml)"


def test_later_settings_and_dedicated_options_take_precedence(project):
    given = ("--config", 'fail-on = "info"\nkeras = "2"', "--config", "fail-on = 'error'")
    assert shown(*given)["fail-on"] == "error  (--config)" and shown(*given)["keras"] == "2  (--config)"
    assert shown(*given, "--fail-on", "warning")["fail-on"] == "warning  (--fail-on)"
    assert codes("--config", "select = ['KC1']", "--ignore", "KC101", "--select", "KC306", ".") == {"KC306"}
    assert codes("--config", "select = ['KC1']", "--ignore", "KC101", ".") == set()


def test_setting_combines_with_a_file_and_with_isolated(project):
    (project / "kerascheck.toml").write_text("nonsense = 1\n")
    (project / "ci.toml").write_text("select = ['KC101', 'KC306']\n")
    assert codes("--config", "ci.toml", "--config", "ignore = ['KC306']", ".") == {"KC101"}
    assert codes("--isolated", "--config", "select = ['KC101']", ".") == {"KC101"}


def test_existing_file_with_an_equals_sign_is_a_file(project):
    (project / "a=b.toml").write_text("select = ['KC101']\n")
    assert codes("--config", "a=b.toml", ".") == {"KC101"}


def test_paths_are_relative_to_the_current_folder(project):
    (project / "inner").mkdir()
    (project / "inner" / "train.py").write_text(PROBLEM)
    ran = kerascheck("--config", 'extend-exclude = ["/train.py"]', "--show-files", ".")
    assert ran.out.split() == ["inner/train.py"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("fail-on = error", "Invalid value (at line 1, column 11)\n  fail-on = error\n            ^\n"),
        ("fail-on = 'eror'", '\'fail-on\' must be one of "info", "warning", "error"; did you mean \'error\'?\n'),
        ("fail-no = 'error'", "has no setting 'fail-no'; did you mean 'fail-on'?\n"),
        ("tool.kerascheck.fail-on = 'error'", "the settings stand by themselves here, without [tool.kerascheck]\n"),
        ("select = ['serial-mop']", "no rule matches 'serial-mop'; did you mean 'serial-map'?\n"),
        ("per-file-ignores = {'a.py' = ['KC99']}", "no rule matches 'KC99'; did you mean 'KC900'?\n"),
        ("extend = 'a.toml'", "'extend' belongs in a configuration file; name the file by --config FILE\n"),
    ],
)
def test_invalid_setting_is_one_error_of_the_option(project, given, message):
    ran = kerascheck("--config", given, ".")
    assert (ran.code, ran.out, ran.err) == (2, "", f"kerascheck: error: --config: {message}")


def test_two_files_are_refused(project):
    ran = kerascheck("--config", "a.toml", "--config", "b.toml", ".")
    said = "--config names several files, a.toml, b.toml; one file can 'extend' another"
    assert (ran.code, ran.err) == (2, f"kerascheck: error: {said}\n")
