"""``--diff-base`` reports findings on lines that have changed since a git revision."""

import difflib
import json
import os
import subprocess
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.lint.git_diff import changed

HEAD = "import tensorflow as tf\n\nds = tf.data.Dataset.range(10)\n"
MAPS = "".join(f"ds = ds.map(lambda x: x + tf.random.uniform([], maxval={n}, dtype=tf.int64))\n" for n in (4, 5, 6))
TAIL = "model = tf.keras.Sequential()\nmodel.fit(ds.batch(2).prefetch(2))\n"
TEXT = HEAD + MAPS + TAIL
ONLY = ("--isolated", "--select", "serial-map", "--output-format", "json")


@pytest.fixture
def folder(tmp_path, monkeypatch, in_this_process):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    top = tmp_path / "project"
    top.mkdir()
    monkeypatch.chdir(top)
    begin()
    (top / "train.py").write_text(TEXT)
    commit()
    return top


def git(*arguments, cwd=None):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout.strip()


def begin(cwd=None):
    git("init", "-q", "-b", "main", cwd=cwd)


def commit(cwd=None):
    git("add", "-A", cwd=cwd)
    git("commit", "-q", "-m", "a commit", cwd=cwd)
    return git("rev-parse", "HEAD", cwd=cwd)


def found(*arguments, revision="HEAD"):
    ran = kerascheck(*ONLY, "--diff-base", revision, *arguments)
    document = json.loads(ran.out)
    assert ran.code == bool(document["findings"]) and not ran.err
    return [(each["path"], each["cell"], each["line"]) for each in document["findings"]]


def edit(path, old, new):
    text = Path(path).read_bytes().decode()
    assert old in text
    Path(path).write_bytes(text.replace(old, new).encode())


def test_committed_and_uncommitted_changes_count(folder):
    assert found() == []
    edit("train.py", "maxval=5", "maxval=50")
    assert found() == [("train.py", None, 5)]
    commit()
    assert found() == []
    assert found(revision="HEAD~1") == [("train.py", None, 5)]
    edit("train.py", "maxval=6", "maxval=60")
    git("add", "-A")
    edit("train.py", HEAD, "import os\n" + HEAD)
    assert found() == [("train.py", None, 7)]
    assert found(revision="HEAD~1") == [("train.py", None, 6), ("train.py", None, 7)]
    ran = kerascheck("--isolated", "--select", "serial-map", "--diff-base", "HEAD", "--output-format", "concise")
    assert ran.out.endswith(" Not reported: 2 on lines unchanged since HEAD.\n")
    ran = kerascheck(
        "--isolated", "--select", "serial-map", "--diff-base", "HEAD", "--fail-on", "error", "-o", "report"
    )
    assert ran.code == 0


def test_changes_of_the_other_branch_do_not_count(folder):
    git("checkout", "-q", "-b", "other")
    edit("train.py", "maxval=4", "maxval=40")
    commit()
    git("checkout", "-q", "main")
    edit("train.py", "maxval=6", "maxval=60")
    commit()
    assert found(revision="other") == [("train.py", None, 6)]


def test_untracked_files_are_new(folder):
    (folder / ".gitignore").write_text("ignored.py\n")
    for name in ("untracked.py", "ignored.py", "staged.py"):
        (folder / name).write_text(TEXT)
    git("add", "staged.py")
    assert {path for path, *_ in found(".", "ignored.py")} == {"untracked.py", "ignored.py", "staged.py"}
    assert len(found("ignored.py")) == 3


def test_renamed_file_counts_only_its_changes(folder):
    for name in ("with space.py", 'a "quote".py', "caf\u00e9.py", "a\nnew line.py", "-x.py"):
        git("mv", "train.py", f"./{name}")
        edit(name, "maxval=5", "maxval=50")
        assert found() == [(name, None, 5)]
        git("mv", f"./{name}", "train.py")
        edit("train.py", "maxval=50", "maxval=5")
    git("rm", "-q", "--cached", "train.py")
    assert found() == []


def test_deleted_lines_count_at_their_position(folder):
    (folder / "train.py").write_text(
        TEXT.replace("ds.map(", "(\n    ds\n    .skip(1)\n    .map(").replace("64))", "64))\n)")
    )
    commit()
    assert len(found(revision="HEAD~1")) == 3
    text = (folder / "train.py").read_text()
    (folder / "train.py").write_text(text.replace("    .skip(1)\n", "", 1))
    assert found() == [("train.py", None, 6)]
    (folder / "train.py").write_text(text.replace("import tensorflow as tf\n\n", "import tensorflow as tf\n"))
    assert found() == []


