"""The language server: checks open documents after each edit and answers requests about the findings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import kerascheck
from kerascheck.lsp import replies
from kerascheck.lsp.checker import Checker, Lint, Start
from kerascheck.lsp.documents import Document, EditorWorkspace, document, root
from kerascheck.lsp.fixes import is_safe
from kerascheck.lsp.replies import FIX_ALL, NOTEBOOK_FIX_ALL, Result

_SECTION = "kerascheck"
"""The section of the editor's settings."""
_DEBOUNCE_SECONDS = 0.25
"""Delay from the last edit to the check."""
_PAUSE_SECONDS = 0.5
"""Pause in typing before importing files are checked too; there may be hundreds."""
_WATCHED = (
    "**/*.py",
    "**/*.ipynb",
    "**/{*.toml,.kerascheck.toml,setup.cfg,Pipfile,Pipfile.lock,poetry.lock,uv.lock,pdm.lock,Dockerfile*,*.Dockerfile,.gitignore}",
    "**/*requirements*.{txt,in}",
    "**/requirements/*",
    "**/*.{yml,yaml}",
    "**/.kerascheck/evidence.json",
    "**/*baseline*.json",
)
"""Files besides the open ones that findings depend on."""

_Returned = TypeVar("_Returned")


@dataclass
class _Open:
    """An open script or notebook."""

    result: Result | None = None
    """The latest result."""
    task: asyncio.Task[None] | None = None
    """The scheduled check."""
    rest: asyncio.Task[None] | None = None
    """The task that checks the files that import it."""
    published: set[str] = field(default_factory=set)
    """The parts with diagnostics in the editor."""

    def cancel(self) -> None:
        """Cancel the checks."""
        for task in (self.task, self.rest):
            if task is not None:
                task.cancel()


