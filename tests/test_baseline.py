"""``--write-baseline`` writes all findings, and ``--baseline`` reports only new ones."""

import json
import os
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.cli.options import MACHINE_FORMATS

RANDOM = "x + tf.random.uniform([], maxval=9, dtype=tf.int64)"
HEAD = "import tensorflow as tf\n\nds = tf.data.Dataset.range(10)\n"
MAP = f"ds = ds.map(lambda x: {RANDOM})\n"
OTHER = f"ds = ds.map(lambda x: 2 * {RANDOM})\n"
TAIL = "model = tf.keras.Sequential()\nmodel.fit(ds.batch(2).prefetch(2))\n"
ONLY = ("--isolated", "--select", "serial-map")
FILE = "kerascheck-baseline.json"


@pytest.fixture
def folder(tmp_path, monkeypatch, in_this_process):
    monkeypatch.chdir(tmp_path)
    write("train.py", MAP)
    return tmp_path


def write(path, maps, head=HEAD):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(head + maps + TAIL)


def notebook(path, *cells):
    cells = [{"cell_type": "code", "source": cell} for cell in cells]
    Path(path).write_text(json.dumps({"cells": cells}))


def written(*arguments):
    ran = kerascheck(*ONLY, "--write-baseline", FILE, *arguments)
    assert (ran.code, ran.err) == (0, "")
    report, after = ran.out.splitlines(keepends=True)
    assert after.startswith("Next: kerascheck ") and f" --baseline {FILE}" in after
    return report


def new(*arguments):
    """Locations of the new findings, and the summary's counts of the others."""
    ran = kerascheck(*ONLY, "--baseline", FILE, "--output-format", "json", *arguments)
    document = json.loads(ran.out)
    assert ran.code == bool(document["findings"]) and not document["errors"]
    summary = document["summary"]
    places = [(each["path"], each["cell"], each["line"]) for each in document["findings"]]
    return places, summary["not_reported"]["in_baseline"], summary["gone_from_baseline"]


def test_file_has_one_line_per_finding_in_stable_order(folder):
    write("b/train.py", OTHER + MAP)
    assert written() == f"Wrote 3 findings of 2 files to {FILE}.\n"
    text = (folder / FILE).read_text()
    document = json.loads(text)
    assert list(document) == ["kerascheck-baseline", "findings"] and document["kerascheck-baseline"] == 1
    assert [each["path"] for each in document["findings"]] == ["b/train.py", "b/train.py", "train.py"]
    assert document["findings"][2]["text"] == MAP.strip() and document["findings"][2]["code"] == "KC101"
    assert text.count("\n") == 3 + 5 and text.endswith("\n}\n") and str(folder) not in text
    write("b/train.py", "import os\n" + MAP + OTHER)
    written()
    assert (folder / FILE).read_text() == text
    write("train.py", "")
    write("b/train.py", "")
    written()
    assert json.loads((folder / FILE).read_text())["findings"] == []


def test_known_findings_are_hidden_from_any_working_directory(folder, monkeypatch):
    write("src/deep/train.py", OTHER)
    written()
    assert new() == ([], 2, 0)
    assert new("src") == ([], 1, 0)
    monkeypatch.chdir(folder / "src")
    ran = kerascheck(*ONLY, "--baseline", f"../{FILE}", "..")
    assert ran.code == 0
    assert ran.out == f"No new problems found in 2 files. Not reported: 2 in {FILE}.\n"
    # Its paths are relative to its folder.
    assert kerascheck(*ONLY, "--write-baseline", FILE, "..").code == 0
    assert [each["path"] for each in json.loads(Path(FILE).read_text())["findings"]] == ["../train.py", "deep/train.py"]
    assert new("..") == ([], 2, 0)


@pytest.mark.parametrize(
    "maps", [f"import os\n\n\n{MAP}", f"if ds:\n    {MAP}", MAP.replace(" = ", "=").rstrip() + "  # why\n"]
)
def test_finding_is_known_after_its_line_moves_or_gets_a_comment(folder, maps):
    written()
    write("train.py", maps)
    assert new() == ([], 1, 0)


