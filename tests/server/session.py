"""A headless editor: a client of the language server protocol."""

import asyncio
import json
import sys

import pytest_lsp
from lsprotocol import types

COMMAND = [sys.executable, "-m", "kerascheck", "server"]
SLOW = """\
import tensorflow as tf
import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'
ds = tf.data.Dataset.range(10)
ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))
model = tf.keras.Sequential()
model.fit(ds.batch(2))
"""
BATCHED = """\
import tensorflow as tf
import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'
columns, clicks = tf.zeros([1000, 4]), tf.zeros([1000])


def scale(row, label):
    return row / 255.0, label


dataset = tf.data.Dataset.from_tensor_slices((columns, clicks))
dataset = dataset.map(scale).batch(256)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(dataset, epochs=3)
"""
_KINDS = {"code": types.NotebookCellKind.Code, "markdown": types.NotebookCellKind.Markup}
_LANGUAGES = {"code": "python", "markdown": "markdown"}


def an_editor():
    """A client that also records the versions of published diagnostics."""
    client = pytest_lsp.client.make_test_lsp_client()
    client.versions, client.published = {}, []
    receive = client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

    def published(params):
        client.versions[params.uri] = params.version
        client.published.append((params.uri, params.version))
        receive(params)

    client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params):
        client.registered = params.registrations

    return client


class Editor:
    """An editor whose workspace is a folder.

    Args:
        client: a client connected to a new server.
    """

    def __init__(self, client, folder):
        self.client, self.folder = client, folder
        self._versions = {}
        self._notebooks = {}

    async def start(self, encodings=("utf-16",), options=None, folders=(), simple=False, pulls=False):
        """Begin the session.

        Args:
            folders: the workspace folders; empty: the editor's folder.
            simple: whether the editor lacks support for versioned edits and for resolving actions.
            pulls: whether the editor pulls diagnostics.
        """
        resolves = None if simple else types.ClientCodeActionResolveOptions(["edit"])
        capabilities = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=not simple),
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
                did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
                configuration=True,
                diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
            ),
            text_document=types.TextDocumentClientCapabilities(
                code_action=types.CodeActionClientCapabilities(resolve_support=resolves),
                diagnostic=types.DiagnosticClientCapabilities() if pulls else None,
            ),
            general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
        )
        self.answer = await self.client.initialize_session(
            types.InitializeParams(
                capabilities,
                workspace_folders=[
                    types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders or [self.folder]
                ],
                initialization_options=options,
            )
        )
        return self

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name, text, language="python"):
        uri = name if ":" in name else self.uri(name)
        self._versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text))
        )
        return uri

    def change(self, uri, *changes):
        self._versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, list(changes)))

    def rewrite(self, uri, text):
        self.change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def save(self, uri):
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri):
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def open_notebook(self, name, cells):
        """Open a notebook of (text, type) pairs; returns the URIs of its cells."""
        cells = [(f"vscode-notebook-cell:{self.folder / name}#{number}", *cell) for number, cell in enumerate(cells)]
        self._notebooks[name] = [1, [uri for uri, *_ in cells]]
        listed = [types.NotebookCell(_KINDS[kind], uri) for uri, _, kind in cells]
        items = [types.TextDocumentItem(uri, _LANGUAGES[kind], 1, text) for uri, text, kind in cells]
        notebook = types.NotebookDocument(self.uri(name), "jupyter-notebook", 1, listed)
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
        return self._notebooks[name][1]

    def cell(self, name, index):
        return self._notebooks[name][1][index]

    def _change_notebook(self, name, cells):
        self._notebooks[name][0] += 1
        identifier = types.VersionedNotebookDocumentIdentifier(self._notebooks[name][0], self.uri(name))
        change = types.NotebookDocumentChangeEvent(cells=cells)
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, change))

    def change_cell(self, name, uri, *changes):
        content = types.NotebookDocumentCellContentChanges(types.VersionedTextDocumentIdentifier(2, uri), list(changes))
        self._change_notebook(name, types.NotebookDocumentCellChanges(text_content=[content]))

    def insert_cell(self, name, index, text):
        uri = f"vscode-notebook-cell:{self.folder / name}#new"
        self._notebooks[name][1].insert(index, uri)
        array = types.NotebookCellArrayChange(index, 0, [types.NotebookCell(types.NotebookCellKind.Code, uri)])
        structure = types.NotebookDocumentCellChangeStructure(array, [types.TextDocumentItem(uri, "python", 1, text)])
        self._change_notebook(name, types.NotebookDocumentCellChanges(structure=structure))

    def close_notebook(self, name):
        cells = [types.TextDocumentIdentifier(uri) for uri in self._notebooks.pop(name)[1]]
        notebook = types.NotebookDocumentIdentifier(self.uri(name))
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(notebook, cells))

    def changed_on_disk(self, *names):
        events = [types.FileEvent(self.uri(name), types.FileChangeType.Changed) for name in names]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def configured(self, settings):
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    async def pull(self, uri):
        """Pull the diagnostics of a document."""
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        return list((await self.client.text_document_diagnostic_async(params)).items)

    async def shown(self, uri, version=None):
        """Wait for the diagnostics of a version of a document, by default the latest."""
        wanted = self._versions.get(uri, version) if version is None else version
        return await self.until(
            lambda: self.client.versions.get(uri, 0) == wanted and list(self.client.diagnostics[uri])
        )

    async def until(self, ready):
        """Wait until ``ready`` does not return False; returns its value."""
        for _ in range(3000):
            if (value := ready()) is not False:
                return value
            await asyncio.sleep(0.01)
        raise TimeoutError(str(self.client.diagnostics))

    async def actions(self, uri, start, end=None, only=None):
        where = types.Range(types.Position(*start), types.Position(*(end or start)))
        context = types.CodeActionContext([], only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
        return list(await self.client.text_document_code_action_async(params))

    async def hover(self, uri, line, character):
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        return await self.client.text_document_hover_async(params)

    async def resolve(self, action):
        return await self.client.code_action_resolve_async(action)


def applied(edit, texts):
    """``texts``, by URI, after a workspace edit; positions count UTF-16 units."""
    after = dict(texts)
    for change in edit.document_changes:
        uri = change.text_document.uri
        for each in sorted(change.edits, key=lambda each: -_offset(texts[uri], each.range.start)):
            start, end = (_offset(texts[uri], place) for place in (each.range.start, each.range.end))
            after[uri] = after[uri][:start] + each.new_text + after[uri][end:]
    return after


def _offset(text, position):
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position.line])
    units, column = 0, 0
    for character in lines[position.line] if position.line < len(lines) else "":
        if units >= position.character:
            break
        units += 2 if ord(character) > 0xFFFF else 1
        column += 1
    return before + column


class Plain:
    """A minimal client, for sessions that pygls does not support, such as malformed messages and abrupt ends.

    Args:
        process: a server with pipes for standard input and output.
    """

    def __init__(self, process):
        self._process, self._asked = process, 0

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def ask(self, method, params):
        """Send a request and return the answer."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        return next(each for each in self._said() if each.get("id") == self._asked and "method" not in each)

    def open(self, uri, text):
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def diagnostics(self):
        """Wait for the next published diagnostics."""
        return next(each["params"] for each in self._said() if each.get("method") == "textDocument/publishDiagnostics")

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _said(self):
        while header := self._process.stdout.readline():
            length = int(header.split(b":")[1])
            while self._process.stdout.readline().strip():
                pass
            yield json.loads(self._process.stdout.read(length))
