"""Line numbers of notebooks: runs count over all cells, users and findings count within a cell."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kerascheck.finding import Finding, Location
from kerascheck.runtime.verify.messages import Span
from kerascheck.source import Source
from kerascheck.source.escape import escaped


class Lines:
    """The lines of a script and of its own modules."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        """``sources``: by absolute path."""
        self._sources = sources

    def span(self, location: Location) -> Span:
        """Convert a location of the linter to lines of the whole file."""
        path = os.path.abspath(location.path)
        before = self._before(path, location.cell)
        return path, location.line + before, location.end_line + before

    def spans(self, finding: Finding) -> list[Span]:
        """The places of a finding: its own, its statement's and the related ones."""
        return [*self.own_spans(finding), *(self.span(related.location) for related in finding.related)]

    def own_spans(self, finding: Finding) -> list[Span]:
        """The places of a finding without the related ones, such as the loop around it."""
        found = [self.span(finding.location)]
        if finding.statement_lines[0]:
            path, before = found[0][0], found[0][1] - finding.location.line
            found.append((path, finding.statement_lines[0] + before, finding.statement_lines[1] + before))
        return found

    def _before(self, path: str, cell: int | None) -> int:
        source = self._sources.get(path)
        return 0 if source is None else source.lines_above(cell)

    def shown(self, path: str, line: int) -> str:
        """Format a place for display: "train.py:14", or "train.ipynb cell 3:2"."""
        name = escaped(os.path.basename(path))
        source = self._sources.get(path)
        if source is None or not source.cells:
            return f"{name}:{line}"
        place = source.locate(source.line_starts[line - 1], source.line_starts[line - 1])
        return f"{name} cell {place.cell_number}:{place.line}"

    def text(self, path: str, line: int) -> str:
        """The text of a line without its indentation; empty if the file is not among the sources."""
        return next((text.strip() for _, text, hit in self.around(path, line, 0) if hit), "")

    def around(self, path: str, line: int, context: int) -> list[tuple[int, str, bool]]:
        """The line with ``context`` lines before and after it; in a notebook, only lines of its cell.

        Returns:
            The displayed number, the text, and whether it is the requested line. Empty if the file is not among the
            sources or lacks the line.
        """
        source = self._sources.get(path)
        if source is None or not 0 < line <= len(source.line_starts):
            return []
        cell = source.cell_at(source.line_starts[line - 1])
        first, last = (
            (source.line_of(cell.start), source.line_of(max(cell.start, cell.end - 1)))
            if cell
            else (1, len(source.line_starts))
        )
        shown = range(max(first, line - context), min(last, line + context) + 1)
        return [(each - first + 1, source.line_text(source.line_starts[each - 1]), each == line) for each in shown]

    def commands(self) -> int:
        """Number of IPython or shell commands, which are not executed."""
        return sum(len(source.commands.splitlines()) for source in self._sources.values())