def test_copy_of_a_known_line_is_new(folder):
    written()
    write("train.py", MAP + OTHER)
    assert new() == ([("train.py", None, 5)], 1, 0)
    write("train.py", MAP + MAP)
    assert new() == ([("train.py", None, 5)], 1, 0)
    write("train.py", MAP)
    write("copy.py", MAP)
    assert new() == ([("copy.py", None, 4)], 1, 0)
    write("train.py", MAP + MAP)
    written()
    assert new() == ([], 3, 0)
    write("train.py", MAP + MAP + MAP)
    assert new() == ([("train.py", None, 6)], 3, 0)


def test_findings_follow_renamed_files_and_moved_code(folder):
    write("data.py", OTHER)
    written()
    (folder / "train.py").rename(folder / "renamed.py")
    assert new() == ([], 2, 0)
    write("data.py", "")
    write("renamed.py", MAP + OTHER)
    assert new() == ([], 2, 0)


def test_entries_of_an_unchecked_file_do_not_move(folder):
    written()
    write("copy.py", MAP)
    assert new("copy.py") == ([("copy.py", None, 4)], 0, 0)


def test_entries_of_an_unparsable_file_do_not_move(folder):
    written()
    (folder / "train.py").write_text("import keras\nx = (\n")
    write("copy.py", MAP)
    ran = kerascheck(*ONLY, "--baseline", FILE, "--output-format", "concise")
    assert ran.code == 2 and "copy.py:4:9: warning: KC101" in ran.out


def test_file_is_written_atomically(folder):
    written()
    (folder / FILE).chmod(0o640)
    os.link(FILE, "other name")
    before = (folder / FILE).read_text()
    write("train.py", MAP + OTHER)
    written()
    assert (folder / "other name").read_text() == before != (folder / FILE).read_text()
    assert (folder / FILE).stat().st_mode & 0o777 == 0o640


def test_finding_is_known_after_its_cell_moves(folder):
    head, call = HEAD, MAP
    notebook("train.ipynb", head, call, TAIL)
    written()
    notebook("train.ipynb", "import os", "# %%", head, f"print()\n{call}", TAIL)
    assert new("train.ipynb") == ([], 1, 0)
    notebook("train.ipynb", head, call, call, TAIL)
    assert new("train.ipynb") == ([("train.ipynb", 2, 1)], 1, 0)


def test_fixed_entries_are_counted_and_dropped_by_the_next_write(folder):
    write("old.py", OTHER)
    written()
    write("train.py", "")
    (folder / "old.py").unlink()
    assert new() == ([], 0, 2)
    ran = kerascheck(*ONLY, "--baseline", FILE)
    assert " ".join(ran.out.split()).endswith(f". 2 findings of {FILE} no longer exist; --write-baseline drops them.")
    write("old.py", OTHER)
    assert " ".join(kerascheck(*ONLY, "--baseline", FILE).out.split()).endswith(
        f". Not reported: 1 in {FILE}. 1 finding of {FILE} no longer exists; --write-baseline drops it."
    )
    assert written() == f"Wrote 1 finding of 1 file to {FILE}.\n"
    assert new() == ([], 1, 0)


def test_entries_outside_the_selection_do_not_count_as_fixed(folder):
    write("src/old.py", OTHER)
    written()
    (folder / "src" / "old.py").unlink()
    assert new("train.py") == ([], 1, 0)
    assert new("src") == ([], 0, 1)
    assert new("--shard", "1/1") == ([], 1, 0)
    write("train.py", "")
    assert new("train.py") == ([], 0, 1)
    assert "no longer" not in kerascheck("--isolated", "--select", "KC5", "--baseline", FILE, "train.py").out
    (folder / "settings.toml").write_text('per-file-ignores = { "train.py" = ["KC1"] }\n')
    options = ("--config", "settings.toml", "--baseline", FILE, "train.py")
    assert "no longer" not in kerascheck(*options).out
    assert new("train.py", "--min-severity", "error") == ([], 0, 0)
    (folder / "train.py").write_text("import keras\nx = (\n")
    ran = kerascheck(*ONLY, "--baseline", FILE, "train.py")
    assert ran.code == 2 and "no longer" not in ran.out


