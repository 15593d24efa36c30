"""What the server does while a check takes its time."""

import asyncio
import threading

import pytest
from lsprotocol import types

pytest.importorskip("pygls")

from kerascheck.server.checker import Linted
from kerascheck.server.documents import EditorWorkspace
from kerascheck.server.language_server import Server
from kerascheck.source import Source


class SlowChecker:
    """Answers as soon as it is let."""

    def __init__(self):
        self.asked, self.may_answer = [], threading.Semaphore(0)

    def lint(self, question):
        self.asked.append(question.buffer.content)
        assert self.may_answer.acquire(timeout=60)
        return Linted(Source(question.buffer.path, question.buffer.content))

    def close(self):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = Server()
    server.protocol._workspace = EditorWorkspace(tmp_path.as_uri())
    server.protocol.client_capabilities = types.ClientCapabilities()
    server._checker = SlowChecker()
    server.published = []
    monkeypatch.setattr(
        server, "text_document_publish_diagnostics", lambda params: server.published.append(params.version)
    )
    yield server
    server.end()


def type_text(server, uri, version):
    change = types.TextDocumentContentChangeWholeDocument(f"version {version}")
    identifier = types.VersionedTextDocumentIdentifier(version, uri)
    server.workspace.update_text_document(identifier, change)
    server.touch(uri)


async def until(ready):
    for _ in range(6000):
        if ready():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


def test_what_is_outdated_is_neither_told_nor_begun(server, tmp_path):
    uri = (tmp_path / "train.py").as_uri()

    async def session():
        server.workspace.put_text_document(types.TextDocumentItem(uri, "python", 1, "version 1"))
        server.touch(uri)
        await until(lambda: server._checker.asked)
        asked = asyncio.create_task(server.current(uri))
        for version in (2, 3, 4):
            type_text(server, uri, version)
            await asyncio.sleep(0)
        server._checker.may_answer.release(2)
        await until(lambda: server.published)
        # Who asked while it was outdated is told of what is there now.
        assert (await asked).document.version == 4

    asyncio.run(session())
    assert server._checker.asked == ["version 1", "version 4"]
    assert server.published == [4]


def test_who_asks_during_a_check_is_told_of_what_was_typed_since(server, tmp_path):
    uri = (tmp_path / "train.py").as_uri()

    async def session():
        server.workspace.put_text_document(types.TextDocumentItem(uri, "python", 1, "version 1"))
        asked = asyncio.create_task(server.current(uri))
        await until(lambda: server._checker.asked)
        change = types.TextDocumentContentChangeWholeDocument("version 2")
        server.workspace.update_text_document(types.VersionedTextDocumentIdentifier(2, uri), change)
        server._checker.may_answer.release(2)
        assert (await asked).document.version == 2

    asyncio.run(session())
    assert server.published == [2]


def test_a_closed_document_is_not_told_of(server, tmp_path):
    uri = (tmp_path / "train.py").as_uri()

    async def session():
        server.workspace.put_text_document(types.TextDocumentItem(uri, "python", 1, "version 1"))
        asked = asyncio.create_task(server.current(uri))
        await until(lambda: server._checker.asked)
        server.workspace.remove_text_document(uri)
        server.forget(uri, [uri])
        server._checker.may_answer.release(1)
        assert await asked is None

    asyncio.run(session())
    # The one is what clears it.
    assert server.published == [None]
