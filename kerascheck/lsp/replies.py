"""Convert results to protocol types: diagnostics, hovers, code actions and edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from kerascheck.catalog import registry
from kerascheck.finding import Applicability, Edit, FileError, Finding, Location, Severity
from kerascheck.lsp.checker import Linted
from kerascheck.lsp.documents import Document
from kerascheck.lsp.fixes import is_offered, is_safe
from kerascheck.project.suppress import suppression
from kerascheck.report import rule_page
from kerascheck.source import Source

FIX_ALL = "source.fixAll.kerascheck"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.kerascheck"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Hint,
}


@dataclass(frozen=True)
class Result:
    """The result of checking one version of a document."""

    document: Document
    linted: Linted
    epoch: int

    def at(self, uri: str, wanted: types.Range) -> Iterator[tuple[Finding, types.Diagnostic]]:
        """The findings that overlap a range of a part."""
        for finding in self.linted.findings:
            part = self.document.part(finding.location)
            if part is None or part.uri != uri:
                continue
            found = self.document.range_of(finding.location)
            if _before(found.start, wanted.end) and _before(wanted.start, found.end):
                yield finding, _diagnostic(self, finding)


def _before(one: types.Position, other: types.Position) -> bool:
    return (one.line, one.character) <= (other.line, other.character)


def diagnostics(result: Result) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each part of a document, by URI; an empty list for parts without any."""
    document = result.document
    found: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in document.parts}
    for finding in result.linted.findings:
        if part := document.part(finding.location):
            found[part.uri].append(_diagnostic(result, finding))
    for error in result.linted.errors:
        if part := document.part(error.location):
            found[part.uri].append(_of_error(document, error))
    return found


def _of_error(document: Document, error: FileError) -> types.Diagnostic:
    return types.Diagnostic(
        document.range_of(error.location),
        error.message,
        types.DiagnosticSeverity.Error,
        error.code,
        source="kerascheck",
    )


def _diagnostic(result: Result, finding: Finding) -> types.Diagnostic:
    measured = result.linted.evidence.get(finding)
    address = result.linted.addresses.get(finding)
    lines = (finding.message, finding.because, None if measured is None else f"Measured: {measured}")
    return types.Diagnostic(
        result.document.range_of(finding.location),
        "\n".join(filter(None, lines)),
        _SEVERITIES[finding.severity],
        finding.code,
        source="kerascheck",
        code_description=None if address is None else types.CodeDescription(address),
        related_information=list(_related(result.document, finding)) or None,
        data=_data(result, finding),
    )


def _related(document: Document, finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
    for related in finding.related:
        place = related.location
        if place.path == finding.location.path:
            if part := document.part(place):
                where = types.Location(part.uri, document.range_of(place))
                yield types.DiagnosticRelatedInformation(where, related.message)
        # The URI of a cell is known only if its notebook is open.
        elif place.cell is None and (uri := from_fs_path(place.path)):
            yield types.DiagnosticRelatedInformation(types.Location(uri, _range_elsewhere(place)), related.message)


def _range_elsewhere(place: Location) -> types.Range:
    return types.Range(
        types.Position(place.line - 1, place.column - 1), types.Position(place.end_line - 1, place.end_column - 1)
    )


def _data(result: Result, finding: Finding) -> dict[str, Any] | None:
    """The fix as data, for clients that apply it themselves."""
    if finding.fix is None or not is_offered(finding):
        return None
    made = _edits(result.document, result.linted.source, finding.fix.edits, finding.location.cell)
    listed = [
        {"uri": uri, "range": _plain_range(edit.range), "newText": edit.new_text}
        for uri, edits in made.items()
        for edit in edits
    ]
    return {"title": finding.fix.message, "applicability": finding.fix.applicability.value, "edits": listed}


def _plain_range(place: types.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": place.start.line, "character": place.start.character},
        "end": {"line": place.end.line, "character": place.end.character},
    }


def _edits(
    document: Document, source: Source, edits: Iterable[Edit], cell: int | None = None
) -> dict[str, list[types.TextEdit]]:
    """The editor's edits, by the URI of the part that they change."""
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        if made := document.text_edit(source, edit, cell):
            part, text_edit = made
            changes.setdefault(part.uri, []).append(text_edit)
    return changes


def workspace_edit(
    document: Document, source: Source, edits: Sequence[Edit], *, versioned: bool, cell: int | None = None
) -> types.WorkspaceEdit:
    """The edits of a document for the editor.

    Args:
        versioned: whether the editor supports edits for a specific document version.
        cell: the cell of the finding, if any.
    """
    changes = _edits(document, source, edits, cell)
    if not versioned:
        return types.WorkspaceEdit(changes=changes)
    versions = {part.uri: part.version for part in document.parts}
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(text_edits))
            for uri, text_edits in changes.items()
        ]
    )


def quick_fixes(result: Result, uri: str, wanted: types.Range, *, versioned: bool) -> Iterator[types.CodeAction]:
    """The fixes of the findings in a range, and the comments that suppress them."""
    document, linted = result.document, result.linted
    found = list(result.at(uri, wanted))

    def action(finding: Finding, diagnostic: types.Diagnostic, title: str, edits: Sequence[Edit]) -> types.CodeAction:
        edit = workspace_edit(document, linted.source, edits, versioned=versioned, cell=finding.location.cell)
        return types.CodeAction(title, types.CodeActionKind.QuickFix, [diagnostic], edit=edit)

    for finding, diagnostic in found:
        if finding.fix is not None and is_offered(finding):
            unsafe = " (unsafe)" if finding.fix.applicability is Applicability.UNSAFE else ""
            title = f"kerascheck ({finding.code}): {finding.fix.message}{unsafe}"
            fix = action(finding, diagnostic, title, finding.fix.edits)
            fix.is_preferred = is_safe(finding)
            yield fix
    for finding, diagnostic in found:
        if comment := suppression(linted.source, finding):
            title = f"kerascheck ({finding.code}): Suppress {finding.name} here"
            yield action(finding, diagnostic, title, [comment])


def fix_all(uri: str, kind: str) -> types.CodeAction:
    """The action that applies all safe fixes, without its edits yet."""
    return types.CodeAction("kerascheck: Fix all safe findings", kind, data={"uri": uri})


def hover(result: Result, uri: str, position: types.Position) -> types.Hover | None:
    """The rule pages of the findings at a position; None if there are none."""
    found = list(result.at(uri, types.Range(position, position)))
    if not found:
        return None
    text = "\n\n---\n\n".join(_page(result, finding) for finding, _ in found)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), found[0][1].range)


def _page(result: Result, finding: Finding) -> str:
    measured = result.linted.evidence.get(finding)
    parts = (
        finding.message,
        finding.because,
        None if measured is None else f"**Measured:** {measured}",
        rule_page.as_text(registry.find(finding.code)),
    )
    return "\n\n".join(filter(None, parts))
