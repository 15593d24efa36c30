import json
import os
import shutil
import subprocess
import sys
import unicodedata
from urllib.parse import unquote_to_bytes

import pytest
from command import kerascheck

from kerascheck.source.escape import as_json, escaped, shell_word

STEERING = "new\n::error::x.py", "esc\x1b[31m.py", "right\u202eto left.py", "line\u2028.py", os.fsdecode(b"byte\xff.py")
PLAIN = "space\u3000 \xa0.py", "ä 'quoted' \\.py"
SLOW = (
    "from tensorflow import keras\n\nmodel = keras.models.load_model('a')\nfor row in rows:\n    model.predict(row)\n"
)
BROKEN = f"{SLOW}def (:\n"


@pytest.fixture
def named(tmp_path, monkeypatch):
    """A folder of scripts, half of them unparsable, with names that some file systems reject."""
    monkeypatch.chdir(tmp_path)
    for name in (*STEERING, *PLAIN):
        try:
            (tmp_path / name).write_text(SLOW)
            (tmp_path / f"broken {name}").write_text(BROKEN)
        except OSError:
            pytest.skip("this disk has names of UTF-8 alone")
    return tmp_path


def is_plain(text):
    return all(each.isprintable() or each == "\n" or unicodedata.category(each) == "Zs" for each in text)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a b.py", "a b.py"),
        ("ä\u3000\xa0.py", "ä\u3000\xa0.py"),
        ("a\nb\r\t\x1b[1m\x7f", "a\\nb\\r\\t\\x1b[1m\\x7f"),
        ("\u2028\u202e\U000e0001", "\\u2028\\u202e\\U000e0001"),
        (os.fsdecode(b"\xff"), "\\xff"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert escaped(text) == shown


def test_json_keeps_every_character():
    text = "".join(map(chr, range(0x3100))) + "\ud800 \udcff \U0001f600\U000e0001"
    written = as_json(text)
    assert json.loads(written) == text and is_plain(written) and "😀" in written


@pytest.mark.skipif(shutil.which("bash") is None, reason="it takes bash")
def test_shell_reads_the_same_word():
    for name in (*STEERING, *PLAIN, "back\\slash\n'quote"):
        word = shell_word(name)
        assert is_plain(word)
        printed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, env={"LC_ALL": "C.UTF-8"})
        assert printed.stdout == os.fsencode(name), word


@pytest.mark.parametrize("form", ["text", "concise", "github", "junit", "azure", "grouped", "pylint"])
def test_file_names_cannot_inject_control_sequences(named, form):
    ran = kerascheck(".", "--output-format", form)
    assert ran.code == 2 and is_plain(ran.out) and is_plain(ran.err)
    # GitHub recognises a command only at the start of a line.
    assert all(line.startswith(("::error title=", "::warning title=", "::notice title=")) for line in commands(ran.out))
    for shown in ("byte\\xff.py", "esc\\x1b[31m.py", *PLAIN[:1]):
        assert shown in ran.out


def commands(text):
    return [line for line in text.splitlines() if line.startswith("::")]


@pytest.mark.parametrize("form", ["json", "json-lines", "gitlab"])
def test_json_has_unescaped_names(named, form):
    ran = kerascheck(".", "--output-format", form)
    documents = [json.loads(ran.out)] if form != "json-lines" else list(map(json.loads, ran.out.splitlines()))
    paths = set(strings(documents))
    assert ran.code == 2 and is_plain(ran.out) and {*STEERING, *PLAIN} <= paths


def strings(value):
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(each)


@pytest.mark.parametrize("base", [".", None])
def test_sarif_percent_encodes_names(named, base, monkeypatch):
    if base is None:
        base = str(named)
        monkeypatch.chdir("/")
    ran = kerascheck(base, "--output-format", "sarif")
    (run,) = json.loads(ran.out)["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    found = {os.path.basename(unquote_to_bytes(uri)) for uri in places}
    assert found == {os.fsencode(name) for name in (*STEERING, *PLAIN)} and all(uri.isascii() for uri in places)


def test_output_file_equals_standard_output(named):
    for form in ("text", "concise", "json", "junit", "sarif"):
        # The report is no Python file, so the next run gives the same output.
        kerascheck(".", "--output-format", form, "-o", "report.txt")
        assert is_plain((named / "report.txt").read_text("utf-8"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fix", "--unsafe-fixes"],
        ["--add-noqa"],
        ["--write-baseline", "base\nline.json"],
        ["--baseline", "no\n::error::line.json"],
        ["--config", "no\n::error::.toml"],
        ["no\n::error::.py"],
        ["--show-files"],
        ["--show-settings"],
        ["-v"],
    ],
)
def test_other_output_has_no_line_breaks_from_names(named, arguments):
    (named / ".gitignore").write_text("[\n")
    os.mkfifo(named / "pipe\n::error::.py")
    ran = kerascheck(".", *arguments)
    assert is_plain(ran.out + ran.err) and not commands(ran.out + ran.err)
    assert "Traceback" not in ran.err


def test_names_from_the_cache_are_the_same(named):
    command = [sys.executable, "-m", "kerascheck", ".", "--output-format", "sarif", "--cache-dir", str(named / "cache")]
    first, second = (subprocess.run(command, capture_output=True) for _ in range(2))
    assert first.stdout == second.stdout and first.returncode == 2 and not first.stderr


def test_quoted_code_in_messages_is_escaped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.kerascheck]\n"\\u001b[1m\\n::error::" = 1\n')
    ran = kerascheck(".")
    assert ran.code == 2 and is_plain(ran.err) and not commands(ran.err)