def test_severity_and_pedantic_findings_are_matched_as_written(folder):
    line = "import tensorflow as tf\nn = tf.data.experimental.AUTOTUNE\n"
    (folder / "train.py").write_text(line)
    ran = kerascheck("--isolated", "--select", "KC311", "--pedantic", "--write-baseline", FILE)
    assert ran.out.startswith(f"Wrote 1 finding of 1 file to {FILE}.\n")
    (folder / "train.py").write_text("import tensorflow as tf\n")
    gone = "1 finding of"
    assert gone not in kerascheck("--isolated", "--select", "KC311", "--baseline", FILE).out
    assert gone in kerascheck("--isolated", "--select", "KC311", "--pedantic", "--baseline", FILE).out


@pytest.mark.parametrize("name", ["pyproject.toml", "kerascheck.toml"])
def test_configuration_names_the_baseline(folder, monkeypatch, name):
    write("src/train.py", OTHER)
    (folder / name).write_text(
        '[tool.kerascheck]\nbaseline = "known.json"\n'.removeprefix("[tool.kerascheck]\n" * (name[0] == "k"))
    )
    assert kerascheck("--write-baseline", "known.json").code == 0
    monkeypatch.chdir(folder / "src")
    known = "No new problems found in 1 file. Not reported: 1 in known.json.\n"
    assert kerascheck("--select", "serial-map").out == known
    assert kerascheck("--select", "serial-map", "--no-baseline").code == 1
    assert kerascheck("--select", "serial-map", "--write-baseline", "again.json").out.startswith("Wrote 1 finding of ")
    assert "Next:" not in kerascheck("--select", "serial-map", "--write-baseline", "again.json").out
    (folder / "known.json").unlink()
    ran = kerascheck("--select", "serial-map")
    assert ran.code == 2 and ran.err.startswith(f"kerascheck: error: {folder / 'known.json'}: no such baseline; ")
    assert kerascheck("--select", "serial-map", "--baseline", "again.json").code == 0


def test_folders_may_have_separate_baselines(folder):
    for name in ("a", "b"):
        write(f"{name}/train.py", MAP)
        (folder / name / "kerascheck.toml").write_text('baseline = "known.json"\n')
    assert kerascheck("--select", "serial-map", "--write-baseline", "a/known.json", "a").code == 0
    (folder / "b" / "known.json").write_text('{"kerascheck-baseline": 1, "findings": []}')
    ran = kerascheck("--select", "serial-map", "--output-format", "concise", "a", "b")
    assert ran.code == 1 and ran.out.startswith("b/train.py:4:9: ") and "a/train.py" not in ran.out


def test_missing_baseline_affects_only_its_folder(folder):
    for name in ("a", "b"):
        write(f"{name}/train.py", MAP)
    (folder / "b" / "kerascheck.toml").write_text('baseline = "known.json"\n')
    arguments = ("--select", "serial-map", "--output-format", "concise")
    ran = kerascheck(*arguments, "--fix", "--unsafe-fixes", ".")
    said = "b/known.json:1:1: error: KC999 no such baseline; write it with --write-baseline b/known.json (its files are not reported)"
    assert ran.code == 2 and said in ran.out and "b/train.py" not in ran.out
    assert ran.out.endswith(
        "Found 2 problems (2 fixed, 0 remaining) in 2 files. 1 file error; 2 other files are clean.\n"
    )
    assert (folder / "b" / "train.py").read_text() == HEAD + MAP + TAIL
    ran = kerascheck(*arguments, "b")
    assert ran.code == 2 and ran.err.startswith("kerascheck: error: b/known.json: no such baseline; ")
    assert kerascheck(*arguments, "b", "--write-baseline", "b/known.json").code == 0
    assert kerascheck(*arguments, ".").out == "No new problems found in 3 files. Not reported: 1 in known.json.\n"