def test_changed_related_location_counts(folder):
    body = "def step(x):\n    y = tf.random.uniform([], maxval=9, dtype=tf.int64)\n    return x + y\n"
    (folder / "train.py").write_text(HEAD.replace("ds =", f"{body}\nds =") + "ds = ds.map(step)\n" + TAIL)
    commit()
    edit("train.py", "maxval=9", "maxval=90")
    (place,) = found()
    assert place == ("train.py", None, 8)
    edit("train.py", "    return x + y", "    return y + x")
    edit("train.py", "maxval=90", "maxval=9")
    assert found() == []


@pytest.mark.parametrize("attributes", ["*.ipynb -diff\n*.py binary\n", "* text eol=crlf\n", ""])
def test_notebooks_are_compared_by_code(folder, attributes):
    (folder / ".gitattributes").write_text(attributes)
    first, *maps = MAPS.splitlines()
    cells = [HEAD, f"!ls\n{first}", "\n".join(maps), TAIL]

    def save(cells, output):
        made = [{"cell_type": "code", "source": cell, "outputs": [output], "execution_count": 7} for cell in cells]
        (folder / "a.ipynb").write_text(json.dumps({"cells": made}, indent=output))

    save(cells, 1)
    commit()
    save(cells, 4)
    assert found() == []
    cells[2] = cells[2].replace("maxval=6", "maxval=60")
    save([cells[0], "import os", *cells[1:]], 1)
    assert found() == [("a.ipynb", 3, 2)]


def test_encodings_and_line_endings_are_ignored(folder):
    latin = ("# coding: latin-1\n# caf\u00e9\n" + TEXT).encode("latin-1")
    (folder / "latin.py").write_bytes(latin)
    (folder / "old_mac.py").write_bytes(TEXT.replace("\n", "\r").encode())
    commit()
    (folder / "latin.py").write_bytes(latin.replace(b"\n", b"\r\n").replace(b"maxval=5", b"maxval=50"))
    (folder / "old_mac.py").write_bytes(TEXT.replace("maxval=5", "maxval=50").replace("\n", "\r").encode())
    assert found() == [("latin.py", None, 7), ("old_mac.py", None, 5)]


def test_symlinks_that_become_files_are_compared(folder):
    (folder / "link.py").symlink_to("train.py")
    (folder / "was_link.py").symlink_to("train.py")
    (folder / "broken.py").write_bytes(b"# coding: none-such\n" + TEXT.encode())
    commit()
    assert found("link.py") == []
    (folder / "was_link.py").unlink()
    (folder / "was_link.py").write_text(TEXT)
    (folder / "broken.py").write_text(TEXT)
    assert len(found("was_link.py")) == len(found("broken.py")) == 3
    edit("train.py", "maxval=5", "maxval=50")
    assert found("link.py") == [("link.py", None, 5)]


def in_repository(folder):
    return any((each / ".git").exists() for each in (folder, *folder.parents))


