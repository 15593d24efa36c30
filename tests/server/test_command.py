"""The server command and the life of its processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import kerascheck
from server.session import COMMAND, SLOW, Plain

from kerascheck.lsp.checker import Buffer, Checker, Lint, Start

ROOT = Path(__file__).resolve().parents[2]


def test_missing_pygls_is_one_line_with_the_install_command(monkeypatch):
    monkeypatch.setattr("kerascheck.cli.server.find_spec", lambda name: None)
    ran = kerascheck("server")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "kerascheck: error: the language server needs pygls 2: pip install 'kerascheck[server]'\n"


def test_linter_does_not_need_pygls(tmp_path):
    (tmp_path / "train.py").write_text(SLOW)
    code = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "from kerascheck.cli.main import main\n"
        "main(sys.argv[1:])"
    )
    for arguments in (["--help"], ["train.py", "--isolated"]):
        ran = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (int("train.py" in arguments), ""), ran
    assert "KC101" in ran.stdout


@pytest.fixture
def checker(tmp_path):
    checker = Checker(Start(str(tmp_path), ()))
    yield checker
    checker.close()


def request(tmp_path, text):
    return Lint(Buffer(str(tmp_path / "train.py"), text, str(tmp_path)), (), {}, 0)


@pytest.mark.slow
def test_killed_checker_costs_one_answer(checker, tmp_path):
    assert [each.code for each in checker.lint(request(tmp_path, SLOW)).findings] == ["KC101", "KC306"]
    os.kill(checker._process.pid, signal.SIGKILL)
    checker._process.wait()
    answer = checker.lint(request(tmp_path, SLOW))
    assert [each.code for each in answer.errors] == ["KC998"] and answer.findings == []
    assert [each.code for each in checker.lint(request(tmp_path, SLOW)).findings] == ["KC101", "KC306"]
    os.kill(checker._process.pid, signal.SIGKILL)
    checker._process.wait()
    assert checker.fix_all(request(tmp_path, SLOW)).edits == ()


@pytest.mark.slow
def test_modules_of_the_working_folder_are_not_imported(tmp_path):
    (tmp_path / "train.py").write_text(SLOW)
    for name in ("types", "multiprocessing", "pickle", "keras", "tensorflow", "libcst", "pygls", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n")
    start = f"import sys; sys.path[0] = {str(ROOT)!r}; from kerascheck.cli.main import main; main(['server'])"
    with subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as server:
        _begun(server, tmp_path)
        server.stdin.close()
    assert not (tmp_path / "imported").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="asks Linux for processes")
@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_all_processes_end_when_the_editor_dies(tmp_path, stream):
    """Input or output closes without a protocol message."""
    server = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        start_new_session=True,
    )
    plain = _begun(server, tmp_path)
    assert len(_group(server.pid)) >= 2
    getattr(server, stream).close()
    if stream == "stdout":
        plain.notify("textDocument/didClose", {"textDocument": {"uri": (tmp_path / "train.py").as_uri()}})
    # Reading ends when all processes with the stream have ended.
    assert server.stderr.read() == b""
    assert server.wait(30) is not None
    for _ in range(3000):
        if not _group(server.pid):
            break
        time.sleep(0.01)
    assert not _group(server.pid)


@pytest.mark.parametrize("length", [b"9" * 20, b"9" * 5000, b"999999999999"])
@pytest.mark.parametrize("body", [b"", b"{}", b"{}\r\n"])
def test_message_with_an_impossible_length_is_skipped(tmp_path, length, body):
    command = [sys.executable, "-m", "kerascheck", "server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as server:
        server.stdin.write(b"Content-Length: %s\r\n\r\n%s" % (length, body))
        plain = Plain(server)
        said = plain.ask("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        assert said["result"]["serverInfo"]["name"] == "kerascheck"
        plain.ask("shutdown", None)
        plain.notify("exit", None)
        assert b"a message is left out" in server.stderr.read()


def _begun(server, folder):
    """A client of a server that has published diagnostics of a script."""
    plain = Plain(server)
    plain.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
    plain.notify("initialized", {})
    plain.open((folder / "train.py").as_uri(), SLOW)
    assert [each["code"] for each in plain.diagnostics()["diagnostics"]] == ["KC101", "KC306"]
    return plain


def _group(leader):
    """The running processes in the session of a leader."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(stat.parent.name)
    return found


BREAKING = '''
from kerascheck.api import Rule, Severity
from kerascheck.finding import Applicability, Edit, Fix


class Breaking(Rule):
    """A fix breaks a cell.

    ## What it does

    Nothing good.
    """

    code = "KCX201"
    name = "breaking-fix"
    summary = "a fix breaks a cell"
    severity = Severity.WARNING
    triggers = ("fit(",)

    def check(self, module):
        text = module.source.text
        for call in module.run.calls:
            if call.attribute == "fit":
                place = text.index("model.fit")
                yield self.finding(call, "This breaks.", fix=Fix(Applicability.SAFE, "Break it", (Edit(place, place, "("),), obligations=("same-output",)))
            if call.attribute == "map" and "# fine" not in text:
                place = text.index("ds = ds.map")
                yield self.finding(call, "This is fine.", fix=Fix(Applicability.SAFE, "Say so", (Edit(place, place, "# fine\\n"),), obligations=("only-comments",)))
'''


def test_fix_all_skips_a_fix_that_breaks_a_cell(tmp_path):
    folder = tmp_path / "rules" / "layers" / "breaking_fix"
    folder.mkdir(parents=True)
    (folder / "rule.py").write_text(BREAKING)
    cells = [{"cell_type": "code", "source": text} for text in (SLOW[:23], SLOW[23:])]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    checker = Checker(Start(str(tmp_path), [str(tmp_path / "rules")]))
    asked = Lint(Buffer(str(tmp_path / "train.ipynb"), notebook, str(tmp_path)), (), {"select": ["KCX"]}, 0)
    assert [each.code for each in checker.lint(asked).findings] == ["KCX201", "KCX201"]
    assert [edit.content for edit in checker.fix_all(asked).edits] == ["# fine\n"]
    checker.close()
