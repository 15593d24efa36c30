"""End-to-end tests of the command line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from command import kerascheck
from traced import run_script, write_shadowing_modules

import kerascheck as package

SLOW = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10)
ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))
ds = ds.batch(2).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential()
model.fit(ds)
"""
REPAIRED = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")


@tf.function
def train(ds):
    for x in ds.batch(2):
        model.train_on_batch(x)


train(tf.data.Dataset.from_tensor_slices(load()))
ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: tf.sqrt(x) * 2).shuffle(9, tf.data.experimental.AUTOTUNE)
model.fit(ds.batch(2))
"""
CLEAN = "import keras\n\nmodel = keras.Sequential()\n"
ONLY = ("--select", "serial-map")


@pytest.fixture
def project(tmp_path, monkeypatch, in_this_process):
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif"])
def test_output_file_contains_the_report(project, form):
    folder = project(train__py=SLOW)
    printed = kerascheck(*ONLY, "--output-format", form, "--color", "always", "train.py").out
    result = kerascheck(*ONLY, "--output-format", form, "--output-file", "report", "--color", "always", "train.py")
    assert (result.code, result.out.count("\n")) == (1, 1) and "Found 1 problem" in result.out
    written = (folder / "report").read_text(encoding="utf-8")
    assert "KC101" in written and "\x1b" not in written
    assert form not in ("json", "sarif") or written == printed


def test_unwritable_report_is_one_error_line(project):
    project(train__py=SLOW)
    result = kerascheck(*ONLY, "-o", "no/such/folder", "train.py")
    assert result.code == 2 and "no/such/folder: the report cannot be written" in result.err


@pytest.mark.parametrize("name", ["train.py", "./train.py", "link", "requirements.txt", "broken.py"])
@pytest.mark.parametrize("option", [(), ("--fix", "--unsafe-fixes"), ("--output-format", "json")])
def test_output_file_does_not_overwrite_linted_files(project, name, option):
    folder = project(train__py=SLOW, requirements__txt=CPU_ONLY, broken__py="import keras\n(")
    (folder / "link").symlink_to("train.py")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = kerascheck(*option, "-o", name, ".")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"kerascheck: error: --output-file {name} would replace a file that is linted; name another one\n"
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_output_file_does_not_overwrite_the_file_on_standard_input(project):
    folder = project(train__py=SLOW)
    ran = kerascheck("-o", "train.py", "--stdin-filename", "train.py", "-", stdin=CLEAN.encode())
    assert ran.code == 2 and "would replace a file that is linted" in ran.err
    assert (folder / "train.py").read_text() == SLOW


@pytest.mark.parametrize("option", ["--output-file", "--write-baseline", "--baseline", "--config"])
def test_empty_file_name_is_one_error_line(project, option):
    folder = project(train__py=SLOW)
    ran = kerascheck(option, "", ".")
    assert (ran.code, ran.out, ran.err) == (2, "", f"kerascheck: error: {option} names no file: it is empty\n")
    assert os.listdir(folder) == ["train.py"]


def test_check_is_the_default_command(project):
    project(train__py=SLOW)
    short, long = kerascheck(*ONLY, "train.py"), kerascheck("check", *ONLY, "train.py")
    assert (short.code, short.out) == (long.code, long.out)
    assert kerascheck("train.py", *ONLY).out.splitlines()[:-1] == short.out.splitlines()[:-1]
    assert "train.py:4:" in short.out


@pytest.mark.parametrize(
    ("table", "arguments", "codes"),
    [
        ("", (), ["KC102"]),
        ("", ("--pedantic",), ["KC102", "KC101", "KC311", "KC102"]),
        ("pedantic = true\n", (), ["KC102", "KC101", "KC311", "KC102"]),
        ("", ("--target-tensorflow", "2.5"), ["KC102", "KC101", "KC102"]),
    ],
)
def test_findings_without_cost_need_pedantic(project, table, arguments, codes):
    path = project(train__py=REPAIRED, pyproject__toml=f"[tool.kerascheck]\n{table}")
    ran = kerascheck("--select", "KC101,KC102,KC311", "--output-format", "json", *arguments, "train.py")
    assert [finding["code"] for finding in json.loads(ran.out)["findings"]] == codes
    hidden = kerascheck("--select", "KC101,KC102,KC311", "--fix", *arguments, "train.py")
    assert hidden.code == 0 and (path / "train.py").read_text().count("num_parallel_calls") == (len(codes) > 1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--exit-zero",), 0),
        (("--fail-on", "error"), 0),
        (("--min-severity", "error"), 0),
        (("--ignore", "KC1"), 1),
        (("--ignore", "KC3,serial-map"), 0),
    ],
)
def test_exit_code_depends_on_severity_and_options(project, arguments, code):
    project(train__py=SLOW)
    assert kerascheck(*ONLY, *arguments, "train.py").code == code


def test_clean_code_exits_with_0(project):
    project(train__py=CLEAN)
    assert kerascheck("train.py").code == 0
    assert kerascheck("train.py").out == "No problems found in 1 file.\n"


def test_unparsable_file_exits_with_2_and_keeps_findings(project):
    project(train__py=SLOW, old__py="print 'x'\n")
    ran = kerascheck(*ONLY, "--output-format", "concise", "--exit-zero", ".")
    assert ran.code == 2
    first, second, summary = ran.out.splitlines()
    assert first == "old.py:1:1: error: KC999 Python 2 code: kerascheck reads Python 3 (2to3 converts most of it)"
    assert second.startswith("train.py:4:9: warning: KC101 ")
    assert summary.startswith("Found 1 problem (1 warning)") and summary.endswith(
        "1 file error. Leave it out with --extend-exclude old.py."
    )


def test_summary_counts_clean_files_and_says_how_to_exclude_unparsable_ones(project):
    path = project(train__py=CLEAN, data__py=CLEAN, old__py="print 'x'\n")
    ran = kerascheck(".")
    closing = "1 file error; 2 other files are clean. Leave it out with --extend-exclude old.py."
    assert ran.code == 2 and ran.out.splitlines()[-1] == closing
    assert kerascheck(".", "--extend-exclude", "old.py").code == 0
    (path / "a b[c].py").write_text("print 'x'\n")
    assert kerascheck(".").out.endswith("are clean. Leave them out with --extend-exclude PATTERN.\n")
    # No option excludes an explicitly named file.
    assert kerascheck("train.py", "old.py").out.endswith("\n1 file error; 1 other file is clean.\n")


def test_empty_folder_prints_a_warning(project):
    project(test_a__py=f"import unittest\n{SLOW}")
    ran = kerascheck(".")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "warning: no Python files found under . (1 test file left out: see include-tests)\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nope.py",), "nope.py: no such file or folder"),
        (("",), "'': no such file or folder"),
        (("a/" * 3000,), f"{'a/' * 3000}: cannot be read: File name too long"),
        (("--select", "serial-mop"), "no rule matches 'serial-mop'; did you mean 'serial-map'?"),
        (("--fail-on", "warn"), "Invalid value for '--fail-on': 'warn' is not one of 'info', 'warning', 'error'."),
        (("--selct", "KC1"), "No such option"),
        (("--target-tensorflow", "2"), '--target-tensorflow must be a version as a string, such as "2.21"'),
        (("-", "a.py"), "'-' cannot be combined with other paths"),
        (("rule", "serial-mop"), "there is no rule 'serial-mop'; did you mean 'serial-map'?"),
        (("rule", "kc30"), "there is no rule 'kc30': 9 codes begin so; 'kerascheck rule' lists all rules"),
        (("rule", "KC999"), "there is no rule 'KC999': this code stands for a file that cannot be read or parsed"),
        (("rul", "KC101"), "rul: no such file or folder; did you mean 'rule'?"),
        (("rule", "KC101", "--all"), "name a rule or give --all, not both"),
        (("--diff", "--output-format", "json", "."), "--diff cannot be combined with --output-format json"),
        (("--diff", "-o", "report.txt", "."), "--diff cannot be combined with --output-file"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_2(project, arguments, message):
    ran = kerascheck(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"kerascheck: error: {message}") and ran.err.count("\n") == 1


def test_invalid_setting_names_its_file(project):
    project(train__py=SLOW, pyproject__toml='[tool.kerascheck]\nselect = ["serial-mop"]\n')
    ran = kerascheck("train.py")
    assert ran.code == 2
    assert ran.err == "kerascheck: error: pyproject.toml: no rule matches 'serial-mop'; did you mean 'serial-map'?\n"
    assert kerascheck("--isolated", "train.py").code == 1


def test_json_output_is_one_document(project):
    project(train__py=SLOW)
    ran = kerascheck(*ONLY, "--output-format", "json", "--statistics", ".")
    document = json.loads(ran.out)
    assert [(f["path"], f["line"], f["code"], f["cell"]) for f in document["findings"]] == [
        ("train.py", 4, "KC101", None)
    ]
    assert document["summary"]["rules"] == {"KC101": 1}


def test_notebook_findings_are_located_by_cell(project):
    cells = [{"cell_type": "markdown", "source": "# Train"}]
    cells += [{"cell_type": "code", "source": source} for source in ("!pip install keras", SLOW)]
    project(n__ipynb=json.dumps({"nbformat": 4, "cells": cells}))
    ran = kerascheck(*ONLY, "--output-format", "concise", "--quiet", ".")
    assert ran.out.startswith("n.ipynb:cell 3:4:9: warning: KC101 ")


def test_quiet_prints_only_findings(project):
    project(train__py=SLOW)
    assert "Found" in kerascheck(*ONLY, ".").out
    assert "Found" not in kerascheck(*ONLY, "-q", ".").out
    assert "KC101" in kerascheck(*ONLY, "-q", ".").out
    assert kerascheck("-q", "--extend-exclude", "*.py", ".").err == ""


def test_infos_are_summarised_unless_requested(project):
    project(train__py="import torch\n" + SLOW.replace(".batch(2).prefetch(tf.data.AUTOTUNE)", ".batch(2)"))
    shown = kerascheck("--isolated", "train.py").out.splitlines()
    assert "train.py:5:9  warning  KC101 serial-map" in shown and not any("  info  " in line for line in shown)
    assert "  1  KC306  TensorFlow takes all memory of every GPU: train.py:8" in shown
    assert shown[-1] == "Next: kerascheck --isolated train.py --diff --unsafe-fixes    (what all fixes would change)"
    (counted,) = (line for line in shown if line.startswith("Found"))
    assert counted.startswith("Found 2 problems (1 warning, 1 hint) in 1 file; ")
    for asked in (
        ["-v"],
        ["--verbose"],
        ["--min-severity", "info"],
        ["--select", "KC3"],
        ["--select", "KC1,missing-memory-growth"],
    ):
        assert (
            "train.py:8:7  info  KC306 missing-memory-growth"
            in kerascheck("--isolated", *asked, "train.py").out.splitlines()
        )
    project(pyproject__toml='[tool.kerascheck]\nmin-severity = "info"\nselect = ["KC306"]\n')
    for brief in ([], ["--select", "ALL"]):
        assert "  info  " not in kerascheck(*brief, "train.py").out
    assert "1 hint (info), by rule." in kerascheck("-q", "train.py").out
    assert "Next: " not in kerascheck("-q", "train.py").out


def test_repaired_by_the_runtime_is_one_line_of_the_run(project):
    repaired = SLOW.replace("tf.random.uniform([], maxval=9, dtype=tf.int64)", "1").replace(
        ".batch(2).prefetch(tf.data.AUTOTUNE)", ".batch(2)"
    )
    project(a__py=repaired, b__py=repaired)
    line = "Repaired by TensorFlow 2.11 and later itself: 2 maps without parallel calls (a.py:4, b.py:4); --pedantic shows them."
    ran = kerascheck("--isolated", "--output-format", "concise", "--select", "KC101", ".")
    assert ran.code == 0 and line.replace("2.11", "2.6") in ran.out.splitlines()
    assert "Repaired" not in kerascheck("--isolated", "--select", "KC101", "--pedantic", ".").out
    assert "Repaired" not in kerascheck("--isolated", "--select", "KC101", "-q", ".").out
    document = json.loads(kerascheck("--isolated", "--select", "KC101", "--output-format", "json", ".").out)
    assert not document["findings"] and not document["tallied"]
    assert [(each["path"], each["line"], each["repaired_since"]) for each in document["repaired"]] == [
        ("a.py", 4, "2.6"),
        ("b.py", 4, "2.6"),
    ]
    for program in ("github", "sarif", "gitlab", "junit", "azure", "rdjson"):
        assert "KC101" not in kerascheck("--isolated", "--output-format", program, ".").out.partition('"rules"')[0]


def test_errors_come_before_warnings_unless_paths_are_sorted(project):
    failing = SLOW.replace("model.fit(ds)", "model.fit(ds, workers=4)")
    project(a__py=SLOW, b__py=failing)
    for options, places in (((), ["b.py:7", "a.py:4", "b.py:4"]), (("--sort", "path"), ["a.py:4", "b.py:4", "b.py:7"])):
        shown = kerascheck("--isolated", "--target-tensorflow", "2.21", *options, ".").out.splitlines()
        heads = [line for line in shown if "  error  " in line or "  warning  " in line]
        assert [head.partition(":")[0] + ":" + head.split(":")[1] for head in heads] == places


def test_memory_growth_of_a_gpu_that_nobody_shares_is_one_line_of_the_run(project):
    script = "import keras\n\nkeras.Sequential().fit(load())\n"
    project(a__py=script, b__py=script)
    shown = kerascheck("--isolated", "--output-format", "concise", ".").out.splitlines()
    assert (
        "KC306: 2 trainings without memory growth, for shared GPUs only (a.py:3, b.py:3); --select KC306 shows them."
        in shown
    )
    assert not any(line.startswith("a.py") and "KC306" in line for line in shown)
    shown = kerascheck("--isolated", "--output-format", "concise", "--select", "KC306", ".").out.splitlines()
    assert [line[:16] for line in shown[:2]] == ["a.py:3:20: info:", "b.py:3:20: info:"]


def test_report_fits_the_terminal(project, monkeypatch):
    project(train__py=SLOW.replace("\nmodel", "\n\nmodel = " + "1 + " * 80 + "1\nmodel", 1))
    for columns in ("80", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        widest = max(map(len, kerascheck("-v", "--isolated", "train.py").out.splitlines()))
        assert int(columns) - 20 < widest <= int(columns)


def test_statistics_alone_replace_the_report(project):
    project(train__py=SLOW, broken__py="import keras\nx = (\n")
    ran = kerascheck(*ONLY, "--statistics", ".")
    error, head, first, others, summary = ran.out.splitlines()
    assert ran.code == 2 and error.startswith("broken.py:2:5: error: KC999 ")
    assert head.split() == ["count", "fixable", "ms", "rule"]
    assert first.split()[:2] == ["1", "1"] and first.endswith("KC101 serial-map")
    assert others.endswith("all other rules") and summary.startswith("Found 1 problem (1 warning) in 2 files")
    assert len(kerascheck(*ONLY, "--statistics", "--quiet", "train.py").out.splitlines()) == 3


def test_statistics_follow_a_report_in_a_file(project):
    folder = project(train__py=SLOW)
    ran = kerascheck(*ONLY, "--statistics", "-o", "report.txt", ".")
    assert "serial-map" in (folder / "report.txt").read_text() and ran.out.splitlines()[1].endswith("KC101 serial-map")


def test_statistics_follow_the_findings(project):
    project(train__py=SLOW)
    lines = kerascheck(*ONLY, "--statistics", "--output-format", "concise", ".").out.splitlines()
    assert lines[0].startswith("train.py:4:9") and lines[1].split() == ["count", "fixable", "ms", "rule"]
    assert lines[2].split()[0] == "1" and lines[2].endswith("KC101 serial-map")


def test_color_can_be_forced(project, monkeypatch):
    project(train__py=SLOW)
    assert "\x1b[" not in kerascheck(*ONLY, ".").out
    assert "\x1b[" in kerascheck(*ONLY, "--color", "always", ".").out
    for variable, value, coloured in (
        ("FORCE_COLOR", "0", False),
        ("FORCE_COLOR", "1", True),
        ("NO_COLOR", "1", False),
    ):
        monkeypatch.setenv(variable, value)
        assert ("\x1b[" in kerascheck(*ONLY, ".").out) is coloured, variable
    assert "\x1b[" in kerascheck(*ONLY, "--color", "always", ".").out
    assert "\x1b[" not in kerascheck(*ONLY, "--color", "never", ".").out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_color_on_a_terminal_unless_disabled(project, variables, coloured):
    import pty

    project(train__py=SLOW)
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run([sys.executable, "-m", "kerascheck", *ONLY, "."], stdout=theirs, env={**environment, **variables})
    os.close(theirs)
    assert (b"\x1b[" in os.read(ours, 10_000)) is coloured


def test_show_files_lists_the_files(project):
    project(
        train__py=SLOW,
        plain__py="x = 1\n",
        test_a__py="import pytest\n",
        requirements__txt="tensorflow\n",
        notes__txt="",
    )
    ran = kerascheck("--show-files", ".")
    assert (ran.code, ran.out.splitlines(), ran.err) == (0, ["plain.py", "requirements.txt", "train.py"], "")
    assert kerascheck("--show-files", "test_a.py", "train.py", "--force-exclude").out == "train.py\n"
    assert kerascheck("--show-files", "nope.py").code == 2


def test_help_describes_each_command_in_one_line():
    listed = kerascheck("--help").out.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert len(listed) > 10 and not any(line.endswith("...") for line in listed)
    assert all(line[2] != " " for line in listed)


def test_show_settings_prints_settings_of_the_first_path(project):
    project(pyproject__toml='[tool.kerascheck]\nkeras = "2"\nignore = ["serial-map"]\n')
    ran = kerascheck("--show-settings", ".")
    assert ran.code == 0
    assert {
        "configuration file = pyproject.toml",
        "keras = 2  (pyproject.toml)",
        "include-tests = false  (default)",
    } <= set(ran.out.splitlines())
    rules = ran.out.splitlines()[-1]
    assert rules.startswith("rules = ") and "KC102" in rules and "KC101" not in rules


LONG = {
    "table": "x = [" + ", ".join(f"{number}.0" for number in range(200_000)) + "]\n",
    "hash signs": "# " * 500_000 + "\n",
    "suppressions": "# noqa: " * 100_000 + "\n",
    "suppression": "#" + "noqa:" * 100_000 + "\n",
    "docstring": 'def f():\n    """It does.\n' + "    Not: import this.\n" * 5000 + '    """\n',
    "comments": "# import this\n" * 5000,
    "empty lines": "\n" * 20_000,
    "string": "x = '" + "import keras " * 30_000 + "'\n",
}


@pytest.mark.parametrize("kind", LONG)
def test_long_input_without_code_is_fast(project, kind):
    # A slow file would exceed its time limit and be reported as an error.
    project(train__py=LONG[kind] + SLOW)
    ran = kerascheck(*ONLY, "--output-format", "concise", "train.py")
    assert ran.code == 1 and "KC999" not in ran.out, ran
    assert ran.out.startswith(f"train.py:{LONG[kind].count(chr(10)) + 4}:")


# --- standard input -----------------------------------------------------------------------------------


def test_standard_input_is_linted(project):
    ran = kerascheck(*ONLY, "--output-format", "concise", "-q", "-", stdin=SLOW.encode())
    assert ran.code == 1 and ran.out.startswith("-:4:9: warning: KC101")


def test_standard_input_with_a_name_uses_settings_of_that_file(project):
    path = project(pyproject__toml='[tool.kerascheck]\nfail-on = "error"\n')
    name = str(path / "src" / "train.py")
    ran = kerascheck(*ONLY, "--output-format", "concise", "-q", "--stdin-filename", name, "-", stdin=SLOW.encode())
    assert ran.code == 0 and ran.out.startswith("src/train.py:4:9: warning: KC101")


def test_unparsable_standard_input_exits_with_2(project):
    ran = kerascheck("--output-format", "concise", "-q", "-", stdin=b"\xff")
    assert (ran.code, ran.out.startswith("-:1:1: error: KC999 is not valid utf-8")) == (2, True)
    assert kerascheck("-q", "-", stdin=b"x = (").out.startswith("-:1:5: KC999 does not parse")


# --- fixes --------------------------------------------------------------------------------------------

FIXABLE = SLOW.replace(".batch(2).prefetch(tf.data.AUTOTUNE)", ".batch(2)").replace("\n", "\r\n")
PREFETCH = ("--pedantic", "--select", "missing-prefetch")


def test_fix_writes_the_file_and_reports_remaining_findings(project):
    path = project(train__py=FIXABLE)
    ran = kerascheck("--pedantic", "--select", "KC101,KC102", "--fix", "--output-format", "concise", "train.py")
    assert ran.err == "Fixed train.py: 1 x KC102 (missing-prefetch)\n"
    assert [line.split()[2] for line in ran.out.splitlines()[:-1]] == ["KC101"]
    assert ran.out.splitlines()[-1].startswith("Found 2 problems (1 fixed, 1 remaining: 1 warning)")
    assert ran.code == 1
    fixed = (path / "train.py").read_bytes().decode()
    assert fixed == FIXABLE.replace(".batch(2)", ".batch(2).prefetch(tf.data.AUTOTUNE)")


def test_unsafe_fixes_include_safe_fixes(project):
    path = project(train__py=FIXABLE)
    ran = kerascheck("--pedantic", "--select", "KC101,KC102", "--fix", "--unsafe-fixes", "train.py")
    assert ran.err == "Fixed train.py: 1 x KC101 (serial-map), 1 x KC102 (missing-prefetch)\n"
    assert ran.out == "Found 2 problems (2 fixed, 0 remaining) in 1 file.\n"
    assert ran.code == 0
    assert "num_parallel_calls=tf.data.AUTOTUNE" in (path / "train.py").read_text()


@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize("name", ["train.py", "-"])
def test_unsafe_fixes_without_fix_writes_nothing_and_says_so(project, name, quiet):
    path = project(train__py=FIXABLE)
    ran = kerascheck("--pedantic", "--select", "KC101,KC102", "--unsafe-fixes", *quiet, name, stdin=FIXABLE.encode())
    assert (path / "train.py").read_bytes() == FIXABLE.encode()
    assert ran.code == 1 and "KC101" in ran.out and "\nds = ds.map(" not in ran.out
    if not quiet:
        assert ran.err == "warning: --unsafe-fixes applies nothing by itself; add --fix or --diff\n"
        assert "; 2 fixable with --fix --unsafe-fixes.\n" in ran.out


def test_diff_prints_changes_and_writes_nothing(project):
    path = project(train__py=FIXABLE)
    ran = kerascheck(*PREFETCH, "--diff", "train.py")
    assert ran.code == 1
    assert ran.out.startswith("diff --git a/train.py b/train.py\n--- a/train.py\n+++ b/train.py\n@@ ")
    assert "-ds = ds.batch(2)\r\n+ds = ds.batch(2).prefetch(tf.data.AUTOTUNE)\r\n" in ran.out
    assert (path / "train.py").read_bytes() == FIXABLE.encode()
    assert kerascheck(*PREFETCH, "--diff", "--exit-zero", "train.py").code == 0
    project(train__py=CLEAN)
    assert (kerascheck("--diff", "train.py").code, kerascheck("--diff", "train.py").out) == (0, "")


def test_fixed_standard_input_is_printed(project):
    command = [sys.executable, "-m", "kerascheck", *PREFETCH, "--fix", "-"]
    done = subprocess.run(command, input=FIXABLE.encode(), capture_output=True)
    assert done.stdout.decode() == FIXABLE.replace(".batch(2)", ".batch(2).prefetch(tf.data.AUTOTUNE)")
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        "Fixed -: 1 x KC102 (missing-prefetch)",
        "Found 1 problem (1 fixed, 0 remaining) in 1 file.",
    ]


NOT_FIXED = [b"x = (\n", b"\xff\n", b"!ls data\n" + CLEAN.encode(), CLEAN.encode()]


@pytest.mark.parametrize("code", NOT_FIXED)
def test_unfixed_standard_input_is_printed_unchanged(project, code):
    ran = kerascheck(*PREFETCH, "--fix", "-", stdin=code)
    assert ran.out.encode(errors="surrogateescape") == code
    assert ran.err and kerascheck(*PREFETCH, "--diff", "-", stdin=code).out == ""


@pytest.mark.parametrize("output", ["text", "json"])
def test_unwritable_file_is_an_error_and_other_files_are_fixed(project, monkeypatch, output):
    from kerascheck.source import writing

    def refuse(path, data, write=writing.write_atomically):
        if path == "a.py":
            raise PermissionError(13, "The file is read-only", path)
        write(path, data)

    monkeypatch.setattr(writing, "write_atomically", refuse)
    path = project(a__py=FIXABLE, b__py=FIXABLE)
    ran = kerascheck(*PREFETCH, "--fix", "--output-format", output, ".")
    assert ran.code == 2 and ran.err == "Fixed b.py: 1 x KC102 (missing-prefetch)\n"
    assert ((path / "a.py").read_bytes() == FIXABLE.encode(), (path / "b.py").read_bytes() == FIXABLE.encode()) == (
        True,
        False,
    )
    if output == "json":
        document = json.loads(ran.out)
        assert [finding["path"] for finding in document["findings"]] == ["a.py"]
        assert [(error["path"], error["code"]) for error in document["errors"]] == [("a.py", "KC999")]
    else:
        assert "a.py:1:1: KC999 cannot be written: The file is read-only\n" in ran.out
        assert "Found 2 problems (1 fixed, 1 remaining: 1 hint) in 2 files;" in ran.out


GROWTH = "import os\n\nimport keras\n\njob = os.environ['SLURM_JOB_ID']\nkeras.Sequential().fit(load())\n"


@pytest.mark.parametrize("choice", [(), ("--select", "KC3"), ("--select", "ALL"), ("--unsafe-fixes",)])
def test_memory_growth_fix_needs_explicit_selection(project, choice):
    path = project(train__py=GROWTH)
    for option in ("--fix", "--diff"):
        ran = kerascheck(option, *choice, "train.py")
        assert (
            (path / "train.py").read_text() == GROWTH and "Fixed" not in ran.err and "set_memory_growth(" not in ran.out
        )
    shown = kerascheck(*choice, "--extend-ignore", "KC302", "train.py").out
    assert "KC306" in shown and "fixable" not in shown
    document = json.loads(kerascheck(*choice, "--output-format", "json", "train.py").out)
    (fix,) = [finding["fix"] for finding in document["findings"] if finding["code"] == "KC306"]
    assert fix["applicability"] == "on request" and fix["edits"]


@pytest.mark.parametrize(
    "choice", [("--select", "kc306"), ("--extend-select", "missing-memory-growth"), ("--select", "KC3,KC306")]
)
def test_memory_growth_fix_applies_if_its_rule_is_named(project, choice):
    path = project(train__py=GROWTH)
    assert "1 fixable with --fix" in kerascheck(*choice, "--extend-ignore", "KC302", "train.py").out
    assert kerascheck(*choice, "--fix", "train.py").err == "Fixed train.py: 1 x KC306 (missing-memory-growth)\n"
    assert "set_memory_growth(" in (path / "train.py").read_text()


def test_memory_growth_fix_applies_if_configuration_names_its_rule(project):
    path = project(train__py=GROWTH, pyproject__toml='[tool.kerascheck]\nextend-select = ["KC306"]\n')
    kerascheck("--fix", "train.py")
    assert "set_memory_growth(" in (path / "train.py").read_text()


def test_notebook_fix_changes_only_its_cell(project):
    cells = [{"cell_type": "code", "source": code} for code in FIXABLE.split("\n\n")]
    path = project(n__ipynb=json.dumps({"nbformat": 4, "cells": cells}))
    assert kerascheck(*PREFETCH, "--fix", "n.ipynb").err == "Fixed n.ipynb: 1 x KC102 (missing-prefetch)\n"
    assert ".prefetch(" in json.loads((path / "n.ipynb").read_text())["cells"][-1]["source"]


def test_exported_scripts_keep_ipython_commands(project):
    path = project(train__py="!ls data\n" + FIXABLE)
    assert kerascheck(*PREFETCH, "--fix", "train.py").err == "Fixed train.py: 1 x KC102 (missing-prefetch)\n"
    text = (path / "train.py").read_text()
    assert text.startswith("!ls data\n") and ".prefetch(" in text


# --- rules --------------------------------------------------------------------------------------------


def test_rule_command_prints_the_page():
    by_code, by_name = kerascheck("rule", "kc101"), kerascheck("rule", "serial-map")
    assert by_code.out == by_name.out
    assert by_code.out.startswith("# serial-map (KC101)\n")
    assert "--- slow.py\n+++ fast.py\n" in by_code.out


def test_rule_page_quotes_measurements(monkeypatch):
    from kerascheck.catalog import measured

    (row,) = [row for row in measured.read_table() if row["code"] == "KC101"]
    shown = kerascheck("rule", "KC101").out
    assert f"- CPU: {row['cpu']['status']} x{row['cpu']['ratio']:.2f} [" in shown
    assert row["cpu"]["date"] in shown and "tensorflow 2.21.0" in shown
    assert json.loads(kerascheck("rule", "KC101", "--output-format", "json").out)["evidence"]["cpu"] == row["cpu"]
    monkeypatch.setattr(measured, "read_table", lambda: [{key: row[key] for key in ("code", "name", "cpu")}])
    assert kerascheck("rule", "KC101").out.endswith("- GPU: unmeasured\n")
    assert "Not measured yet; 'kerascheck evidence KC103'" in kerascheck("rule", "KC103").out


def test_rules_are_available_as_json():
    listed = kerascheck("rule").out.splitlines()
    described = json.loads(kerascheck("rule", "--all", "--output-format", "json").out)
    assert [line.split()[0] for line in listed] == [rule["code"] for rule in described]
    assert all(
        line.endswith(f"  {rule['summary']}") and len(line) <= 90 for line, rule in zip(listed, described, strict=True)
    )
    one = json.loads(kerascheck("rule", "KC101", "--output-format", "json").out)
    assert one in described
    assert kerascheck("rule", "--all").out.count("\n# ") == len(listed) - 1


# --- the process --------------------------------------------------------------------------------------


def test_version_and_help_exit_with_0(project):
    assert kerascheck("--version").out == f"kerascheck {package.__version__}\n"
    assert kerascheck().out == kerascheck("--help").out
    assert "--unsafe-fixes" in kerascheck("check", "--help").out


@pytest.mark.parametrize("arguments", [["--version"], ["rule", "KC101"], ["."], ["--select", "KC1", "."]])
def test_libcst_is_not_imported_without_files_to_parse(project, arguments):
    project(plain__py="x = 1\n", keras__py=CLEAN)
    code = f"import sys\nfrom kerascheck.cli.main import main\ntry: main({arguments})\nfinally: assert 'libcst' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_version_imports_only_click():
    code = (
        "import sys, click; before = set(sys.modules); import kerascheck.cli.main; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("kerascheck")} == {
        "kerascheck",
        "kerascheck.cli",
        "kerascheck.cli.main",
    }
    assert len(loaded) <= 6, loaded


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [[], ["--fix"], ["--add-noqa"], ["--write-baseline", "known.json"], ["--no-cache"]]
)
def test_modules_of_the_linted_folder_are_not_imported(tmp_path, arguments):
    folder = tmp_path / "project"
    folder.mkdir()
    write_shadowing_modules(folder)
    (folder / "train.py").write_text("import click, json, kerascheck, re\n" + SLOW)
    ran, imported = run_script(folder, "kerascheck.cli.main:main", *arguments, ".")
    assert imported == [] and ran.returncode in (0, 1) and ran.stdout
    assert "Traceback" not in ran.stderr


def test_closed_pipe_is_no_error(project):
    project(train__py=SLOW)
    command = f"{sys.executable} -m kerascheck . | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


def shell(command, **options):
    """Runs a POSIX shell command in which ``kerascheck`` is the version under test."""
    command = f'kerascheck() {{ "{sys.executable}" -m kerascheck "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, **options)


needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None or not os.path.exists("/dev/full"), reason="needs bash and /dev/full"
)


@needs_bash
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("kerascheck . >&-", "kerascheck: error: standard output is closed\n"),
        ("kerascheck --version >&-", "kerascheck: error: standard output is closed\n"),
        ("kerascheck . >/dev/full", "kerascheck: error: the output cannot be written: No space left on device\n"),
        ("kerascheck --help >/dev/full", "kerascheck: error: the output cannot be written: No space left on device\n"),
        (
            "kerascheck rule --all >/dev/full",
            "kerascheck: error: the output cannot be written: No space left on device\n",
        ),
        ("kerascheck . >/dev/full 2>&-", ""),
        ("kerascheck . >&- 2>&-", ""),
        ("kerascheck . >/dev/full 2>/dev/full", ""),
        ("kerascheck nope.py 2>&-", ""),
        ("kerascheck nope.py 2>/dev/full", ""),
        ("kerascheck -v . 2>/dev/full", ""),
        ("kerascheck - <&-", "kerascheck: error: standard input is closed\n"),
    ],
)
def test_unwritable_output_exits_with_2(project, command, said):
    path = project(train__py=SLOW)
    os.mkfifo(path / "pipe.py")
    ran = shell(command)
    assert (ran.returncode, ran.stderr) == (2, said)


@needs_bash
def test_closed_standard_error_does_not_affect_standard_output(project):
    project(train__py=SLOW)
    assert (ran := shell("kerascheck . 2>&-")).returncode == 1
    assert "train.py:4:" in ran.stdout


@pytest.mark.slow
@needs_bash
def test_named_pipe_is_linted(project):
    folder = project(
        train__py=FIXABLE, pyproject__toml='[tool.kerascheck]\npedantic = true\nselect = ["missing-prefetch"]\n'
    )
    ran = shell("kerascheck --fail-on info --output-format concise <(cat train.py)")
    assert ran.returncode == 1 and ":5:9: info: KC102" in ran.stdout, ran
    # A pipe cannot be rewritten, and the source of its content is unknown.
    before = sorted(os.listdir(folder))
    for option in ("--fix", "--unsafe-fixes", "--diff"):
        assert shell(f"kerascheck {option} <(cat train.py)").returncode in (0, 1)
    assert sorted(os.listdir(folder)) == before
    assert (folder / "train.py").read_bytes() == FIXABLE.encode()


@needs_bash
def test_skipped_special_files_are_listed_with_verbose(project):
    path = project(train__py=CLEAN)
    os.mkfifo(path / "pipe.py")
    assert shell("kerascheck .").stderr == ""
    ran = shell("kerascheck -v .")
    assert (ran.returncode, ran.stderr) == (0, "pipe.py: skipped: not a regular file\n")


@needs_bash
@pytest.mark.parametrize("command", ["kerascheck /dev/zero", "kerascheck - </dev/zero", "kerascheck <(cat /dev/zero)"])
def test_endless_input_is_one_error_line(project, command):
    project(train__py=CLEAN)
    ran = shell(f"{command} --output-format concise -q")
    assert ran.returncode == 2
    assert ran.stdout.count("\n") == 1 and "KC999 cannot be read: it is larger than 64 MB" in ran.stdout


@needs_bash
@pytest.mark.parametrize("command", ["kerascheck .", "kerascheck ../train.py", "kerascheck -"])
def test_deleted_working_folder_is_one_error_line(project, command):
    folder = project(train__py=SLOW)
    ran = shell(
        f"mkdir gone; cd gone; rmdir ../gone; {command}",
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(package.__file__))},
    )
    said = "kerascheck: error: the folder that it runs in does not exist any more: change to another one\n"
    assert (ran.returncode, ran.stderr) == (2, said) and os.listdir(folder) == ["train.py"]


@needs_bash
def test_internal_error_is_not_a_finding(project):
    project(train__py=SLOW)
    code = "import kerascheck.lint.pipeline as e; e.lint = None; from kerascheck.cli.main import main; main(['.'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "Traceback" in ran.stderr and ran.stderr.splitlines()[-1].startswith(
        "kerascheck: error: this is a fault of kerascheck"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_only_on_a_terminal(project, terminal):
    import pty

    project(train__py=SLOW)
    ours, theirs = pty.openpty() if terminal else os.pipe()
    code = "from kerascheck.cli import main, terminal; terminal._PROGRESS_AFTER_SECONDS = 0; main.main(['.'])"
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=theirs)
    os.write(theirs, b"end")
    shown = os.read(ours, 10_000)
    assert (b"1/1 files" in shown) is terminal
    assert terminal or shown == b"end"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_interrupt_prints_no_traceback(project):
    path = project()
    os.mkfifo(path / "train.py")
    process = subprocess.Popen(
        [sys.executable, "-m", "kerascheck", "train.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # Processes that a shell starts in the background ignore the signal, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    # Our end of the pipe opens once the process has opened its end and waits for input.
    written = None
    while written is None:
        assert process.poll() is None
        try:
            written = os.open(path / "train.py", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        # Python drops an interrupt during garbage collection; a user would press the keys again.
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(written)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")


# --- requirements files --------------------------------------------------------------------------------

CPU_ONLY = "numpy\ntensorflow-cpu>=2.16\n"


def test_requirements_are_linted_with_the_code(project):
    project(train__py=SLOW, requirements__txt=CPU_ONLY, notes__txt=CPU_ONLY)
    report = json.loads(kerascheck("--output-format", "json", "--select", "KC701,serial-map").out)
    assert [(finding["path"], finding["line"], finding["code"], finding["cell"]) for finding in report["findings"]] == [
        ("requirements.txt", 2, "KC701", None),
        ("train.py", 4, "KC101", None),
    ]
    assert report["errors"] == []


def test_explicitly_named_dockerfile_is_linted(project):
    project(Dockerfile="FROM python:3.11\nRUN pip install tensorflow && \\\n    rm -rf /var/cache\n")
    ran = kerascheck("--output-format", "concise", "Dockerfile")
    assert ran.out.startswith("Dockerfile:2:17: info: KC701 ")
    assert kerascheck("--select", "serial-map", "Dockerfile").code == 0


def test_fix_rewrites_requirements(project):
    folder = project(requirements__txt="# x\r\ntensorflow-cpu>=2.16 # y\r\n")
    assert kerascheck("--fix", "requirements.txt").code == 0
    assert "-tensorflow-cpu" in kerascheck("--diff", "--unsafe-fixes", "requirements.txt").out
    kerascheck("--fix", "--unsafe-fixes", "requirements.txt")
    assert (folder / "requirements.txt").read_bytes() == b"# x\r\ntensorflow[and-cuda]>=2.16 # y\r\n"


def test_requirements_on_standard_input_are_linted(project):
    ran = kerascheck("--output-format", "concise", "--stdin-filename", "requirements.txt", "-", stdin=CPU_ONLY.encode())
    assert "requirements.txt:2:1: info: KC701 " in ran.out


def test_undecodable_requirements_are_an_error(project):
    project(requirements__txt=b"tensorflow-cpu # \xff\n")
    assert kerascheck("requirements.txt").code == 2


def test_code_rules_ignore_requirements(project):
    # These words would be triggers in code.
    project(pyproject__toml='[project]\ndependencies = ["tensorflow"]\ndescription = ".map( .predict( .fit("\n')
    assert kerascheck().code == 0


def test_requirements_rule_has_a_page(project):
    page = kerascheck("rule", "KC701").out
    assert "--- slow/requirements.txt\n+++ fast/requirements.txt\n" in page
    assert page.index("## Evidence") < page.index("What fast/ gains over slow/:\n\nNot measured: no script runs.")
    assert kerascheck("verify", "--rule", "KC701").code == 2


USER = """\
import tensorflow as tf
from data import load