def test_invalid_setting_is_reported(folder):
    (folder / "kerascheck.toml").write_text("baseline = 1\n")
    ran = kerascheck(".")
    assert ran.code == 2 and "'baseline' must be the path of a file" in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such baseline; write it with --write-baseline"),
        ('{\n  "kerascheck-baseline": 1,\n<<<<<<< HEAD\n', ":3: the baseline is damaged, it is no JSON (Expecting "),
        ('"kerascheck-baseline\udcff', "the baseline is damaged, it is no JSON; write it again"),
        ('{"kerascheck-baseline": ' + "[" * 100_000, "the baseline is damaged, it is no JSON"),
        ('{"version": 1, "findings": []}', "this is no baseline of kerascheck; "),
        ("import keras", "this is no baseline of kerascheck; "),
        ('["kerascheck-baseline"]', "written by another version of kerascheck; write it again"),
        ('{"kerascheck-baseline": 2, "findings": []}', "written by another version of kerascheck; write it again"),
        ('{"kerascheck-baseline": 1}', "an entry lacks a part; write it again"),
        ('{"kerascheck-baseline": 1, "findings": [{"path": "a"}]}', "an entry lacks a part; write it again"),
        ('{"kerascheck-baseline": 1, "findings": [1]}', "an entry lacks a part; write it again"),
    ],
)
def test_invalid_baseline_is_one_error_line(folder, text, said):
    if text is not None:
        (folder / FILE).write_text(text, errors="surrogateescape")
    ran = kerascheck(*ONLY, "--baseline", FILE)
    assert (ran.code, ran.out) == (2, "") and ran.err.count("\n") == 1
    assert ran.err.startswith(f"kerascheck: error: {FILE}:") and said in ran.err


def test_file_that_is_no_baseline_is_not_overwritten(folder):
    before = (folder / "train.py").read_text()
    ran = kerascheck("--write-baseline", "train.py")
    assert ran.code == 2 and ran.err == (
        "kerascheck: error: train.py: this is no baseline of kerascheck, so it is not overwritten\n"
    )
    assert (folder / "train.py").read_text() == before
    ran = kerascheck("--write-baseline", "none/such.json")
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith(
        "kerascheck: error: none/such.json: the baseline cannot be written: No such file"
    )
    # A baseline with merge conflicts is overwritten.
    (folder / FILE).write_text('<<<<<<<\n{"kerascheck-baseline": 1')
    written()
    assert new() == ([], 1, 0)


def test_unreadable_files_are_reported(folder):
    (folder / "broken.py").write_text("import keras\nx = (\n")
    ran = kerascheck(*ONLY, "--write-baseline", FILE)
    assert ran.code == 2 and ran.out.startswith(f"Wrote 1 finding of 1 file to {FILE}.\n")
    assert "broken.py:2" in ran.err
    ran = kerascheck(*ONLY, "--baseline", FILE)
    assert ran.code == 2 and "broken.py:2" in ran.out


def test_only_reported_findings_are_fixed(folder):
    fixable = ("--isolated", "--select", "serial-map", "--unsafe-fixes")
    written()
    write("train.py", MAP + OTHER)
    ran = kerascheck(*fixable, "--baseline", FILE, "--diff")
    assert ran.code == 1 and ran.out.count("\n+ds = ds.map") == 1 and "Would fix 1 problem in 1 file." in ran.err
    ran = kerascheck(*fixable, "--baseline", FILE, "--fix")
    assert (ran.code, ran.out) == (
        0,
        f"Found 1 problem (1 fixed, 0 remaining) in 1 file. Not reported: 1 in {FILE}.\n",
    )
    assert MAP in (folder / "train.py").read_text() and OTHER not in (folder / "train.py").read_text()
    assert kerascheck(*fixable, "--baseline", FILE, "--fix").out.startswith("No new problems found")
    assert kerascheck(*fixable, "--fix").code == 0
    assert MAP not in (folder / "train.py").read_text()


def test_only_reported_findings_get_comments(folder):
    written()
    write("train.py", MAP + OTHER)
    assert kerascheck(*ONLY, "--baseline", FILE, "--add-noqa").out == "Silenced 1 finding in 1 file.\n"
    assert (folder / "train.py").read_text().count("# kerascheck") == 1