class Server(LanguageServer):
    """kerascheck for editors.

    Args:
        rules: folders with rules of the user.
    """

    def __init__(self, rules: Sequence[str] = ()):
        super().__init__(
            "kerascheck",
            kerascheck.__version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                [types.NotebookDocumentFilterWithNotebook(notebook="jupyter-notebook")], save=True
            ),
        )
        self._rules = rules
        self._options: Mapping[str, Any] = {}
        self._open: dict[str, _Open] = {}
        self._epoch = 0
        self._checking = asyncio.Lock()
        # On the clock of the event loop.
        self._quiet_from = 0.0
        self._thread = ThreadPoolExecutor(1)
        self._checker: Checker | None = None
        _register(self)

    # --- from the editor's documents to results --------------------------------------------------

    def begin(self, params: types.InitializeParams) -> None:
        """Set up the workspace, the options and the checker for an editor."""
        given = self.workspace
        self.protocol._workspace = EditorWorkspace(
            given.root_uri,
            types.TextDocumentSyncKind.Incremental,
            params.workspace_folders,
            given.position_encoding,
        )
        options = params.initialization_options
        self._options = options if isinstance(options, dict) else {}
        if self._checker is not None:
            # An editor may initialize twice; end the first checker's process.
            self._checker.close()
        self._checker = Checker(Start(root(self.workspace), self._rules))

    async def _in_thread(self, function: Callable[[], _Returned]) -> _Returned:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    async def warm_up(self) -> None:
        """Start the checker before the first file."""
        if self._checker is not None:
            await self._in_thread(self._checker.warm_up)

    def end(self) -> None:
        """Cancel all checks and close the checker."""
        for each in self._open.values():
            each.cancel()
        if self._checker is not None:
            self._checker.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def touch(self, uri: str, delay: float = 0.0) -> None:
        """Schedule a check of a document in ``delay`` seconds, in place of a scheduled one."""
        if (now := document(self.workspace, uri)) is None:
            return
        self._quiet_from = asyncio.get_running_loop().time() + _PAUSE_SECONDS
        state = self._open.setdefault(now.uri, _Open())
        if state.task is not None:
            state.task.cancel()
        state.task = asyncio.create_task(self._check_later(now.uri, delay))

    async def _check_later(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        await self.current(uri)

    def begin_again(self, first: str | None = None) -> None:
        """Check all open documents again, ``first`` before the rest, after a change on disk."""
        self._epoch += 1
        if first is not None:
            self.touch(first)
        for uri in self._open:
            if uri != first:
                self.touch(uri, _DEBOUNCE_SECONDS)
        if self._refreshes:
            self.workspace_diagnostic_refresh(None)

    def invalidate(self, uri: str, parts: Sequence[str]) -> None:
        """Drop the state of a closed document and clear its diagnostics."""
        state = self._open.pop(uri, _Open())
        state.cancel()
        for each in {*parts, *state.published}:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(each, []))

    async def current(self, uri: str) -> Result | None:
        """The findings of the current version of a document; None if it is not linted."""
        while document(self.workspace, uri) is not None and self._checker is not None:
            # Shielded: cancelling the caller must not interrupt the checker, which takes one request at a time.
            result = await asyncio.shield(asyncio.create_task(self._check(uri, self._checker)))
            if result is not None and self._is_current(result):
                return result
        return None

    async def _check(self, uri: str, checker: Checker) -> Result | None:
        """Check the latest version of a document unless it is checked already; publish the result if still current."""
        async with self._checking:
            now = document(self.workspace, uri)
            if now is None:
                return None
            known = self._open[now.uri].result if now.uri in self._open else None
            if known is not None and self._is_current(known):
                return known
            result = await self._ask(now, checker)
            if self._is_current(result):
                state = self._open.setdefault(now.uri, _Open())
                state.result = result
                self._publish(state, result)
                if not result.linted.is_whole:
                    state.rest = asyncio.create_task(self._check_importers(result, state, checker))
            return result

    async def _ask(self, now: Document, checker: Checker) -> Result:
        request = self._request(now)
        return Result(now, await self._in_thread(partial(checker.lint, request)), request.epoch)

    async def _check_importers(self, result: Result, state: _Open, checker: Checker) -> None:
        """Check the files that import a document, a few at a time, so that other requests wait only briefly."""
        while not result.linted.is_whole:
            # An edit in any open file changes the request.
            while (pause := self._quiet_from - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(pause)
            async with self._checking:
                if result is not state.result or not self._is_current(result):
                    return
                result = state.result = await self._ask(result.document, checker)
        if self._is_current(result):
            self._publish(state, result)
            if self._refreshes:
                self.workspace_diagnostic_refresh(None)

    def _is_current(self, result: Result) -> bool:
        now = document(self.workspace, result.document.uri)
        return now is not None and (now.stamp, self._epoch) == (result.document.stamp, result.epoch)

    async def settled(self, uri: str) -> Result | None:
        """Like :meth:`current`, but waits for the scheduled check: editors request actions at every keystroke."""
        while (now := document(self.workspace, uri)) and (state := self._open.get(now.uri)):
            if state.task is None or state.task.done():
                break
            await asyncio.wait({state.task})
        return await self.current(uri)

    def _request(self, now: Document) -> Lint:
        others = (document(self.workspace, uri) for uri in self._open if uri != now.uri)
        return Lint(
            now.buffer, tuple(other.buffer for other in others if other is not None), self._options, self._epoch
        )

    @property
    def _pulls(self) -> bool:
        """Whether the editor pulls the diagnostics of scripts; those of notebooks are always pushed."""
        text = self.client_capabilities.text_document
        return text is not None and text.diagnostic is not None

    @property
    def _refreshes(self) -> bool:
        """Whether the editor pulls diagnostics again on a refresh request."""
        workspace = self.client_capabilities.workspace
        return bool(self._pulls and workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)

    def _publish(self, state: _Open, result: Result) -> None:
        if self._pulls and not result.document.is_notebook:
            return
        found = replies.diagnostics(result)
        versions = {part.uri: part.version for part in result.document.parts}
        for uri, listed in found.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, listed, versions[uri]))
        for gone in state.published - set(found):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(gone, []))
        state.published = set(found)

    # --- requests --------------------------------------------------------------------------------

    @property
    def _versioned(self) -> bool:
        edits = self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit
        return bool(edits and edits.document_changes)

    @property
    def _resolves(self) -> bool:
        """Whether the editor requests the edits of an action only when the user chooses it."""
        text = self.client_capabilities.text_document
        support = text and text.code_action and text.code_action.resolve_support
        return bool(support and "edit" in support.properties)

    async def diagnostics(self, uri: str) -> types.RelatedFullDocumentDiagnosticReport:
        """The diagnostics of a script; none for a cell, since those of notebooks are pushed."""
        now = document(self.workspace, uri)
        result = None if now is None or now.is_notebook else await self.settled(uri)
        state = self._open.get(uri)
        if not self._refreshes and state is not None and state.rest is not None:
            await asyncio.wait({state.rest})
            result = state.result if state.result is not None and self._is_current(state.result) else result
        found = [] if result is None else replies.diagnostics(result)[result.document.uri]
        return types.RelatedFullDocumentDiagnosticReport(found)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The code actions for the findings in a range."""
        uri, only = params.text_document.uri, params.context.only
        wants_fixes = _is_asked_for(types.CodeActionKind.QuickFix, only)
        result = await (self.settled(uri) if wants_fixes else self.current(uri))
        if result is None:
            return []
        found: list[types.CodeAction] = []
        if wants_fixes:
            found += replies.quick_fixes(result, uri, params.range, versioned=self._versioned)
        if any(map(is_safe, result.linted.findings)):
            kind = next((kind for kind in (FIX_ALL, NOTEBOOK_FIX_ALL) if _is_asked_for(kind, only)), None)
            if kind is not None:
                action = replies.fix_all(uri, kind)
                found.append(action if self._resolves else await self.resolve(action))
        return found

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Add the edits to a code action."""
        uri = action.data.get("uri") if isinstance(action.data, dict) else None
        now = document(self.workspace, uri) if isinstance(uri, str) else None
        if now is not None and self._checker is not None:
            repaired = await self._in_thread(partial(self._checker.fix_all, self._request(now)))
            action.edit = replies.workspace_edit(now, repaired.source, repaired.edits, versioned=self._versioned)
        return action

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The rule pages of the findings at a position."""
        result = await self.settled(params.text_document.uri)
        return None if result is None else replies.hover(result, params.text_document.uri, params.position)

    async def watch(self) -> None:
        """Ask the editor to report changes on disk and of its settings."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        watched = [types.FileSystemWatcher(glob) for glob in _WATCHED]
        wanted = (
            (
                workspace.did_change_watched_files,
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                types.DidChangeWatchedFilesRegistrationOptions(watched),
            ),
            (
                workspace.did_change_configuration,
                types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                types.DidChangeConfigurationRegistrationOptions(_SECTION),
            ),
        )
        registrations = [
            types.Registration(f"kerascheck.{method}", method, options)
            for capability, method, options in wanted
            if capability is not None and capability.dynamic_registration
        ]
        if registrations:
            await self.client_register_capability_async(types.RegistrationParams(registrations))

    async def configure(self, settings: Any) -> None:
        """Use the editor's settings, if it has any, and read those on disk again."""
        stated = settings.get(_SECTION) if isinstance(settings, dict) else None
        workspace = self.client_capabilities.workspace
        if stated is None and workspace and workspace.configuration:
            wanted = types.ConfigurationParams([types.ConfigurationItem(section=_SECTION)])
            (stated,) = await self.workspace_configuration_async(wanted)
        if isinstance(stated, dict):
            self._options = stated
        self.begin_again()

    def changed_on_disk(self, changes: Sequence[types.FileEvent]) -> None:
        """Check again unless only open files were written, for which the editor sends other notifications."""
        if any(change.type is not types.FileChangeType.Changed or change.uri not in self._open for change in changes):
            self.begin_again()


