"""Malformed messages, and a long series of random edits."""

import contextlib
import json
import random
import subprocess
import threading

import pytest
from server.session import COMMAND, SLOW, Plain

pytestmark = pytest.mark.slow
_PATIENCE = 120  # seconds until an unresponsive server is killed


def framed(body, length=None):
    return b"Content-Length: %d\r\n\r\n%s" % (len(body) if length is None else length, body)


def message(**members):
    return framed(json.dumps({"jsonrpc": "2.0", **members}).encode())


def changed(*changes, uri="URI", version=7):
    return message(
        method="textDocument/didChange",
        params={"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
    )


def opened(text, uri="URI", version=1):
    document = {"uri": uri, "languageId": "python", "version": version, "text": text}
    return message(method="textDocument/didOpen", params={"textDocument": document})


def edit(start, end, text):
    span = {"start": dict(zip(("line", "character"), start)), "end": dict(zip(("line", "character"), end))}
    return {"range": span, "text": text}


def at(line, character, method="textDocument/hover"):
    params = {"textDocument": {"uri": "URI"}, "position": {"line": line, "character": character}}
    return message(id="odd", method=method, params=params)


# "URI" stands for the URI of the open document.
MESSAGES = {
    "a length that is too short": framed(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}', 9),
    "a length that is too long": framed(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}', 90),
    "a length of nothing": framed(b"", 0),
    "a negative length": framed(b"{}", -5),
    "a length that is no number": b"Content-Length: many\r\n\r\n{}",
    "a huge length": framed(b"{}", 10**15),
    "no header": b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}\r\n',
    "an empty header": b"\r\n\r\n\r\n",
    "another header": b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
    "bytes of no meaning": bytes(range(256)) + b"\r\n",
    "invalid JSON": framed(b"{not JSON}"),
    "half of some JSON": framed(b'{"jsonrpc": "2.0", "method":'),
    "JSON that is not UTF-8": framed(b'{"jsonrpc": "2.0", "method": "\xff\xfe"}'),
    "a number": framed(b"5"),
    "a list": framed(b"[1, 2]"),
    "an empty object": framed(b"{}"),
    "null": framed(b"null"),
    "deep JSON": framed(b"[" * 100_000 + b"]" * 100_000),
    "a huge number": message(id="odd", method="shutdow", params=[10**400]),
    "an unknown request": message(id="odd", method="textDocument/none", params={}),
    "an unknown notification": message(method="$/none", params={}),
    "no method": message(id="odd"),
    "a method that is no text": message(id="odd", method=5),
    "parameters of a wrong type": message(method="textDocument/didOpen", params=5),
    "parameters that are missing": message(id="odd", method="textDocument/hover", params={}),
    "members of a wrong type": message(method="textDocument/didChange", params={"textDocument": [], "contentChanges": 5}),
    "a null id": message(id=None, method="textDocument/hover", params=None),
    "an id that is a list": message(id=[1], method="textDocument/hover", params=None),
    "an answer to nothing": message(id="unasked", result={}),
    "an error without an id": message(id=None, error={"code": 1, "message": "x"}),
    "a cancellation of nothing": message(method="$/cancelRequest", params={"id": 999}),
    "a change of what is not open": changed({"text": "x"}, uri="file:///none.py"),
    "a close of what is not open": message(
        method="textDocument/didClose", params={"textDocument": {"uri": "file:///none.py"}}
    ),
    "a document that is no file": opened("import keras\n", uri="nothing:///x.py"),
    "a URI that is none": opened("import keras\n", uri="::%zz\0"),
    "opened twice": opened(SLOW, version=2),
    "positions behind the end": changed(edit((90, 0), (99, 9), "# added\n")),
    "a start behind its end": changed(edit((3, 3), (1, 1), "")),
    "a hover behind the end": at(10**6, 10**6),
    "a hover at a huge position": at(2**31 - 1, 2**31 - 1),
    "a negative position": at(-1, -1),
    "a position that is no number": at("x", None),
    "a lone surrogate": changed({"text": SLOW + "x = '\ud800'\n"}),
    "null bytes": changed({"text": SLOW + "\0"}),
    "changes of an older version": changed({"text": SLOW}, version=-3),
    "initialized twice": message(id="odd", method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}}),
    "settings of a wrong type": message(method="workspace/didChangeConfiguration", params={"settings": [5]}),
    "a command that there is not": message(
        id="odd", method="workspace/executeCommand", params={"command": "none", "arguments": [1]}
    ),
    "an action without a range": message(
        id="odd", method="textDocument/codeAction", params={"textDocument": {"uri": "URI"}, "range": None, "context": {}}
    ),
    "data of another server": message(
        id="odd", method="codeAction/resolve", params={"title": "x", "kind": "source.fixAll", "data": [1, {"uri": 5}]}
    ),
    "a notebook without cells": message(
        method="notebookDocument/didChange",
        params={"notebookDocument": {"uri": "file:///a.ipynb", "version": 1}, "change": {"cells": None}},
    ),
}  # fmt: skip