model = tf.keras.Sequential()
model.fit(load().prefetch(tf.data.AUTOTUNE))
"""
HELPER = """\
import tensorflow as tf


def load():
    return tf.data.Dataset.range(10).map(lambda x: tf.sqrt(x) * 2).batch(2)
"""


def _reported(*arguments):
    ran = kerascheck("--output-format", "json-lines", *arguments)
    objects = [json.loads(line) for line in ran.out.splitlines()]
    summary = next(each for each in objects if each["kind"] == "summary")
    return [each for each in objects if each is not summary], summary["files"], ran.code


@pytest.mark.parametrize("total", [1, 2, 3, 7])
def test_shards_together_equal_the_full_report(project, total):
    # Only train.py reveals the defect in data.py.
    project(data__py=HELPER, train__py=USER, other__py=SLOW, broken__py="import keras\nx = (\n", clean__py=CLEAN)
    whole, files, _ = _reported(".")
    assert {each["path"] for each in whole} >= {"data.py", "other.py", "broken.py"}
    shards = [_reported("--shard", f"{number}/{total}", ".") for number in range(1, total + 1)]
    assert [each for objects, _, _ in shards for each in objects if each["kind"] == "finding"] == [
        each for each in whole if each["kind"] == "finding"
    ]
    assert sorted(str(each) for objects, _, _ in shards for each in objects) == sorted(map(str, whole))
    assert sum(count for _, count, _ in shards) == files
    for objects, _, code in shards:
        failing = any(each.get("severity") in ("error", "warning") for each in objects)
        assert code == (2 if any(each["kind"] == "error" for each in objects) else int(failing))


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3", " 1/2", "\u0661/2"])
def test_invalid_shard_is_one_error_line(project, part):
    project(train__py=SLOW)
    ran = kerascheck(f"--shard={part}", ".")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1) and "write K/N" in ran.err


ELEMENTWISE = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10).map(lambda x: x + 1).batch(2)
model = tf.keras.Sequential()
model.fit(ds)
"""


