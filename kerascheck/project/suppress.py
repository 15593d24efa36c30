"""Edits that suppress findings with a comment."""

from __future__ import annotations

import functools
import tokenize
from collections.abc import Iterator

from kerascheck.finding import Edit, Finding
from kerascheck.project.requirements import kind_of
from kerascheck.project.suppression import Suppressions, suppressions
from kerascheck.source.text import NEWLINE, Source


def suppression(source: Source, finding: Finding) -> Edit | None:
    """The edit that suppresses a finding of ``source`` with ``# kerascheck: ignore[name]``; None if no comment fits.

    If the finding's lines already have such a comment, the edit adds an entry to it.
    """
    return Suppressor(source).suppression(finding)


class Suppressor:
    """Makes comments that suppress findings of one text; tokenizes it only once."""

    def __init__(self, source: Source):
        self._source = source
        self._is_code = kind_of(source.path) is None

    @functools.cached_property
    def _suppressions(self) -> Suppressions:
        return suppressions(self._source)

    @functools.cached_property
    def _ends(self) -> dict[int, int]:
        return dict(_open_ends(self._source))

    def is_silenced(self, finding: Finding) -> bool:
        """Whether a comment already suppresses a finding."""
        lines = {finding.location.line, *finding.statement_lines}
        return bool(self._suppressions.silencing(finding.code, finding.name, lines))

    def suppression(self, finding: Finding) -> Edit | None:
        """See :func:`suppression`."""
        above = self._source.lines_above(finding.location.cell)
        own, (first, last) = finding.location.line + above, finding.statement_lines
        lines = tuple(dict.fromkeys((own, last + above, first + above)))
        for directive in self._suppressions.directives:
            # Extend an existing comment: a new one would separate it from the line below, to which it applies.
            if (
                directive.entries
                and (directive.ours or not self._is_code)
                and not set(lines).isdisjoint(directive.lines)
            ):
                entry = finding.name if directive.ours else finding.code
                return Edit(directive.listed[1], directive.listed[1], f", {entry}")
        comment = f"# kerascheck: ignore[{finding.name}]"
        if not self._is_code:
            return self._above(own, comment)
        line = next((line for line in lines if line in self._ends), None)
        return None if line is None else Edit(self._ends[line], self._ends[line], f"  {comment}")

    def _above(self, line: int, comment: str) -> Edit | None:
        text, start = self._source.text, self._source.line_starts[line - 1]
        if text[:start].rstrip("\r\n").endswith("\\"):
            # A comment line would end the continued instruction.
            return None
        newline = NEWLINE.search(text)
        return Edit(start, start, comment + (newline[0] if newline else "\n"))


def _open_ends(source: Source) -> Iterator[tuple[int, int]]:
    """The lines that can end in a comment, with the offset of their end: outside strings, and without a backslash."""
    starts = source.line_starts
    texts = (
        source.text[start:end].rstrip("\r\n") + "\n" for start, end in zip(starts, [*starts[1:], len(source.text)])
    )
    try:
        for token in tokenize.generate_tokens(lambda: next(texts, "")):
            row = token.start[0]
            if token.type in (tokenize.NEWLINE, tokenize.NL):
                start = starts[row - 1]
                yield row, start + len(source.line_text(start).rstrip())
    except (tokenize.TokenError, SyntaxError):
        # The syntax is newer than this Python's tokenizer; keep the lines before it.
        return
