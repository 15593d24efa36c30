"""The plugin inside the real flake8."""

import re
import subprocess
import sys

import pytest
from command import Ran, in_this_process, kerascheck
from flake8.main.cli import main
from traced import run_script, write_shadowing_modules

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


def make(paths):
    return tf.data.TFRecordDataset(paths).batch(8)
"""
TRAIN = "from data import make\n\nimport keras\n\nmodel = keras.Sequential()\nmodel.fit(make(['a']))\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text, newline="")

    return write


def flake8(*arguments, isolated=True):
    """Run flake8 in this process, which has imported libcst already."""
    return in_this_process(lambda: main(["--select", "KC", *(["--isolated"] if isolated else []), *arguments]))


def flake8_alone(*arguments, stdin=None):
    """Run flake8 in a separate process."""
    command = [sys.executable, "-m", "flake8", "--select", "KC", "--isolated", *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=60)
    except subprocess.TimeoutExpired:
        # flake8 terminates its pool when a process raises; a process that holds the queue's lock then blocks it (multiprocessing, Python 3.11).
        ran = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=60)
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def lines(ran):
    return sorted(line.removeprefix("./") for line in ran.out.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_findings_equal_those_of_the_command_line(project, jobs):
    project(train__py=TRAIN, data__py=DATA, slow__py=SLOW, crlf__py=SLOW.replace("\n", "\r\n"), test_a__py=SLOW)
    ran = flake8_alone("-j", jobs, "--kerascheck-min-severity", "info", "--kerascheck-pedantic", ".")
    wanted = kerascheck("-q", "--output-format", "concise", "--pedantic", ".")
    assert lines(ran) == sorted(re.sub(r"(?<=: )(?:error|warning|info): ", "", line) for line in lines(wanted))
    assert {re.sub(r":.*? ", " ", line).split()[0] for line in lines(ran)} >= {"data.py", "slow.py", "crlf.py"}
    assert ran.code == 1


@pytest.mark.slow
def test_standard_input(project):
    ran = flake8_alone("--stdin-display-name", "src/train.py", "-", stdin=SLOW)
    assert [line.rpartition(" ")[0][:22] for line in lines(ran)][:1] == ["src/train.py:4:9: KC10"]


@pytest.mark.slow
def test_virtual_documents_of_jupyterlab_have_the_notebooks_path(project):
    project(pyproject__toml='[tool.kerascheck]\nper-file-ignores = { "src/" = ["KC101"] }\n')
    for name, expected in (("train.ipynb", True), ("src/train.ipynb", False)):
        ran = flake8_alone("--stdin-display-name", f".virtual_documents/{name}", "-", stdin=SLOW)
        assert any("KC101" in line for line in lines(ran)) is expected, name


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_linted_folder_is_not_importable(tmp_path, jobs):
    folder = tmp_path / "project"
    folder.mkdir()
    write_shadowing_modules(folder)
    (folder / "train.py").write_text("import click, json, kerascheck, re\n" + SLOW)
    ran, imported = run_script(folder, "flake8.main.cli:main", "--select", "KC", "-j", jobs, ".")
    assert imported == [] and "train.py:5:9: KC101" in ran.stdout and ran.stderr == ""


def test_noqa_is_honoured_unless_disabled(project):
    project(train__py=SLOW.replace("int64))", "int64))  # noqa: KC101"))
    assert not any("KC101" in line for line in lines(flake8("train.py")))
    assert any("KC101" in line for line in lines(flake8("--disable-noqa", "train.py")))


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--kerascheck-select=serial-map", {"KC101"}),
        ("--kerascheck-select=KC101,KC306", {"KC101"}),
        ("--kerascheck-select=KC101,KC306 --kerascheck-min-severity=info", {"KC101", "KC306"}),
        (
            "--kerascheck-select=KC101,KC102 --kerascheck-min-severity=info --kerascheck-pedantic --kerascheck-ignore=serial-map",
            {"KC102"},
        ),
        ("--kerascheck-select=KC102 --kerascheck-min-severity=warning --kerascheck-target-tensorflow=2.9", {"KC102"}),
        (
            "--kerascheck-select=KC102 --kerascheck-min-severity=info --kerascheck-pedantic --kerascheck-extend-select=KC101",
            {"KC101", "KC102"},
        ),
        ("--kerascheck-select=KC101,KC102 --kerascheck-extend-ignore=KC102", {"KC101"}),
    ],
)
def test_options_are_forwarded(project, option, expected):
    # Directly before batch, the map would run ahead by itself in every version.
    project(train__py=SLOW.replace(".batch(", ".shuffle(8).batch("))
    assert {line.split()[1] for line in lines(flake8(*option.split(), "train.py"))} == expected


def test_project_settings_apply(project):
    project(train__py=SLOW, pyproject__toml='[tool.kerascheck]\nselect = ["KC101"]\nmin-severity = "info"\n')
    assert {line.split()[1] for line in lines(flake8("train.py"))} == {"KC101"}
    assert len(lines(flake8("--kerascheck-isolated", "--kerascheck-min-severity=info", "train.py"))) > 1


def test_baseline_findings_are_not_reported(project):
    project(train__py=SLOW, pyproject__toml='[tool.kerascheck]\nselect = ["KC101"]\nbaseline = "known.json"\n')
    kerascheck(".", "--write-baseline", "known.json")
    assert lines(flake8("train.py")) == []
    project(train__py=SLOW + SLOW)
    assert [line.split(":")[1] for line in lines(flake8("train.py"))] == ["10"]


def test_a_bad_configuration_of_a_folder_is_one_line_and_other_files_are_linted(project, tmp_path):
    project(slow__py=SLOW)
    for name in ("a.py", "b.py"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "sub" / name).write_text(SLOW)
    (tmp_path / "sub" / "pyproject.toml").write_text("[tool.kerascheck]\nx = 1\n")
    ran = flake8("-j", "1", ".")
    (error,) = (line for line in lines(ran) if "KC999" in line)
    assert error.startswith("sub/") and "sub/pyproject.toml: [tool.kerascheck] has no setting 'x'" in error
    assert {line.partition(":")[0] for line in lines(ran)} == {"slow.py", error.partition(":")[0]}


@pytest.mark.parametrize(("configured", "codes"), [('fail-on = "info"', []), ('min-severity = "info"', ["KC306"])])
def test_infos_are_reported_only_on_request(project, configured, codes):
    project(train__py=SLOW, pyproject__toml=f'[tool.kerascheck]\nselect = ["KC306"]\n{configured}\n')
    ran = flake8("train.py")
    assert ([line.split()[1] for line in lines(ran)], ran.code) == (codes, int(bool(codes)))


def test_options_in_flake8s_configuration_file(project):
    project(train__py=SLOW, __flake8="[flake8]\nkerascheck-select = KC101\n")
    assert {line.split()[1] for line in lines(flake8("train.py", isolated=False))} == {"KC101"}


@pytest.mark.slow
def test_a_wrong_option_ends_the_run(project):
    project(train__py=SLOW)
    ran = flake8_alone("--kerascheck-select", "serial-mop", "train.py")
    assert "kerascheck: error: no rule matches 'serial-mop'; did you mean 'serial-map'?" in ran.out + ran.err
    assert ran.code == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ('min-severity = "bad"', 'kerascheck.toml: \'min-severity\' must be one of "info", "warning", "error"'),
        ('select = ["serial-mop"]', "kerascheck.toml: no rule matches 'serial-mop'; did you mean 'serial-map'?"),
        ('baseline = "none.json"', "none.json: no such baseline; write it with --write-baseline none.json"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_configuration_ends_the_run_with_one_line(project, settings, problem, jobs):
    project(train__py=SLOW, data__py=DATA, kerascheck__toml=settings)
    ran = flake8_alone("-j", jobs, ".")
    assert ran.out.splitlines()[1:] == [f"kerascheck: error: {problem}"]
    assert (ran.err, ran.code) == ("", 1)


@pytest.mark.parametrize(
    "code", ["import kerascheck.integrations.flake8_plugin", "import flake8.main.cli as c; c.main(['plain.py'])"]
)
def test_files_without_keras_import_neither_libcst_nor_click(project, code):
    project(plain__py="x = 1\n")
    check = f"import sys\ntry:\n    {code}\nexcept SystemExit: pass\nassert not {{'libcst', 'click', 'kerascheck.lint.pipeline'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