def test_fix_only_reports_nothing(project):
    project(a__py=ELEMENTWISE, b__py=SLOW.replace("model.fit(ds)", "model.fit(ds, workers=4)"))
    ran = kerascheck("--isolated", "--select", "KC103,KC315", "--fix-only", ".")
    assert ran.code == 0 and "KC315" not in ran.out
    assert "batch(2).map" in open("a.py").read()


def test_a_fix_can_fail_the_run(project):
    project(a__py=ELEMENTWISE)
    command = ("--isolated", "--select", "KC103", "--fix", "--exit-non-zero-on-fix", ".")
    assert [kerascheck(*command).code for _ in range(2)] == [1, 0]


def test_rules_are_left_out_in_some_files(project):
    project(a__py=SLOW, b__py=SLOW)
    found = kerascheck(
        "--isolated",
        "--target-tensorflow",
        "2.10",
        "--per-file-ignores",
        "a.py:KC1,KC306",
        "--output-format",
        "pylint",
        ".",
    ).out
    assert "b.py:4: [KC101" in found and "a.py:4: [KC101" not in found
    for value in ("a.py", ":KC101", "a.py:"):
        ran = kerascheck("--per-file-ignores", value, ".")
        assert ran.code == 2 and "is no PATTERN:RULES" in ran.err


def test_help_lists_every_option_in_a_section():
    shown = kerascheck("check", "--help").out
    sections = [line for line in shown.splitlines() if line and not line.startswith(" ") and line.endswith(":")]
    assert sections[:3] == ["Rules:", "Fixes:", "Findings that are already there:"] and "Options:" not in sections
    assert shown.count("--select ") == shown.count("--help ") == 1
    assert shown.count("[PATH]") == 1
