"""Patches of ``--diff``, applied by git."""

import os
import shutil
import subprocess

import pytest
from command import kerascheck

from kerascheck.fixes.patch import patch

SLOW = """\
# Größe
import tensorflow as tf

ds = tf.data.Dataset.range(10).map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64)).batch(2)
model = tf.keras.Sequential()
model.fit(ds)
"""
FIX = ("--isolated", "--select", "KC101", "--unsafe-fixes")
CONTENTS = {
    "newlines of Windows": SLOW.replace("\n", "\r\n").encode(),
    "both newlines": SLOW.replace("\n", "\r\n", 3).encode(),
    "no newline at the end": SLOW.replace("model.fit(ds)\n", "model.fit(ds)").encode(),
    "changed last line without newline": SLOW.replace("model.fit(ds)\n", "").replace("model = tf.keras.Sequential()\n", "tf.keras.Sequential().fit(ds)").replace(".batch(2)\n", "\n").replace("fit(ds)", "fit(ds.map(lambda x: tf.random.normal([])).batch(2))").encode(),
    "a byte order mark": b"\xef\xbb\xbf" + SLOW.encode(),
    "another encoding": b"# -*- coding: latin-1 -*-\n" + SLOW.encode("latin-1"),
    "form feeds and separators": SLOW.replace("\n\n", "\n\x0c\n# \u2028 \x85 \x1c\n").encode(),
}  # fmt: skip
NAMES = [
    "train.py",
    "my file.py",
    "größe.py",
    "a\tb.py",
    'say "x".py',
    "back\\slash.py",
    "b/c.py",
    "sub/sub/x.py",
    "-.py",
    "x\udcff.py",
]

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
    pytest.mark.usefixtures("in_this_process"),
]


def git(*arguments, folder, stdin=b""):
    done = subprocess.run(["git", *arguments], cwd=folder, input=stdin, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(params=["repository", "folder"])
def project(request, tmp_path, monkeypatch):
    """A function that writes files into an empty folder, inside or outside of a repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "project"
    folder.mkdir()
    if request.param == "repository":
        git("init", "-q", folder=folder)
    monkeypatch.chdir(folder)

    def write(files):
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder

    return write


def repaired(path):
    """Content of a file after --fix."""
    content = path.read_bytes()
    kerascheck(*FIX, "--fix", path)
    changed = path.read_bytes()
    assert changed != content
    path.write_bytes(content)
    return changed


def applied(arguments, *, run_in, wanted):
    """Apply the output of --diff; every path must have the expected content."""
    ran = kerascheck(*FIX, "--diff", *arguments)
    assert ran.code == 1
    printed = ran.out.encode(errors="surrogateescape")
    git("apply", "--check", folder=run_in, stdin=printed)
    git("apply", folder=run_in, stdin=printed)
    assert {path: path.read_bytes() for path in wanted} == wanted


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_git_applies_every_content(project, content):
    folder = project({"train.py": content})
    applied(["."], run_in=folder, wanted={folder / "train.py": repaired(folder / "train.py")})


def test_git_applies_every_file_name(project):
    folder = project({name: SLOW.encode() for name in NAMES})
    paths = [folder / name for name in NAMES]
    applied(["."], run_in=folder, wanted={path: repaired(path) for path in paths})


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("here", [".", "sub", "sub/sub"])
def test_git_applies_the_patch_in_the_linted_folder(project, monkeypatch, here, absolute):
    folder = project({"sub/sub/sub/x.py": SLOW.encode(), "sub/x.py": SLOW.encode()})
    wanted = {folder / "sub/sub/sub/x.py": repaired(folder / "sub/sub/sub/x.py"), folder / "sub/x.py": SLOW.encode()}
    monkeypatch.chdir(folder / here)
    name = folder / "sub/sub/sub/x.py"
    applied([name if absolute else os.path.relpath(name)], run_in=folder / here, wanted=wanted)


def test_patch_for_outside_files_says_where_to_apply_it(project, monkeypatch, tmp_path):
    folder = project({"a/x.py": SLOW.encode(), "b/y.py": SLOW.encode()})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert f"apply it in {folder}\n" in kerascheck(*FIX, "--diff", folder).err
    applied([folder], run_in=folder, wanted={path: repaired(path) for path in (folder / "a/x.py", folder / "b/y.py")})


def test_file_with_two_names_is_changed_once(project):
    folder = project({"train.py": SLOW.encode()})
    (folder / "link.py").symlink_to("train.py")
    applied(["."], run_in=folder, wanted={folder / "train.py": repaired(folder / "train.py")})


def test_patch_without_fixes_is_empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert patch({}) == (str(tmp_path), b"")


def test_errors_are_printed_with_the_patch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SLOW)
    (tmp_path / "old.py").write_text("print 'x'\n")
    ran = kerascheck(*FIX, "--diff", ".")
    assert ran.code == 2 and ran.out.startswith(
        "diff --git a/train.py b/train.py\n--- a/train.py\n+++ b/train.py\n@@ -"
    )
    assert ran.err.splitlines()[0].startswith("old.py:1:1: error: KC999 Python 2 code")
    assert kerascheck(*FIX, "--diff", "-q", "old.py").err.count("\n") == 1
    assert "KC999" in kerascheck(*FIX, "--diff", "-", stdin=b"x = (").err


def test_fixes_in_a_patch_are_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SLOW)
    assert kerascheck(*FIX, "--diff", ".").err == "Would fix 1 problem in 1 file.\n"
    assert kerascheck(*FIX[:-1], "--diff", ".").err == "Would fix nothing; 1 with --unsafe-fixes.\n"
    assert kerascheck(*FIX, "--diff", "-q", ".").err == ""
