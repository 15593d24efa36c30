"""The editor's documents, and the conversion of locations to its positions."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from kerascheck.finding import Edit, Location
from kerascheck.lsp.checker import Buffer
from kerascheck.project.requirements import kind_of
from kerascheck.source import Source
from kerascheck.source.text import NEWLINE

_PYTHON = frozenset(("python", "ipython"))
Encoding = types.PositionEncodingKind | str | None


class EditorWorkspace(Workspace):
    """pygls' workspace with the protocol's line endings; pygls also ends lines at form feeds and other separators."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return _TextDocument(
            doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=self._position_codec
        )


class _TextDocument(TextDocument):
    @property
    def lines(self) -> Sequence[str]:
        starts = [0, *(match.end() for match in NEWLINE.finditer(self.source))]
        pieces = (self.source[start:end] for start, end in zip(starts, [*starts[1:], None]))
        return tuple(piece for piece in pieces if piece)


@dataclass(frozen=True)
class Part:
    """The editor's text of a script or a notebook cell."""

    uri: str
    version: int | None
    text: str
    encoding: Encoding

    @cached_property
    def _source(self) -> Source:
        return Source("", self.text)

    def position(self, line: int, column: int) -> types.Position:
        """The editor's position of a 1-based line and column, at most the end of the text."""
        source = self._source
        offset = len(self.text) if self.is_behind(line) else source.offset(line, column)
        row = source.line_of(offset)
        before = self.text[source.line_starts[row - 1] : offset]
        return types.Position(row - 1, _units(before, self.encoding))

    def is_behind(self, line: int) -> bool:
        """Whether the text ends before a 1-based line; a linted cell ends in a newline, the editor's may not."""
        return line > len(self._source.line_starts)


def _units(text: str, encoding: Encoding) -> int:
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    if encoding == types.PositionEncodingKind.Utf32:
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True)
class Document:
    """A version of a script or a notebook."""

    uri: str
    version: int | None
    parts: tuple[Part, ...]
    buffer: Buffer

    @property
    def is_notebook(self) -> bool:
        """Whether its parts are cells."""
        return isinstance(self.buffer.content, bytes)

    @property
    def stamp(self) -> tuple[tuple[str, int | None], ...]:
        """The versions of the document and its parts; they change with the text."""
        return ((self.uri, self.version), *((part.uri, part.version) for part in self.parts))

    def part(self, location: Location) -> Part | None:
        """The part that contains a location; None for a cell that no longer exists."""
        index = location.cell or 0
        return self.parts[index] if index < len(self.parts) else None

    def range_of(self, location: Location) -> types.Range:
        """The editor's range of a location in its part."""
        part = self.part(location)
        assert part is not None, "the caller checks that the part exists"
        return types.Range(
            part.position(location.line, location.column), part.position(location.end_line, location.end_column)
        )

    def text_edit(self, source: Source, edit: Edit, cell: int | None = None) -> tuple[Part, types.TextEdit] | None:
        """The editor's edit and the part that it changes; None if that part no longer exists.

        Args:
            source: the linted source.
            cell: the cell of the finding; an insertion at its end stays in it.
        """
        location = source.locate(edit.start, edit.end)
        own = next((each for each in source.cells or () if each.index == cell), None)
        if own is not None and edit.start == edit.end == own.end:
            behind = source.line_of(own.end) - source.lines_above(cell)
            location = Location(location.path, cell, behind, 1, behind, 1)
        part = self.part(location)
        if part is None:
            return None
        content = edit.content
        if content and part.is_behind(location.line):
            content = "\n" + content.removesuffix("\n")
        return part, types.TextEdit(self.range_of(location), content)


def document(workspace: Workspace, uri: str) -> Document | None:
    """The document with a URI, or the notebook with that cell; None if it is not linted."""
    notebook = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(cell_uri=uri)
    return _script(workspace, uri) if notebook is None else _notebook(workspace, notebook)


def _script(workspace: Workspace, uri: str) -> Document | None:
    text = workspace.text_documents.get(unquote(uri))
    if text is None:
        return None
    path = to_fs_path(text.uri)
    saved = path is not None
    if path is None:
        if urlsplit(text.uri).scheme != "untitled":
            return None
        path = os.path.join(_top(workspace, None) or os.getcwd(), os.path.basename(urlsplit(text.uri).path))
    if not (text.language_id in _PYTHON or path.endswith(".py") or kind_of(path) is not None):
        return None
    part = Part(text.uri, text.version, text.source, workspace.position_encoding)
    return Document(text.uri, text.version, (part,), Buffer(path, text.source, _top(workspace, path), saved))


def _notebook(workspace: Workspace, notebook: types.NotebookDocument) -> Document | None:
    path = to_fs_path(notebook.uri)
    saved = path is not None
    path = path or os.path.join(os.getcwd(), f"{os.path.basename(urlsplit(notebook.uri).path)}.ipynb")
    parts, cells = [], []
    for cell in notebook.cells:
        text = workspace.text_documents.get(unquote(cell.document))
        if text is None:
            return None
        parts.append(Part(text.uri, text.version, text.source, workspace.position_encoding))
        # A cell that starts with %% may have the language of its magic.
        is_code = cell.kind is types.NotebookCellKind.Code and (
            text.language_id in _PYTHON or text.source.lstrip().startswith("%%")
        )
        cells.append({"cell_type": "code" if is_code else "markdown", "source": text.source})
    content = json.dumps({"cells": cells, "metadata": {}}).encode()
    return Document(notebook.uri, notebook.version, tuple(parts), Buffer(path, content, _top(workspace, path), saved))


def _top(workspace: Workspace, path: str | None) -> str | None:
    """The innermost workspace folder that contains ``path``; the first folder if ``path`` is None."""
    folders = [to_fs_path(folder.uri) for folder in workspace.folders.values()] or [workspace.root_path]
    tops = [os.path.normpath(folder) for folder in folders if folder]
    if path is None:
        return tops[0] if tops else None
    return max((top for top in tops if path.startswith(os.path.join(top, ""))), key=len, default=None)


def root(workspace: Workspace) -> str:
    """The working folder of the server."""
    return _top(workspace, None) or os.getcwd()
