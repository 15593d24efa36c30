"""Where to write a comment that silences a finding."""

from __future__ import annotations

import tokenize
from collections.abc import Collection, Iterator

from kerascheck.finding import Edit, Finding
from kerascheck.source.requirements import kind_of
from kerascheck.source.suppression import suppressions
from kerascheck.source.text import NEWLINE, Source


def suppression(source: Source, finding: Finding) -> Edit | None:
    """The edit that silences a finding of ``source`` by ``# kerascheck: ignore[name]``; None where no comment can stand.

    A comment of that form that speaks for the finding already gets another entry.
    """
    above = source.lines_above(finding.location.cell)
    own, (first, last) = finding.location.line + above, finding.statement_lines
    lines = tuple(dict.fromkeys((own, last + above, first + above)))
    is_code = kind_of(source.path) is None
    for directive in suppressions(source).directives:
        # Where a comment speaks for the line below, another one must not come between.
        if directive.entries and (directive.ours or not is_code) and not set(lines).isdisjoint(directive.lines):
            entry = finding.name if directive.ours else finding.code
            return Edit(directive.listed[1], directive.listed[1], f", {entry}")
    comment = f"# kerascheck: ignore[{finding.name}]"
    if not is_code:
        start = source.line_starts[own - 1]
        if source.text[:start].rstrip("\r\n").endswith("\\"):
            # The instruction would end there.
            return None
        newline = NEWLINE.search(source.text)
        return Edit(start, start, comment + (newline[0] if newline else "\n"))
    ends = dict(_open_ends(source, lines))
    line = next((line for line in lines if line in ends), None)
    return None if line is None else Edit(ends[line], ends[line], f"  {comment}")


def _open_ends(source: Source, lines: Collection[int]) -> Iterator[tuple[int, int]]:
    """The offset of the end of each of ``lines`` that can end in a comment: not in a string, nor where a backslash stands."""
    starts = source.line_starts
    texts = (
        source.text[start:end].rstrip("\r\n") + "\n" for start, end in zip(starts, [*starts[1:], len(source.text)])
    )
    try:
        for token in tokenize.generate_tokens(lambda: next(texts, "")):
            row = token.start[0]
            if token.type in (tokenize.NEWLINE, tokenize.NL) and row in lines:
                start = starts[row - 1]
                yield row, start + len(source.line_text(start).rstrip())
    except (tokenize.TokenError, SyntaxError):
        # Syntax newer than this Python's own tokenizer: what came before still counts.
        return