def with_uri(odd, uri):
    """Insert the URI of the open document into a message, and update its length."""
    if b'"URI"' not in odd:
        return odd
    return framed(odd.partition(b"\r\n\r\n")[2].replace(b'"URI"', json.dumps(uri).encode()))


@contextlib.contextmanager
def killed_if_unresponsive(server):
    """Kill a server that a test waits for too long. A test may wait long for others, so each begins anew."""
    ended = threading.Timer(_PATIENCE, server.kill)
    ended.start()
    try:
        yield
    finally:
        ended.cancel()


@contextlib.contextmanager
def served(folder):
    """A server and its minimal client."""
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
    ) as server:
        try:
            plain = Plain(server)
            with killed_if_unresponsive(server):
                plain.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
                plain.notify("initialized", {})
            yield server, plain
            with killed_if_unresponsive(server):
                plain.ask("shutdown", None)
                plain.notify("exit", None)
            assert server.wait(_PATIENCE) == 0
        finally:
            server.kill()


@pytest.fixture(scope="module")
def one_server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def shared(one_server):
    """One server for all messages: none may end it or change its later answers."""
    with killed_if_unresponsive(one_server[0]):
        yield one_server


def published(plain, uri):
    """The codes in the next diagnostics of a document."""
    while (params := plain.diagnostics())["uri"] != uri:
        pass
    return [each["code"] for each in params["diagnostics"]]


@pytest.mark.parametrize("odd", MESSAGES.values(), ids=MESSAGES)
def test_malformed_message_affects_only_itself(shared, tmp_path, odd):
    server, plain = shared
    uri, other = ((tmp_path / name).as_uri() for name in ("train.py", "other.py"))
    plain.open(uri, SLOW)
    assert published(plain, uri) == ["KC101", "KC306"]
    server.stdin.write(with_uri(odd, uri))
    server.stdin.flush()
    # A length that is too long swallows the next message.
    plain.notify("$/setTrace", {"value": "off"})
    plain.open(other, SLOW)
    assert published(plain, other) == ["KC101", "KC306"]


PROGRAM = """\
import tensorflow as tf
dataset = tf.data.Dataset.from_tensor_slices((tf.zeros([1000, 4]), tf.zeros([1000])))
dataset = dataset.map(lambda row, label: (row / 255.0, label)).batch(256)
# \U0001f600 é
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(dataset, epochs=3)
"""
LINES = (
    *PROGRAM.splitlines(keepends=True),
    "\n",
    "x = '\U0001f600'; y = 1\n",
    "dataset = dataset.shuffle(9)\n",
    "\U0001f600(\n",
)


def _random_edit(chance, text):
    """A random edit for the protocol, and the resulting text; most edits keep it a valid program."""
    kind, starts = chance.random(), [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    start = end = chance.choice(starts)
    content = chance.choice(LINES[:-1])
    if kind < 0.02:
        start, content = chance.randint(0, len(text)), chance.choice(["(", '"""', "\U0001f600", "", LINES[-1]])
        end = min(len(text), start + chance.randint(0, 9))
    elif kind < 0.3 and "#" in text:
        start = end = text.index("#") + 1
        content = chance.choice([" é", "\U0001f600", "x"])
    elif kind < 0.7:
        # Delete a line; the last one may lack a newline.
        end = text.find("\n", start) + 1 or start
    return edit(_position(text, start), _position(text, end), content), text[:start] + content + text[end:]


def _position(text, offset):
    before = text[:offset]
    return before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2


def test_a_thousand_edits_equal_a_fresh_open(tmp_path):
    chance, uri, seen, rounds = random.Random(1), (tmp_path / "train.py").as_uri(), set(), 20
    asked = {"textDocument": {"uri": uri}}
    with served(tmp_path) as (server, plain), killed_if_unresponsive(server):
        for _ in range(rounds):
            text = PROGRAM
            plain.open(uri, text)
            for version in range(1000 // rounds):
                change, text = _random_edit(chance, text)
                document = {"uri": uri, "version": 2 + version}
                plain.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            edited = plain.ask("textDocument/diagnostic", asked)["result"]["items"]
            plain.notify("textDocument/didClose", asked)
            plain.open(uri, text)
            assert plain.ask("textDocument/diagnostic", asked)["result"]["items"] == edited, text
            plain.notify("textDocument/didClose", asked)
            seen |= {each["code"] for each in edited}
    assert {"KC103", "KC999"} <= seen
