"""Behaviour of the server during a slow check."""

import asyncio
import threading

import pytest
from lsprotocol import types

pytest.importorskip("pygls")

from kerascheck.finding import Finding, Location, Severity
from kerascheck.lsp import language_server
from kerascheck.lsp.checker import Linted
from kerascheck.lsp.documents import EditorWorkspace
from kerascheck.lsp.language_server import Server
from kerascheck.source import Source


class SlowChecker:
    """A checker that answers only when the test allows it."""

    def __init__(self):
        self.asked, self.may_answer = [], threading.Semaphore(0)

    def lint(self, request):
        self.asked.append(request.buffer.content)
        assert self.may_answer.acquire(timeout=60)
        return Linted(Source(request.buffer.path, request.buffer.content))

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


def test_outdated_checks_are_neither_started_nor_published(server, tmp_path):
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
        # A request during the outdated check gets the current version.
        assert (await asked).document.version == 4

    asyncio.run(session())
    assert server._checker.asked == ["version 1", "version 4"]
    assert server.published == [4]


def test_request_during_a_check_gets_findings_of_the_latest_text(server, tmp_path):
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


def test_closed_document_gets_no_diagnostics(server, tmp_path):
    uri = (tmp_path / "train.py").as_uri()

    async def session():
        server.workspace.put_text_document(types.TextDocumentItem(uri, "python", 1, "version 1"))
        asked = asyncio.create_task(server.current(uri))
        await until(lambda: server._checker.asked)
        server.workspace.remove_text_document(uri)
        server.invalidate(uri, [uri])
        server._checker.may_answer.release(1)
        assert await asked is None

    asyncio.run(session())
    # The only message clears the diagnostics.
    assert server.published == [None]


def test_second_initialize_replaces_the_checker(server, tmp_path):
    closed = []
    server._checker.close = lambda: closed.append(True)
    server.begin(types.InitializeParams(types.ClientCapabilities(), root_uri=tmp_path.as_uri()))
    assert closed


class SteppingChecker(SlowChecker):
    """A checker that answers immediately, in three steps."""

    def __init__(self):
        super().__init__()
        self.steps = {}

    def lint(self, request):
        self.asked.append(request.buffer.content)
        step = self.steps[request.buffer.content] = self.steps.get(request.buffer.content, 0) + 1
        place = Location(request.buffer.path, None, 1, 1, 1, 2)
        findings = [Finding("KC101", "name", Severity.WARNING, place, f"Step {step}.")]
        return Linted(Source(request.buffer.path, request.buffer.content), findings, is_whole=step == 3)


@pytest.fixture
def stepping(server, monkeypatch):
    server._checker = SteppingChecker()
    monkeypatch.setattr(language_server, "_PAUSE_SECONDS", 0.2)
    messages = []
    monkeypatch.setattr(
        server,
        "text_document_publish_diagnostics",
        lambda params: messages.append((params.version, *(each.message for each in params.diagnostics))),
    )
    server.messages = messages
    return server


def put(server, path, text="version 1"):
    server.workspace.put_text_document(types.TextDocumentItem(path.as_uri(), "python", 1, text))
    server.touch(path.as_uri())
    return path.as_uri()


def test_own_findings_are_published_first_and_all_findings_last(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: len(stepping.messages) == 2)
        assert (await stepping.current(uri)).linted.is_whole

    asyncio.run(session())
    assert stepping.messages == [(1, "Step 1."), (1, "Step 3.")]
    assert stepping._checker.asked == 3 * ["version 1"]


def test_importers_are_checked_after_a_pause_in_typing(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.messages)
        type_text(stepping, uri, 2)
        await until(lambda: len(stepping.messages) == 3)
        await asyncio.sleep(0.3)

    asyncio.run(session())
    assert stepping.messages == [(1, "Step 1."), (2, "Step 1."), (2, "Step 3.")]
    assert stepping._checker.asked == ["version 1", *3 * ["version 2"]]


def test_importers_are_checked_after_a_pause_in_other_files(stepping, tmp_path):
    """Otherwise each step would start again, because the text of the other file changes."""

    async def session():
        put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.messages)
        uri = put(stepping, tmp_path / "other.py", "other")
        for version in range(2, 8):
            type_text(stepping, uri, version)
            await asyncio.sleep(0.1)
        assert stepping._checker.asked.count("version 1") == 1
        await until(lambda: (1, "Step 3.") in stepping.messages)

    asyncio.run(session())


def test_importers_do_not_delay_other_requests(stepping, tmp_path, monkeypatch):
    """A new request waits for the current step, not for all importers."""
    lint = stepping._checker.lint

    def lint_slowly(request):
        if request.buffer.content == "version 1" and len(stepping._checker.asked) == 1:
            loop.call_soon_threadsafe(put, stepping, tmp_path / "other.py", "other")
            assert stepping._checker.may_answer.acquire(timeout=60)
        return lint(request)

    monkeypatch.setattr(stepping._checker, "lint", lint_slowly)

    async def session():
        nonlocal loop
        loop = asyncio.get_running_loop()
        put(stepping, tmp_path / "train.py")
        await until(lambda: (tmp_path / "other.py").as_uri() in stepping._open)
        await asyncio.sleep(0.05)
        stepping._checker.may_answer.release()
        await until(lambda: len(stepping.messages) == 4)

    loop = None
    asyncio.run(session())
    assert stepping._checker.asked[:3] == ["version 1", "version 1", "other"]


def test_importers_of_a_closed_document_are_not_checked(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.messages)
        stepping.workspace.remove_text_document(uri)
        stepping.invalidate(uri, [uri])
        await asyncio.sleep(0.4)

    asyncio.run(session())
    assert stepping._checker.asked == ["version 1"] and stepping.messages == [(1, "Step 1."), (None,)]


@pytest.mark.parametrize("refreshes", [True, False])
def test_pulled_diagnostics_are_complete(stepping, tmp_path, monkeypatch, refreshes):
    refreshed = []
    monkeypatch.setattr(stepping, "workspace_diagnostic_refresh", refreshed.append)
    stepping.protocol.client_capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=refreshes)
        ),
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    )

    async def session():
        uri = put(stepping, tmp_path / "train.py")
        first = await stepping.diagnostics(uri)
        if refreshes:
            await until(lambda: refreshed)
        return first, await stepping.diagnostics(uri)

    answers = [[each.message for each in answer.items] for answer in asyncio.run(session())]
    assert answers == [["Step 1."] if refreshes else ["Step 3."], ["Step 3."]]
    assert len(refreshed) == refreshes and not stepping.messages
