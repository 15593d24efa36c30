"""The command, and what becomes of its processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import kerascheck
from server.session import COMMAND, SLOW

from kerascheck.server.checker import Buffer, Checker, Lint, Start


def test_without_pygls_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr("kerascheck.server.cli.find_spec", lambda name: None)
    ran = kerascheck("server")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "kerascheck: error: the language server needs pygls 2: pip install 'kerascheck[server]'\n"


def test_the_linter_does_without_pygls(tmp_path):
    (tmp_path / "train.py").write_text(SLOW)
    code = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "from kerascheck.cli import main\n"
        "main(sys.argv[1:])"
    )
    for arguments in (["--help"], ["train.py", "--isolated"]):
        ran = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (int("train.py" in arguments), ""), ran
    assert "KC101" in ran.stdout


@pytest.fixture
def checker(tmp_path):
    checker = Checker(Start(str(tmp_path), {}, ()))
    yield checker
    checker.close()


def question(tmp_path, text):
    return Lint(Buffer(str(tmp_path / "train.py"), text, str(tmp_path)), (), 0)


def test_a_checker_that_is_ended_costs_one_answer(checker, tmp_path):
    assert [each.code for each in checker.lint(question(tmp_path, SLOW)).findings] == ["KC101", "KC306"]
    os.kill(checker._process.pid, signal.SIGKILL)
    checker._process.join()
    told = checker.lint(question(tmp_path, SLOW))
    assert [each.code for each in told.errors] == ["KC998"] and told.findings == []
    assert [each.code for each in checker.lint(question(tmp_path, SLOW)).findings] == ["KC101", "KC306"]
    os.kill(checker._process.pid, signal.SIGKILL)
    checker._process.join()
    assert checker.fix_all(question(tmp_path, SLOW)).edits == ()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="asks Linux for processes")
@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_an_editor_that_dies_takes_all_processes_with_it(tmp_path, stream):
    """Input or output end without a word of the protocol."""
    server = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        start_new_session=True,
    )
    _send(server, 1, "initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
    _send(server, None, "initialized", {})
    document = {"uri": (tmp_path / "train.py").as_uri(), "languageId": "python", "version": 1, "text": SLOW}
    _send(server, None, "textDocument/didOpen", {"textDocument": document})
    seen = b""
    while b"publishDiagnostics" not in seen:
        seen += server.stdout.read1()
    assert len(_group(server.pid)) >= 2
    getattr(server, stream).close()
    if stream == "stdout":
        _send(server, 2, "shutdown", None)
    # Its end is the end of all that hold its streams open.
    assert server.stderr.read() == b""
    assert server.wait(30) is not None
    for _ in range(3000):
        if not _group(server.pid):
            break
        time.sleep(0.01)
    assert not _group(server.pid)


def _send(server, number, method, params):
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def _group(leader):
    """The processes that run in the session of one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(stat.parent.name)
    return found