def _is_asked_for(kind: str, only: Sequence[str] | None) -> bool:
    if only is None:
        return not kind.startswith("notebook.")
    return any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def _register(server: Server) -> None:
    """Register the server's handlers with pygls, which takes functions, not methods."""
    feature = server.feature
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL, NOTEBOOK_FIX_ALL]

    @feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await asyncio.gather(server.warm_up(), server.watch())

    @feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.end()

    @feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds, resolve_provider=True))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.actions(params)

    @feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)

    @feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    @feature(types.TEXT_DOCUMENT_DIAGNOSTIC, types.DiagnosticOptions(True, False, "kerascheck"))
    async def diagnostics(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        return await server.diagnostics(params.text_document.uri)

    _register_workspace(server)
    _register_documents(server)


def _register_workspace(server: Server) -> None:
    feature = server.feature

    @feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        await server.configure(params.settings)

    @feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        server.changed_on_disk(params.changes)

    @feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.begin_again()


def _register_documents(server: Server) -> None:
    feature = server.feature

    @feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.touch(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.touch(params.text_document.uri, _DEBOUNCE_SECONDS)

    @feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.begin_again(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.invalidate(params.text_document.uri, [params.text_document.uri])

    @feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.touch(params.notebook_document.uri)

    @feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        server.touch(params.notebook_document.uri, _DEBOUNCE_SECONDS)

    @feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.begin_again(params.notebook_document.uri)

    @feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.invalidate(params.notebook_document.uri, [cell.uri for cell in params.cell_text_documents])
