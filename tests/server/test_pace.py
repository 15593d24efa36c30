"""What the server does while a check takes its time."""

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
    """Answers as soon as it is let."""

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
        server.invalidate(uri, [uri])
        server._checker.may_answer.release(1)
        assert await asked is None

    asyncio.run(session())
    # The one is what clears it.
    assert server.published == [None]


def test_an_editor_that_begins_twice_has_one_checker(server, tmp_path):
    closed = []
    server._checker.close = lambda: closed.append(True)
    server.begin(types.InitializeParams(types.ClientCapabilities(), root_uri=tmp_path.as_uri()))
    assert closed


class SteppingChecker(SlowChecker):
    """Answers at once, in three steps."""

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
    told = []
    monkeypatch.setattr(
        server,
        "text_document_publish_diagnostics",
        lambda params: told.append((params.version, *(each.message for each in params.diagnostics))),
    )
    server.told = told
    return server


def put(server, path, text="version 1"):
    server.workspace.put_text_document(types.TextDocumentItem(path.as_uri(), "python", 1, text))
    server.touch(path.as_uri())
    return path.as_uri()


def test_what_a_file_says_itself_is_told_first_and_all_in_the_end(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: len(stepping.told) == 2)
        assert (await stepping.current(uri)).linted.is_whole

    asyncio.run(session())
    assert stepping.told == [(1, "Step 1."), (1, "Step 3.")]
    assert stepping._checker.asked == 3 * ["version 1"]


def test_other_files_are_asked_when_nobody_types(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.told)
        type_text(stepping, uri, 2)
        await until(lambda: len(stepping.told) == 3)
        await asyncio.sleep(0.3)

    asyncio.run(session())
    assert stepping.told == [(1, "Step 1."), (2, "Step 1."), (2, "Step 3.")]
    assert stepping._checker.asked == ["version 1", *3 * ["version 2"]]


def test_other_files_are_asked_when_nobody_types_elsewhere(stepping, tmp_path):
    """Each step would begin anew, for another text of the other file."""

    async def session():
        put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.told)
        uri = put(stepping, tmp_path / "other.py", "other")
        for version in range(2, 8):
            type_text(stepping, uri, version)
            await asyncio.sleep(0.1)
        assert stepping._checker.asked.count("version 1") == 1
        await until(lambda: (1, "Step 3.") in stepping.told)

    asyncio.run(session())


def test_other_files_make_nobody_wait(stepping, tmp_path, monkeypatch):
    """What is asked while they are comes after those that are being asked, not after all."""
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
        await until(lambda: len(stepping.told) == 4)

    loop = None
    asyncio.run(session())
    assert stepping._checker.asked[:3] == ["version 1", "version 1", "other"]


def test_what_is_closed_is_asked_about_no_more(stepping, tmp_path):
    async def session():
        uri = put(stepping, tmp_path / "train.py")
        await until(lambda: stepping.told)
        stepping.workspace.remove_text_document(uri)
        stepping.invalidate(uri, [uri])
        await asyncio.sleep(0.4)

    asyncio.run(session())
    assert stepping._checker.asked == ["version 1"] and stepping.told == [(1, "Step 1."), (None,)]


@pytest.mark.parametrize("refreshes", [True, False])
def test_who_asks_for_diagnostics_is_told_of_all(stepping, tmp_path, monkeypatch, refreshes):
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
    assert len(refreshed) == refreshes and not stepping.told
