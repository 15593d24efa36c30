"""Comments that silence findings: ``noqa`` and ``kerascheck: ignore`` forms."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from kerascheck.source.requirements import kind_of
from kerascheck.source.text import Source

# The same forms as flake8's, so that a comment means the same to both.
_NOQA = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?", re.IGNORECASE)
_FLAKE8_FILE = re.compile(r"# flake8[:=]\s*noqa(?P<codes>:\s?(?:[A-Z]+[0-9]+(?:[,\s]+)?)+)?\s*$", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*kerascheck:\s*ignore(?P<file>-file)?(?:\[(?P<rules>[^\]]*)\])?(?![\w-])")
_WORDS = re.compile(r"noqa|kerascheck", re.IGNORECASE)


@dataclass
class Suppressions:
    """What the comments of one text silence; lines are 1-based lines of the text."""

    whole_file: set[str] = field(default_factory=set)
    lines: dict[int, set[str]] = field(default_factory=dict)

    def silence(self, code: str, name: str, lines: Collection[int]) -> bool:
        """Whether a finding of rule ``code`` or ``name`` that touches ``lines`` is silenced."""
        if _listed(self.whole_file, code, name):
            return True
        return any(_listed(self.lines[line], code, name) for line in lines if line in self.lines)


def _listed(listed: Collection[str], code: str, name: str) -> bool:
    # Comments name codes by prefix as flake8 does: KC1 silences KC101.
    return any(entry == name or code.startswith(entry.upper()) for entry in listed)


_EVERYTHING = ""
"""A prefix of every code."""


def suppressions(source: Source, *, noqa: bool = True) -> Suppressions:
    """The suppressions written in the comments of ``source``.

    Args:
        noqa: whether ``noqa`` comments count, or only kerascheck's own.
    """
    found = Suppressions()
    if not _WORDS.search(source.text):
        return found
    for line, comment in _comments(source):
        for match in _IGNORE.finditer(comment):
            rules = {_EVERYTHING} if match["rules"] is None else set(match["rules"].replace(",", " ").split())
            (found.whole_file if match["file"] else found.lines.setdefault(line, set())).update(rules)
        if not noqa:
            continue
        if match := _FLAKE8_FILE.match(comment):
            found.whole_file.update(_codes(match["codes"]))
        elif match := _NOQA.search(comment):
            found.lines.setdefault(line, set()).update(_codes(match["codes"]))
    return found


def _codes(listed: str | None) -> set[str]:
    return {_EVERYTHING} if listed is None else set(re.split(r"[,:\s]+", listed.strip(":, \t\r\n")))


def _comments(source: Source) -> Iterator[tuple[int, str]]:
    """Line and text of every comment; never of strings that look like one.

    In a requirements file, a Dockerfile and the like a comment alone on its line also speaks for the line
    below: some lines of a Dockerfile cannot end in one.
    """
    if kind_of(source.path) is not None:
        for number, line in enumerate(source.text.splitlines(), 1):
            if match := re.search(r"(?:^|\s)(#.*)", line):
                yield number, match[1]
                if line.lstrip().startswith("#"):
                    yield number + 1, match[1]
        return
    starts = source.line_starts
    lines = (
        source.text[start:end].rstrip("\r\n") + "\n" for start, end in zip(starts, [*starts[1:], len(source.text)])
    )
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        # Syntax newer than this Python's own tokenizer: what came before still counts.
        return
