"""Comments that suppress findings: ``noqa`` and ``kerascheck: ignore`` forms."""

from __future__ import annotations

import functools
import re
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from kerascheck.project.config import did_you_mean
from kerascheck.project.requirements import kind_of
from kerascheck.source.text import Source

# The same forms as flake8's, so that a comment means the same in both.
_NOQA = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?", re.IGNORECASE)
_FLAKE8_FILE = re.compile(r"# flake8[:=]\s*noqa(?P<codes>:\s?(?:[A-Z]+[0-9]+(?:[,\s]+)?)+)?\s*$", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*kerascheck:\s*ignore(?P<file>-file)?(?:\[(?P<rules>[^\]]*)\])?(?![\w-])")
_KEPT_ENTRIES = 1024
"""Cache size for entries of directives; each entry is looked up several times."""
_WORDS = re.compile(r"noqa|kerascheck", re.IGNORECASE)
# No unbounded backtracking: a line may be as long as the file.
_OURS = re.compile(rb"#[^#\r\n]*(?:noqa:[^\r\n]{0,200}KC[A-Z]?\d|kerascheck:\s*ignore)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment, or part of a comment, that suppresses findings.

    Example:
        >>> [each.entries for each in comments("f()  # noqa: KC101, KC102").directives]
        [('KC101', 'KC102')]
    """

    path: str
    start: int
    """The offset of its first character in the text."""
    end: int
    lines: tuple[int, ...]
    """The 1-based lines of the text that it applies to; empty if it applies to the whole file."""
    entries: tuple[str, ...]
    """Codes, prefixes of codes and names as written; empty if it suppresses everything."""
    listed: tuple[int, int]
    """The offsets of the start of the first entry and the end of the last one."""
    ours: bool
    """Whether it addresses kerascheck alone, not every linter that supports ``noqa``."""

    def silences(self, code: str, name: str) -> bool:
        """Whether it suppresses the rule with this code and name."""
        return not self.entries or any(means(entry, code, name) for entry in self.entries)


def means(entry: str, code: str, name: str) -> bool:
    """Whether an entry of a directive selects a rule; as in flake8, codes match by prefix: KC1 selects KC101."""
    return entry == name or code.startswith(entry.upper())


class Suppressions:
    """The directives in the comments of one text."""

    def __init__(self, directives: Iterable[Directive] = ()):
        self.directives = tuple(directives)
        self._whole_file = [each for each in self.directives if not each.lines]
        # Sets, since a comment may have very many entries.
        self._entries = {
            id(each): (frozenset(each.entries), frozenset(map(str.upper, each.entries))) for each in self.directives
        }
        self._by_line: dict[int, list[Directive]] = {}
        for each in self.directives:
            for line in each.lines:
                self._by_line.setdefault(line, []).append(each)

    def silencing(self, code: str, name: str, lines: Collection[int]) -> list[Directive]:
        """The directives that suppress a finding on ``lines`` of the rule with this code and name."""
        near = (each for line in lines for each in self._by_line.get(line, ()))
        return [each for each in (*self._whole_file, *near) if self._silences(each, code, name)]

    def _silences(self, directive: Directive, code: str, name: str) -> bool:
        """Like :meth:`Directive.silences`, but without comparing every entry."""
        words, codes = self._entries[id(directive)]
        return not words or name in words or any(code[:length] in codes for length in range(1, len(code) + 1))


def speaks_to_us(code: str | bytes) -> bool:
    """Whether a file may contain a comment that addresses kerascheck, not just any linter."""
    data = code if isinstance(code, bytes) else code.encode("utf-8", "surrogatepass")
    # This check takes a tenth of the search's time and rules out most files.
    lowered = data.lower()
    return (b"noqa:" in lowered or b"kerascheck:" in lowered) and _OURS.search(data) is not None


class Known(Protocol):
    """A rule that an entry of a directive may select."""

    @property
    def code(self) -> str:
        """The code, such as KC101."""

    @property
    def name(self) -> str:
        """The name: lower-case words joined by hyphens."""

    @property
    def on_by_default(self) -> bool:
        """Whether the rule runs without a selection."""


@dataclass(frozen=True)
class Comments:
    """The directives of one file and their effect: the input of a rule about comments.

    Example:
        >>> comments("f()  # kerascheck: ignore[serial-mop]").nearest("serial-mop")
        "; did you mean 'serial-map'?"
    """

    source: Source
    directives: tuple[Directive, ...]
    silenced: Mapping[Directive, Collection[str]]
    """The codes of the rules whose findings each directive suppressed."""
    ran: Collection[str]
    """The codes of the rules that ran."""
    rules: Collection[Known]
    """All registered rules."""

    def meant_by(self, entry: str) -> list[Known]:
        """The rules that an entry of a directive selects; empty if it names none."""
        return self._meant(entry)

    @functools.cached_property
    def _meant(self) -> Callable[[str], list[Known]]:
        return functools.lru_cache(_KEPT_ENTRIES)(
            lambda entry: [rule for rule in self.rules if means(entry, rule.code, rule.name)]
        )

    def nearest(self, entry: str) -> str:
        """A suggestion for an entry that names no rule, such as ``; did you mean 'serial-map'?``, or an empty text."""
        return self._nearest(entry)

    @functools.cached_property
    def _nearest(self) -> Callable[[str], str]:
        names = [rule.name for rule in self.rules]
        return functools.lru_cache(_KEPT_ENTRIES)(lambda entry: did_you_mean(entry, names))

    def at(self, directive: Directive) -> CommentPlace:
        """The location of a directive, for a finding."""
        return CommentPlace(self, directive)

    def range_of(self, node: Directive) -> tuple[int, int]:
        """The offsets of a directive in the text."""
        return node.start, node.end

    statement_range = range_of


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """The location of a finding about a comment, with ``module`` and ``node`` like locations in code."""

    module: Comments
    node: Directive


def suppressions(source: Source, *, noqa: bool = True) -> Suppressions:
    """The suppressions in the comments of ``source``.

    Args:
        noqa: whether ``noqa`` comments count, or only kerascheck's own.
    """
    return Suppressions(_directives(source, noqa) if _WORDS.search(source.text) else ())


def _directives(source: Source, noqa: bool) -> Iterator[Directive]:
    for lines, offset, comment in _comments(source):
        for match in _IGNORE.finditer(comment):
            yield _directive(source, match, "rules", offset, () if match["file"] else lines, ours=True)
        if not noqa:
            continue
        if whole := _FLAKE8_FILE.match(comment):
            yield _directive(source, whole, "codes", offset, (), ours=False)
        elif one := _NOQA.search(comment):
            yield _directive(source, one, "codes", offset, lines, ours=False)


def _directive(
    source: Source, match: re.Match[str], group: str, offset: int, lines: tuple[int, ...], *, ours: bool
) -> Directive:
    first = max(match.start(group), match.start())
    entries = list(re.finditer(r"[^,:\s]+", match[group] or ""))
    listed = (
        (offset + first + entries[0].start(), offset + first + entries[-1].end())
        if entries
        else (offset + match.end(),) * 2
    )
    return Directive(
        source.path, offset + match.start(), offset + match.end(), lines, tuple(each[0] for each in entries), listed, ours,
    )  # fmt: skip


def _comments(source: Source) -> Iterator[tuple[tuple[int, ...], int, str]]:
    """The lines that each comment applies to, its offset and its text; skips strings that look like comments.

    In requirements files and Dockerfiles, a comment alone on its line also applies to the line below: some lines of a
    Dockerfile cannot end in a comment.
    """
    starts = source.line_starts
    if kind_of(source.path) is not None:
        for number, line in enumerate(source.text.splitlines(), 1):
            if match := re.search(r"(?:^|\s)(#.*)", line):
                alone = line.lstrip().startswith("#")
                yield (number, number + 1) if alone else (number,), starts[number - 1] + match.start(1), match[1]
        return
    lines = (
        source.text[start:end].rstrip("\r\n") + "\n" for start, end in zip(starts, [*starts[1:], len(source.text)])
    )
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                yield (row,), starts[row - 1] + column, token.string
    except (tokenize.TokenError, SyntaxError):
        # The syntax is newer than this Python's tokenizer; keep the comments before it.
        return
