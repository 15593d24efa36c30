"""Atomic writes of files."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

import pytest
from command import kerascheck
from killed import lines_until_killed, moments

from kerascheck.source.writing import write_atomically, write_output

SLOW = (
    "from tensorflow import keras\n\nmodel = keras.models.load_model('a')\nfor row in rows:\n    model.predict(row)\n"
)
BATCHED = """\
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices((tf.zeros([1000, 4]), tf.zeros([1000])))
data = data.map(lambda row, label: (row / 255.0, label)).batch(256)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=3)
"""


def test_bytes_and_permissions_are_kept(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o754)
    write_atomically(path, b"\xef\xbb\xbfnew\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfnew\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert os.listdir(tmp_path) == ["a.py"]


def test_owner_is_kept(tmp_path):
    if not hasattr(os, "chown") or os.geteuid() != 0:
        pytest.skip("only the superuser can give files away")
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    os.chown(path, 4321, 4322)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (4321, 4322)


def test_symlink_is_kept(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["far", "link.py"]


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(tmp_path / "none.py", b"")
    assert caught.value.filename == str(tmp_path / "none.py")


@pytest.mark.parametrize("function", ["replace", "fsync", "chmod"])
def test_failure_keeps_the_old_file(tmp_path, monkeypatch, function):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(OSError, match="No space") as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


def test_read_only_file_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    # Patched, since permissions do not stop the superuser.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="read-only"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_read_only_directory_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path / ".a.py.x1y2"))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(PermissionError) as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"


def test_new_file_has_default_permissions(tmp_path):
    write_atomically(tmp_path / "new", b"data", create=True)
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "new").read_bytes() == b"data"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_longest_file_name_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 126 + ".py")
    path.write_bytes(b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file|not a regular file"):
        write_atomically(tmp_path / "pipe", b"", create=True)


def test_temporary_files_of_killed_runs_are_removed(tmp_path):
    """Files match by their full name, and only once no process can still use them."""
    kept = [".a.py.abcdefgh", "a.py.abcdefgh.kerascheck", ".a.py.abc.kerascheck", ".a.py.ABCDEFGH.kerascheck"]
    for name in (*kept, ".a.py.abcd_f9h.kerascheck", ".a.py.young678.kerascheck"):
        (tmp_path / name).write_bytes(b"")
        old = time.time() - 3600 * ("young" not in name)
        os.utime(tmp_path / name, (old, old))
    (tmp_path / ".a.py.abcdefgf.kerascheck").mkdir()
    (tmp_path / ".a.py.abcdefgl.kerascheck").symlink_to(tmp_path / "a.py")
    os.utime(tmp_path / ".a.py.abcdefgl.kerascheck", (0, 0), follow_symlinks=False)
    (tmp_path / "a.py").write_text(SLOW.replace("row in rows", "row in rows[:]"))
    write_atomically(tmp_path / "a.py", b"new")
    left = {*kept, ".a.py.young678.kerascheck", ".a.py.abcdefgf.kerascheck", ".a.py.abcdefgl.kerascheck", "a.py"}
    assert set(os.listdir(tmp_path)) == left


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("function", ["replace", "fsync"])
def test_full_disk_keeps_the_old_report(tmp_path, monkeypatch, form, function):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SLOW)
    (tmp_path / "report").write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    ran = kerascheck("a.py", "--output-format", form, "-o", "report")
    assert ran.code == 2 and ran.err.endswith("report: the report cannot be written: No space left on device\n")
    assert (tmp_path / "report").read_text() == "old" and set(os.listdir(tmp_path)) == {"a.py", "report"}


def test_full_disk_leaves_no_partial_baseline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SLOW)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    ran = kerascheck("a.py", "--write-baseline", "baseline.json")
    assert ran.code == 2 and ran.err.endswith("the baseline cannot be written: No space left on device\n")
    assert os.listdir(tmp_path) == ["a.py"]


def test_report_is_written_in_a_read_only_folder(tmp_path, monkeypatch):
    (tmp_path / "report").write_bytes(b"old")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    write_output(tmp_path / "report", b"new")
    assert (tmp_path / "report").read_bytes() == b"new"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs a name for standard output")
def test_report_is_written_to_an_open_file_descriptor(tmp_path):
    (tmp_path / "a.py").write_text(SLOW)
    command = [sys.executable, "-m", "kerascheck", "a.py", "-q", "--output-format", "json", "-o", "/dev/stdout"]
    with open(tmp_path / "log", "wb") as log:
        subprocess.run(command, cwd=tmp_path, stdout=log, timeout=120)
    assert json.loads((tmp_path / "log").read_bytes())["version"] == 1


def batched_scripts(folder):
    """Three scripts with a safe fix in a new folder, by name: their text, and their text after an uninterrupted fix."""
    folder.mkdir()
    before = {f"{name}.py": BATCHED + f"# {name}\n" * 2000 for name in "abc"}
    write_all(folder, before)
    assert kerascheck("--isolated", "--no-cache", "--fix", "--exit-zero", folder).code == 0
    fixed = {name: (folder / name).read_text() for name in before}
    assert all(fixed[name] != before[name] for name in before)
    write_all(folder, before)
    return before, fixed


def write_all(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text)


def after_a_kill(folder, before, fixed):
    """Check the remains of a killed run, restore the scripts, and age its temporary files; returns their names."""
    for name in before:
        assert (folder / name).read_text() in (before[name], fixed[name])
    write_all(folder, before)
    left = set(os.listdir(folder)) - set(before)
    assert all(name.endswith(".kerascheck") for name in left)
    for name in left:
        os.utime(folder / name, (0, 0))
    return left


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_during_a_fix_write_leaves_whole_files(tmp_path, in_this_process, monkeypatch):
    folder = tmp_path / "linted"
    before, fixed = batched_scripts(folder)
    # A fork must behave like a new process, which has not removed temporary files yet.
    monkeypatch.setattr("kerascheck.source.writing._swept", set())

    def fix():
        kerascheck("--isolated", "--no-cache", "--fix", folder)

    lines, remains = moments(fix, "kerascheck/source/writing.py", 20), set()
    write_all(folder, before)
    for line in lines:
        lines_until_killed(fix, "kerascheck/source/writing.py", line)
        remains |= after_a_kill(folder, before, fixed)
    assert remains
    lines_until_killed(fix, "kerascheck/source/writing.py")
    assert {name: (folder / name).read_text() for name in os.listdir(folder)} == fixed


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_kill_of_a_fix_at_any_time_leaves_whole_files(tmp_path):
    folder = tmp_path / "linted"
    before, fixed = batched_scripts(folder)
    command = [sys.executable, "-m", "kerascheck", "--isolated", "--no-cache", "--fix", "--exit-zero", str(folder)]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    seconds = time.monotonic() - began
    write_all(folder, before)
    for moment in range(20):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds * moment / 20)
            process.kill()
        after_a_kill(folder, before, fixed)
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert {name: (folder / name).read_text() for name in os.listdir(folder)} == fixed
