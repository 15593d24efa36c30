"""Result cache: a cached run equals an uncached one after any change."""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import kerascheck
from killed import lines_until_killed, moments

from kerascheck.cache.folder import Folder
from kerascheck.cache.memo import is_packed, meets, packed
from kerascheck.cli import check
from kerascheck.cli.options import MACHINE_FORMATS
from kerascheck.lint.analyze_file import Analysis

ROOT = Path(__file__).resolve().parent.parent
_run_of = check._run_of  # before conftest.py replaces it
HELPER = """\
import tensorflow as tf


def load(number):
    return tf.data.Dataset.range(number).map(lambda x: tf.sqrt(x) * 2).batch(2)
"""
TRAIN = """\
import tensorflow as tf
from data import load

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(load(10))
"""
ALONE = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10).map(lambda x: tf.sqrt(x) * 2)  # noqa: KC101
ds = ds.map(lambda x: tf.sqrt(x) * 2).batch(2)
model = tf.keras.Sequential()
model.fit(ds)
"""
NOTED_OTHERWISE = {
    # Names a running notebook; nothing of it is cached.
    "kerascheck/source/executed_cells.py: return path if os.path.isdir(os.path.dirname(path)) else os.path.abspath(os.path.basename(path))",
    # A pipe; its results are never cached.
    'kerascheck/project/discovery.py: with open(path, "rb") as stream:',
    # Their callers record the dependency.
    "kerascheck/project/requirements/folders.py: return sorted(name for name in os.listdir(folder) if _is_relevant(os.path.join(folder, name), name))",
    "kerascheck/project/requirements/folders.py: return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not _ASIDE.fullmatch(entry.name))",
    'kerascheck/project/requirements/sagemaker.py: return sorted(name for name in os.listdir(folder) if name.endswith((".py", ".ipynb")))[:_MOST_FILES]',
}
BROKEN = "import keras\nx = (\n"
FORMATS = ("text", "concise", *MACHINE_FORMATS)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with its settings in the parent folder, with the cache enabled."""
    monkeypatch.delenv("KERASCHECK_CACHE_DIR")
    monkeypatch.setattr(check, "_run_of", _run_of)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write(**{"data.py": HELPER, "train.py": TRAIN, "alone.py": ALONE, "broken.py": BROKEN, "pyproject.toml": ""})
    return folder


def write(**files):
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.fixture
def checked(monkeypatch):
    """Paths of the files that are checked instead of taken from the cache."""
    paths = []
    check = Analysis.check

    def counted(self, file):
        paths.append(file.path)
        return check(self, file)

    monkeypatch.setattr(Analysis, "check", counted)
    monkeypatch.setattr("kerascheck.lint.workers.can_fork", lambda: False)
    return paths


def result(*arguments):
    """Result of a run, without the suggested next command: it repeats the arguments of the run."""
    ran = kerascheck(*arguments)
    return ran.code, re.sub("(?m)^Next: .*", "", ran.out), ran.err


def linted(*arguments):
    """Check that a cached run prints the same as an uncached one, and return the output."""
    warm = result(*arguments, ".")
    assert warm == result("--no-cache", *arguments, ".")
    return warm[1]