@pytest.mark.parametrize(
    "form",
    ["text", "concise", *MACHINE_FORMATS],
)
def test_no_output_format_contains_known_findings(folder, form):
    written()
    write("train.py", MAP + OTHER)
    ran = kerascheck(*ONLY, "--baseline", FILE, "--output-format", form, "-o", "report")
    assert (ran.code, ran.out) == (
        1,
        f"Found 1 problem (1 warning) in 1 file; 1 fixable with --fix --unsafe-fixes. Not reported: 1 in {FILE}.\n",
    )
    assert "num_parallel_calls" in (folder / "report").read_text()
    write("train.py", MAP)
    assert kerascheck(*ONLY, "--baseline", FILE, "--output-format", form, "-o", "report").code == 0
    assert "num_parallel_calls" not in (folder / "report").read_text()


def test_standard_input_uses_the_entries_of_its_file_name(folder):
    written()
    code = (HEAD + MAP + OTHER + TAIL).encode()
    ran = kerascheck(
        *ONLY, "--baseline", FILE, "-", "--stdin-filename", "train.py", "--output-format", "concise", stdin=code
    )
    assert ran.code == 1 and ran.out.count("KC101") == 1 and ran.out.startswith("train.py:5")


@pytest.mark.parametrize(
    ("others", "named"),
    [
        (("--fix",), "--fix"),
        (("--diff",), "--diff"),
        (("--add-noqa",), "--add-noqa"),
        (("-o", "x.txt"), "--output-file"),
        (("--shard", "1/2"), "--shard"),
        (("--baseline", "x.json"), "--baseline"),
        (("--no-baseline",), "--no-baseline"),
        (("--diff-base", "HEAD"), "--diff-base"),
        (("-",), "'-'"),
    ],
)
def test_write_baseline_rejects_incompatible_options(folder, others, named):
    ran = kerascheck("--write-baseline", FILE, *others)
    assert ran.code == 2 and not (folder / FILE).exists()
    assert ran.err == f"kerascheck: error: --write-baseline cannot be combined with {named}\n"


def test_cached_run_is_reused_after_the_baseline_changes(folder, monkeypatch, tmp_path_factory):
    from kerascheck.cache.folder import Folder
    from kerascheck.cache.runs import Run
    from kerascheck.lint import pipeline

    cache = Folder(str(tmp_path_factory.mktemp("kept")))
    monkeypatch.setattr(
        "kerascheck.cli.check._run_of", lambda paths, overrides, options: Run(cache, paths, [repr(overrides)])
    )
    written()
    monkeypatch.setattr(pipeline, "lint", lambda *_, **__: pytest.fail("it was not recalled"))
    assert new() == ([], 1, 0)
    (folder / FILE).write_text('{"kerascheck-baseline": 1, "findings": []}')
    assert new() == ([("train.py", None, 4)], 0, 0)


def test_shards_together_equal_the_full_report(folder):
    for name in "abcd":
        write(f"{name}.py", MAP)
    written()
    write("b.py", MAP + OTHER)
    write("d.py", "")
    assert new() == ([("b.py", None, 5)], 4, 1)
    shards = [new("--shard", f"{each}/3") for each in (1, 2, 3)]
    assert sum((places for places, *_ in shards), []) == [("b.py", None, 5)]
    assert [sum(each) for each in zip(*((hidden, gone) for _, hidden, gone in shards))] == [4, 1]


def test_one_of_two_findings_on_a_line_can_be_known(folder):
    twice = MAP.replace(f"map(lambda x: {RANDOM})", f"map(lambda x: {RANDOM}).map(lambda x: 3 * {RANDOM})")
    write("train.py", twice)
    written()
    text = (folder / FILE).read_text()
    first, *_ = [line for line in text.splitlines() if "KC101" in line]
    (folder / FILE).write_text(f'{{"kerascheck-baseline": 1, "findings": [{first.strip().rstrip(",")}]}}\n')
    assert new() == ([("train.py", None, 4)], 1, 0)