def test_nested_repositories_are_compared(folder, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    begin(library)
    (library / "lib.py").write_text(TEXT)
    commit(library)
    git("submodule", "--quiet", "add", str(library), "sub")
    git("submodule", "--quiet", "add", str(library), "no_folder.py")
    commit()
    (folder / "nested").mkdir()
    begin(folder / "nested")
    (folder / "nested" / "own.py").write_text(TEXT)
    commit(folder / "nested")
    assert {path for path, *_ in found()} == {"nested/own.py"}
    edit("sub/lib.py", "maxval=5", "maxval=50")
    commit(folder / "sub")
    edit("sub/lib.py", "maxval=6", "maxval=60")
    assert found("train.py", "sub/lib.py", revision="HEAD")[0][0] == "sub/lib.py"
    assert [line for path, _, line in found() if path == "sub/lib.py"] == [5, 6]
    assert len([1 for path, *_ in found(revision="HEAD~1") if path == "sub/lib.py"]) == 3
    git("rm", "-q", "no_folder.py")
    (folder / "no_folder.py").write_text(TEXT)
    git("add", "no_folder.py")
    assert len(found("no_folder.py")) == 3


def test_runs_from_any_folder_and_in_a_git_hook(folder, monkeypatch):
    (folder / "deep").mkdir()
    edit("train.py", "maxval=5", "maxval=50")
    monkeypatch.chdir(folder / "deep")
    monkeypatch.setenv("GIT_DIR", "no such folder")
    monkeypatch.setenv("GIT_INDEX_FILE", "no such file")
    assert [line for *_, line in found("..")] == [5]


def test_only_changed_lines_are_fixed(folder):
    edit("train.py", "maxval=5", "maxval=50")
    options = ("--isolated", "--select", "serial-map", "--unsafe-fixes", "--diff-base", "HEAD")
    assert kerascheck(*options, "--diff").out.count("\n+ds") == 1
    ran = kerascheck(*options, "--fix")
    assert ran.code == 0 and ran.out.startswith("Found 1 problem (1 fixed, 0 remaining) in 1 file.")
    assert (folder / "train.py").read_text().count("num_parallel_calls") == 1


def test_standard_input_is_compared(folder):
    text = TEXT.replace("maxval=5", "maxval=50").encode()
    ran = kerascheck(*ONLY, "--diff-base", "HEAD", "-", "--stdin-filename", "train.py", stdin=text)
    assert [each["line"] for each in json.loads(ran.out)["findings"]] == [5]


def test_baseline_and_diff_base_can_be_combined(folder):
    kerascheck("--isolated", "--select", "serial-map", "--write-baseline", "known.json")
    edit("train.py", "maxval=5", "maxval=50")
    edit("train.py", "maxval=6", "maxval=60")
    kerascheck("--isolated", "--select", "serial-map", "--write-baseline", "known.json")
    edit("train.py", "maxval=4", "maxval=40")
    edit("train.py", "maxval=50", "maxval=5")
    assert found("--baseline", "known.json") == [("train.py", None, 4)]


@pytest.mark.parametrize(
    "revision",
    ["none-such", "-x", "--output=x", "", "HEAD:train.py", "HEAD..HEAD", "^HEAD", "HEAD~99", "a\nb", "HEAD^{tree}"],
)
def test_unknown_revision_is_one_error_line(folder, revision):
    ran = kerascheck("--diff-base", revision, ".")
    assert (ran.code, ran.out) == (2, "") and ran.err.count("\n") == 1
    assert ran.err.startswith("kerascheck: error: --diff-base: ")
    assert sorted(os.listdir(folder)) == [".git", "train.py"]


@pytest.mark.parametrize(
    "revision",
    ["-x", "--since=1", "--upload-pack=touch x", "--output=x", "-o x", "--exec=touch x", "--", "-", "--no-index"],
)
def test_revision_is_never_an_option_of_git(folder, monkeypatch, revision):
    started, run = [], subprocess.run

    def noted(command, **options):
        started.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    ran = kerascheck("--diff-base", revision, ".")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"'{revision}' is no revision of the git repository" in ran.err
    assert started and not any(word.removesuffix("^{commit}") == revision for command in started for word in command)
    assert sorted(os.listdir(folder)) == [".git", "train.py"]


def test_git_failure_is_one_error_line(folder, tmp_path, monkeypatch):
    edit("train.py", "maxval=5", "maxval=50")
    commit()
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth", "1", f"file://{folder}", str(shallow))
    monkeypatch.chdir(shallow)
    ran = kerascheck("--diff-base", "HEAD~1")
    assert ran.code == 2 and "the clone is shallow: fetch its history first" in ran.err
    git("checkout", "-q", "--orphan", "alone")
    commit()
    ran = kerascheck("--diff-base", "origin/main")
    assert ran.code == 2 and "'origin/main' and HEAD have no commit in common" in ran.err
    (shallow / ".git" / "HEAD").write_text("nonsense")
    ran = kerascheck("--diff-base", "HEAD")
    assert ran.code == 2 and ran.err.startswith("kerascheck: error: --diff-base: git rev-parse failed in ")
    outside = tmp_path / "outside"
    outside.mkdir()
    if not in_repository(outside):
        ran = kerascheck("--diff-base", "HEAD", outside)
        assert (ran.code, ran.err) == (2, f"kerascheck: error: --diff-base: {outside} is in no git repository\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(outside))
    ran = kerascheck("--diff-base", "HEAD")
    assert (ran.code, ran.err) == (2, "kerascheck: error: --diff-base: git cannot be run: No such file or directory\n")


def test_changes_are_computed_by_lines():
    old = ["a", "b", "c", "d"]
    assert changed(old, old) == ()
    assert changed(old, ["a", "x", "y", "c", "d"]) == ((4, 6),)
    assert changed(old, ["a", "d"]) == ((3, 3),)
    assert changed(old, ["b", "c", "d", "e"]) == ((1, 1), (8, 8))
    assert changed([], ["a"]) == ((2, 2),)


def test_frequent_lines_of_a_long_text_are_not_anchors(monkeypatch):
    asked = []
    matcher = difflib.SequenceMatcher
    monkeypatch.setattr(difflib, "SequenceMatcher", lambda *lines, autojunk: asked.append(autojunk) or matcher(*lines))
    many = ["]"] * 3000
    (_, first), (second, _) = changed(["a", *many, "b", *many, "c"], ["x", *many, "b", *many, "y", "c"])
    assert first < 2 * 3002 < second
    changed(["a", "]", "b"], ["]", "c"])
    assert asked == [True, False]