def test_unchanged_run_checks_no_files(project, checked):
    first = result(".")
    assert set(checked) >= {"data.py", "train.py", "alone.py"}
    checked.clear()
    assert result(".") == first and checked == []
    assert (project / ".kerascheck" / "cache" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("form", FORMATS)
def test_cached_report_is_equal_in_every_format(project, checked, form):
    cold = result("--no-cache", "--output-format", form, "--min-severity", "info", ".")
    result("--min-severity", "info", ".")
    checked.clear()
    warm = result("--output-format", form, "--min-severity", "info", ".")
    assert checked == []
    assert warm == cold


EDITS = {
    "a helper": lambda: write(**{"data.py": HELPER.replace(".batch(2)", ".batch(2).prefetch(2)")}),
    "a helper, in a comment": lambda: write(**{"data.py": HELPER + "# done\n"}),
    "a caller": lambda: write(**{"train.py": TRAIN.replace("load(10)", "load(10).prefetch(2)")}),
    "a caller, which does not train": lambda: write(**{"train.py": "import data\n"}),
    "a suppression": lambda: write(**{"alone.py": ALONE.replace("  # noqa: KC101", "")}),
    "an unused suppression": lambda: write(**{"alone.py": ALONE.replace("KC101", "KC203")}),
    "a new requirement": lambda: write(**{"requirements.txt": "tensorflow==2.3\n"}),
    "a new requirement above": lambda: write(**{"../requirements.txt": "tensorflow==1.15\n"}),
    "a new folder of requirements": lambda: write(**{"requirements/base.txt": "tensorflow==1.15\n"}),
    "a setting": lambda: write(**{"pyproject.toml": '[tool.kerascheck]\nignore = ["KC1"]\n'}),
    "a setting for one file": lambda: write(
        **{"pyproject.toml": '[tool.kerascheck.per-file-ignores]\n"data.py" = ["ALL"]\n'}
    ),
    "a new caller": lambda: write(**{"other.py": TRAIN}),
    "a new caller in a folder": lambda: write(**{"scripts/other.py": "import sys\nsys.path.append('..')\n" + TRAIN}),
    "a module that shadows": lambda: write(**{"data/__init__.py": HELPER.replace("batch(2)", "batch(2).prefetch(3)")}),
    "a file that imports nothing": lambda: write(**{"new.py": "x = 1\n"}),
    "no helper": lambda: os.unlink("data.py"),
    "no caller": lambda: os.unlink("train.py"),
    "a file repaired": lambda: write(**{"broken.py": "import keras\n"}),
    "a file that git ignores": lambda: write(**{".git/HEAD": "", ".gitignore": "alone.py\n"}),
    "another name": lambda: os.rename("alone.py", "renamed.py"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_run_after_an_edit_equals_an_uncached_run(project, in_this_process, edit):
    before = linted("--output-format", "concise")
    assert "KC" in before
    edit()
    linted("--output-format", "concise")
    linted("--output-format", "json")


def test_edit_keeps_results_of_independent_files(project, checked):
    """Neighbouring files matter only by their imports and the words that they mention."""
    write(**{"pkg/__init__.py": "", "pkg/deep.py": HELPER, "pkg/user.py": TRAIN.replace("data", "pkg.deep")})
    linted("--output-format", "concise")
    for name, text, again in (
        ("alone.py", ALONE + "x = 1\n", {"alone.py"}),
        ("train.py", TRAIN + "x = 1\n", {"train.py"}),
        ("data.py", HELPER + "x = 1\n", {"data.py", "train.py"}),
        ("pkg/deep.py", HELPER + "x = 1\n", {"pkg/deep.py", "pkg/user.py"}),
    ):
        write(**{name: text})
        checked.clear()
        warm = result("--output-format", "concise", ".")
        assert {name} <= set(checked) <= again
        assert warm == result("--no-cache", "--output-format", "concise", ".")


BESIDE = {
    "it comes to import it": "import alone\n",
    "it comes to import it by way of another": "import pkg.deep\n",
    "it switches to eager execution": "import alone\nimport tensorflow as tf\ntf.config.run_functions_eagerly(True)\n",
    "it shows one GPU": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nimport alone\n",
    "it opens a session": "import alone\nimport tensorflow as tf\nsess = tf.Session()\n",
    "it cannot be read": "# coding: none\n",
    "its imports become a text": '"""\nimport alone\n"""\n',
    "it looks elsewhere": "import sys\nsys.path.append('pkg')\nimport deep\n",
}


@pytest.mark.parametrize("before", [BESIDE["it comes to import it"], BESIDE["it cannot be read"], "x = 1\n"])
@pytest.mark.parametrize("after", BESIDE.values(), ids=BESIDE)
def test_edit_of_a_neighbouring_script_is_noticed(project, in_this_process, before, after):
    write(**{"pkg/__init__.py": "", "pkg/deep.py": "import alone\n", "main.py": before})
    linted("--output-format", "json", "--pedantic")
    write(**{"main.py": after})
    linted("--output-format", "json", "--pedantic")
    write(**{"pkg/deep.py": "x = 1\n"})
    linted("--output-format", "json", "--pedantic")


@pytest.mark.parametrize("key", ["found", "graph", "imports", "kind", "check"])
@pytest.mark.parametrize("other", ["x", {}, [[1, 2]], ["../../secret", 3], [["x", []], []]])
def test_forged_parts_raise_no_exception(project, in_this_process, key, other):
    result(".")
    (path,) = (path for path in files(project) if ".parts" in path.name)
    content = json.loads(path.read_bytes().partition(b"\n")[2])
    forged = [name for name in content["entries"] if name.split()[0] == key]
    assert forged
    for name in forged:
        content["entries"][name][0] = other
    path.write_bytes(signed(content))
    write(**{"new.py": "x = 1\n"})
    code, _, err = result(".")
    assert code in (0, 1, 2) and "Traceback" not in err and "fault" not in err


def test_consecutive_edits_are_noticed(project, in_this_process):
    """Results of a renewed dependency do not mix with those of the previous one."""
    linted("--output-format", "concise")
    for round in range(3):
        for edit in list(EDITS.values())[:4]:
            edit()
            linted("--output-format", "concise")
        write(**{"data.py": HELPER, "train.py": TRAIN, f"more{round}.py": ALONE})
        linted("--output-format", "concise")


def test_edit_of_an_extended_configuration_is_noticed(project, in_this_process):
    write(**{"pyproject.toml": '[tool.kerascheck]\nextend = "../base.toml"\n', "../base.toml": "ignore = ['KC103']\n"})
    assert "KC103" not in linted("--output-format", "concise")
    write(**{"../base.toml": "ignore = ['KC102']\n"})
    assert "KC103" in linted("--output-format", "concise")
    os.unlink("../base.toml")
    assert "no such configuration file" in result(".")[2]


def test_edited_requirement_is_noticed(project, in_this_process):
    write(**{"requirements.txt": "tensorflow==2.15\n"})
    linted("--output-format", "json")
    write(**{"requirements.txt": "tensorflow==1.15\n"})
    linted("--output-format", "json")


def test_edit_that_keeps_size_and_time_is_noticed(project, in_this_process):
    linted("--output-format", "concise")
    status = os.stat("alone.py")
    write(**{"alone.py": ALONE.replace("range(10)", "range(90)").replace("  # noqa: KC101", "  # nope: KC101")})
    os.utime("alone.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert os.stat("alone.py").st_size == status.st_size
    linted("--output-format", "concise")


def test_changed_timestamp_alone_keeps_results(project, checked):
    first = result(".")
    for name in ("data.py", "train.py", "alone.py"):
        os.utime(name, ns=(0, 0))
    checked.clear()
    assert result(".") == first and checked == []


@pytest.mark.parametrize(
    "other",
    [
        ["--select", "KC101"],
        ["--pedantic"],
        ["--target-tensorflow", "2.3"],
        ["--isolated"],
        ["--shard", "1/2"],
        ["--ignore-noqa"],
        ["--config", "select = ['KC101']"],
    ],
)
def test_other_options_do_not_share_results(project, in_this_process, other):
    linted("--output-format", "concise")
    linted("--output-format", "concise", *other)


def test_fixes_use_the_current_files(project, checked):
    result(".")
    write(**{"alone.py": ALONE.replace("range(10)", "range(11)")})
    result("--fix", ".")
    assert "range(11)" in Path("alone.py").read_text()
    checked.clear()
    result("--diff", ".")
    assert checked


def files(folder):
    return sorted(path for path in (folder / ".kerascheck" / "cache").iterdir() if path.suffix == ".json")


HOSTILE = {
    "empty": b"",
    "cut": None,
    "no digest": b"{}",
    "random": os.urandom(3000),
    "deep": b"[" * 100_000,
}


def signed(content):
    text = json.dumps(content).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode() + b"\n" + text


@pytest.mark.parametrize("damage", HOSTILE.values(), ids=HOSTILE)
def test_damaged_file_is_rewritten(project, checked, damage):
    first = result(".")
    for path in files(project):
        path.write_bytes(path.read_bytes()[:-100] if damage is None else damage)
    checked.clear()
    assert result(".") == first and checked
    checked.clear()
    assert result(".") == first and not checked


def _other_json(chance, text):
    """JSON of another shape, or with wrong types, in a file whose digest is right."""
    content = json.loads(text)
    wrong = [None, True, -1, 10**40, 1e308, "x", "../../secret", [], {}, [[[]]], {"a": [None]}, ["x"] * 50]
    if chance.random() < 0.2:
        return signed(chance.choice(wrong))
    places = list(_places(content))
    for _ in range(chance.randint(1, 8)):
        holder, key = chance.choice(places)
        holder[key] = chance.choice(wrong)
    return signed(content)


def _places(value):
    """All pairs of a list or dict in some JSON and a key of it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _with_other_bytes(chance, text):
    data = bytearray(text)
    for _ in range(chance.randint(1, 20)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


# Damage by a disk or a kill. Each function gets a random number generator and the bytes of a file.
DAMAGES = {
    "truncated": lambda chance, data: data[: chance.randrange(len(data))],
    "other bytes": _with_other_bytes,
    "random bytes": lambda chance, data: chance.randbytes(chance.randint(0, 5000)),
    "zeros": lambda chance, data: bytes(chance.randint(1, len(data))),
    "twice": lambda chance, data: data * 2,
    "lines in another order": lambda chance, data: b"\n".join(data.split(b"\n")[::-1]),
    "no digest": lambda chance, data: data.partition(b"\n")[2],
    "a huge number": lambda chance, data: signed_bytes(b"9" * chance.randint(4000, 9000)),
    "deep": lambda chance, data: signed_bytes(b"[" * 100_000 + b"]" * 100_000),
    "another message": lambda chance, data: data.replace(b"once per element", b"never"),
    "deep in an object": lambda chance, data: signed_bytes(b'{"entries":' * 50_000),
}


def signed_bytes(text):
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode() + b"\n" + text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_never_changes_a_report(project, in_this_process, damage, seed):
    chance = random.Random(f"{seed}")
    wanted = result("--no-cache", "--output-format", "json", ".")
    result("--output-format", "json", ".")
    chosen = files(project) if seed % 2 else [chance.choice(files(project))]
    for path in chosen:
        path.write_bytes(damage(chance, path.read_bytes()))
    for _ in range(2):
        assert result("--output-format", "json", ".") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_forged_json_raises_no_exception(project, in_this_process, seed):
    """The digest is valid, so the content may be used; malformed parts count as missing."""
    chance = random.Random(seed)
    result(".")
    for path in files(project):
        path.write_bytes(_other_json(chance, path.read_bytes().partition(b"\n")[2]))
    code, _, err = result(".")
    assert code in (0, 1, 2) and "Traceback" not in err and "fault" not in err
    write(**{"new.py": "x = 1\n"})
    code, _, err = result(".")
    assert code in (0, 1, 2) and "Traceback" not in err and "fault" not in err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("begun", ["before the first run", "after an edit"])
def test_kill_during_a_cache_write_changes_no_report(project, in_this_process, begun):
    if begun == "after an edit":
        result(".")
        write(**{"data.py": HELPER.replace(".batch(2)", ".batch(2).prefetch(2)")})
    shutil.copytree(project, project.parent / "as it was")
    wanted = result("--no-cache", ".")
    for line in moments(lambda: kerascheck("."), "kerascheck/cache/folder.py", 20):
        shutil.rmtree(project / ".kerascheck", ignore_errors=True)
        shutil.copytree(project.parent / "as it was", project, dirs_exist_ok=True)
        lines_until_killed(lambda: kerascheck("."), "kerascheck/cache/folder.py", line)
        for _ in range(2):
            assert result(".") == wanted


@pytest.mark.slow
def test_kill_at_any_time_changes_no_report(project):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    wanted = result("--no-cache", ".")
    began = time.monotonic()
    subprocess.run(_command(), env=environment, capture_output=True, timeout=120)
    seconds = time.monotonic() - began
    for moment in range(20):
        shutil.rmtree(project / ".kerascheck", ignore_errors=True)
        with subprocess.Popen(
            _command(), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(seconds * moment / 20)
            process.kill()
        assert result(".") == wanted


@pytest.mark.parametrize(
    "part", ["dependencies", "settings", "found", "findings", "errors", "sources", "files", "rules"]
)
@pytest.mark.parametrize("other", [None, {}, [[]], [["digest", 3, 4, 5]], [["os.system", "x", "y", None]]])
def test_forged_file_raises_no_exception(project, in_this_process, part, other):
    first = result(".")
    (head,) = (path for path in files(project) if ".parts" not in path.name)
    content = json.loads(head.read_bytes().partition(b"\n")[2])
    if content[part] == other:
        return
    content[part] = other
    head.write_bytes(signed(content))
    code, _, err = result(".")
    assert "Traceback" not in err and "fault" not in err
    # A file with a valid digest is trusted if its content has the right form.
    assert code in (first[0], 0, 1)


def test_forged_entry_cannot_reveal_other_files(project, in_this_process, tmp_path):
    (tmp_path / "secret.py").write_text("secret = 1\n")
    result(".")
    (head,) = (path for path in files(project) if ".parts" not in path.name)
    text = head.read_bytes().partition(b"\n")[2].decode().replace("alone.py", "../secret.py")
    head.write_bytes(signed(json.loads(text)))
    assert "secret" not in result(".")[1]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder_disables_the_cache(project, in_this_process):
    project.chmod(0o500)
    try:
        assert result(".") == result("--no-cache", ".")
    finally:
        project.chmod(0o700)


def test_file_in_place_of_the_folder_disables_the_cache(project, in_this_process):
    (project / ".kerascheck").write_text("")
    linted("--output-format", "concise")
    ran = kerascheck("--cache-dir", ".kerascheck/cache", ".")
    assert ran.err.count("nothing can be written there") == 1 and ran.code == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_in_place_of_files_do_not_block(project):
    def ended(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(_command(*arguments), env=environment, capture_output=True, timeout=60)

    first = ended()
    names = [path.name for path in files(project)]
    folder = project / ".kerascheck" / "cache"
    for name in (*names, ".gitignore", "../evidence.json"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    again, clean = ended(), ended("clean")
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    assert clean.returncode == 0 and not any((folder / name).is_file() for name in names)


@pytest.mark.parametrize("link", [".kerascheck", ".kerascheck/cache", "named"])
def test_symlinked_folder_is_not_followed(project, in_this_process, tmp_path, link):
    there = tmp_path / "elsewhere" / "cache"
    there.mkdir(parents=True)
    entry = there / f"{'0' * 32}.json"
    entry.write_text("{}")
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(there.parent if link == ".kerascheck" else there)
    options = ("--cache-dir", "named") if link == "named" else ()
    assert result(*options, ".")[:2] == result("--no-cache", ".")[:2]
    assert os.listdir(there) == [entry.name]
    ran = kerascheck("clean", *options)
    assert ran.code == 2 and ran.err.endswith("it is a symbolic link; name the folder that it leads to\n")
    assert entry.exists()


def test_world_writable_folder_is_not_used(project, in_this_process):
    project.chmod(0o777)
    result(".")
    assert not (project / ".kerascheck").exists()


def test_cache_dir_option_selects_the_folder(project, checked, tmp_path, monkeypatch):
    first = result("--cache-dir", tmp_path / "here", ".")
    assert not (project / ".kerascheck").exists()
    monkeypatch.setenv("KERASCHECK_CACHE_DIR", str(tmp_path / "here"))
    checked.clear()
    assert result(".") == first and not checked
    assert result("--no-cache", ".")[0] == first[0] and checked


def test_clean_removes_the_cache(project, checked):
    result(".")
    (project / ".kerascheck" / "evidence.json").write_text("{}")
    (project / ".kerascheck" / "cache" / "mine.txt").write_text("mine")
    ran = kerascheck("clean")
    assert ran.code == 0 and "Removed" in ran.out
    assert {path.name for path in (project / ".kerascheck" / "cache").iterdir()} == {".gitignore", "mine.txt"}
    (project / ".kerascheck" / "cache" / "mine.txt").unlink()
    kerascheck("clean")
    assert [path.name for path in (project / ".kerascheck").iterdir()] == ["evidence.json"]
    checked.clear()
    result(".")
    assert checked


def test_clean_keeps_a_folder_with_other_files(project, tmp_path):
    (tmp_path / "mine").mkdir()
    for files in ({"a.txt": "mine"}, {".gitignore": "*.o\n"}):
        for name, text in files.items():
            (tmp_path / "mine" / name).write_text(text)
        before = {path.name: path.read_text() for path in (tmp_path / "mine").iterdir()}
        result("--cache-dir", tmp_path / "mine", ".")
        assert (tmp_path / "mine" / ".gitignore").exists() == (".gitignore" in before)
        assert "kB from" in kerascheck("clean", "--cache-dir", tmp_path / "mine").out
        assert {path.name: path.read_text() for path in (tmp_path / "mine").iterdir()} == before
        (tmp_path / "mine" / next(iter(files))).unlink()


def test_least_recently_used_entries_are_evicted_first(tmp_path, monkeypatch):
    monkeypatch.setattr("kerascheck.cache.folder._MOST_FILES", 4)
    folder = Folder(str(tmp_path / "cache"))
    names = [f"{number:032x}.json" for number in range(6)]
    for age, name in enumerate(names):
        assert folder.write({name: [name]})
        os.utime(tmp_path / "cache" / name, (1e9 + age, 1e9 + age))
    kept = {name for name in names if folder.read(name) == [name]}
    assert names[-1] in kept and names[0] not in kept and len(kept) <= 4


def test_newly_installed_rules_invalidate_results(project, checked, tmp_path, monkeypatch):
    packages = tmp_path / "packages"
    (packages / "one-1.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    result(".")
    checked.clear()
    result(".")
    assert not checked
    (packages / "other-1.0.dist-info").mkdir()
    result(".")
    assert "alone.py" in checked


def test_result_of_a_file_changed_during_the_run_is_not_kept(project, in_this_process, monkeypatch):
    check = Analysis.check

    def edited(self, file):
        found = check(self, file)
        if file.path == "alone.py":
            write(**{"data.py": HELPER.replace(".batch(2)", ".batch(2).prefetch(2)")})
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Analysis, "check", edited)
        result(".")
    linted("--output-format", "json")


def test_file_that_timed_out_is_retried(project, checked, monkeypatch):
    """All other files come from the cache."""
    check = Analysis.check

    def failing(self, file):
        found = check(self, file)
        if file.path == "alone.py":
            found.follows_from = None
        return found

    monkeypatch.setattr(Analysis, "check", failing)
    first = result(".")
    checked.clear()
    assert result(".") == first and checked == ["alone.py"]
    monkeypatch.setattr(Analysis, "check", check)
    result(".")
    checked.clear()
    assert result(".") == first and checked == []


def test_disk_reads_are_tracked_as_dependencies():
    """Only :mod:`kerascheck.source.dependencies` reads the disk; an untracked read would make cached results stale."""
    direct = re.compile(
        r"os\.path\.(?:exists|isfile|isdir|islink)\(|(?<!dependencies)\.(?:is_file|is_dir|exists|iterdir|glob|read_text|read_bytes)\(|"
        r"os\.(?:listdir|scandir|stat)\(|(?<![\w.])open\("
    )
    folders = ("source", "project", "syntax", "interpreter", "meaning", "knowledge", "api", "fixes")
    modules = [path for folder in folders for path in sorted((ROOT / "kerascheck" / folder).rglob("*.py"))]
    modules.append(ROOT / "kerascheck" / "lint" / "analyze_file.py")
    modules += sorted((ROOT / "rules").glob("*/*/rule.py"))
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {line.strip()}"
        for path in modules
        # These modules write files or run other programs.
        if path.name not in ("dependencies.py", "writing.py", "deadline.py", "patch.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if direct.search(line) and not line.strip().startswith("#")
    }
    assert found == NOTED_OTHERWISE


def _command(*arguments):
    return [sys.executable, "-m", "kerascheck", *arguments, "."]


def test_unchanged_run_does_not_import_libcst(project):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = "import sys; from kerascheck.cli import main\ntry: main.main(['.'])\nfinally: print('libcst' in sys.modules, file=sys.stderr)"
    ran = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [each.stderr.splitlines()[-1] for each in ran] == ["True", "False"]
    assert ran[0].stdout == ran[1].stdout and "KC" in ran[0].stdout


def test_concurrent_processes_share_the_cache(project):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def start():
        return subprocess.Popen(_command(), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    ran = [process.communicate() for process in [start() for _ in range(3)]]
    ran.append(start().communicate())
    assert len(set(ran)) == 1 and "KC" in ran[0][0]


def test_cache_size_is_linear_in_the_number_of_files(project, in_this_process):
    sizes = []
    for count in (200, 800):
        for number in range(count):
            Path(f"module_{number}.py").touch()
        kerascheck(".")
        sizes.append(max(each.stat().st_size for each in Path(".kerascheck/cache").iterdir()))
    assert sizes[1] < 4.5 * sizes[0]


@pytest.mark.parametrize(
    ("numbers", "text"), [(set(), ""), ({0}, "0"), ({3, 4, 5, 9}, "3+2 4"), ({7, 0, 1, 1000}, "0+1 6 993")]
)
def test_set_of_dependencies_is_run_length_encoded(numbers, text):
    assert packed(numbers) == text and is_packed(text)
    for number in range(12):
        assert meets(text, [number]) is (number in numbers)
    assert meets(text, sorted({2, 1000} & numbers)) is (1000 in numbers)


@pytest.mark.parametrize("text", ["x", "1 2\n3", "-1", "1+", "9999999999", 7, None, ["1"]])
def test_malformed_set_of_dependencies_is_rejected(text):
    assert not is_packed(text)


@pytest.mark.slow
def test_cached_run_of_many_files_uses_little_memory(tmp_path):
    """20,000 empty files took 655 MB with entries as wide as the run; 100,000 now take 290 MB (benchmarks/scale.py)."""
    (tmp_path / ".git").mkdir()
    for number in range(20_000):
        folder = tmp_path / f"package_{number // 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"part_{number}.py").touch()
    for _ in range(2):
        assert most_memory("check", "--isolated", tmp_path) < 150 << 10


def most_memory(*arguments):
    """Peak memory of the largest process of a run, in kilobytes."""
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", measure, sys.executable, "-m", "kerascheck", *map(str, arguments)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
