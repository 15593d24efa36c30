"""Comments that silence findings: ``noqa`` and ``kerascheck: ignore`` forms."""

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

# The same forms as flake8's, so that a comment means the same to both.
_NOQA = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?", re.IGNORECASE)
_FLAKE8_FILE = re.compile(r"# flake8[:=]\s*noqa(?P<codes>:\s?(?:[A-Z]+[0-9]+(?:[,\s]+)?)+)?\s*$", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*kerascheck:\s*ignore(?P<file>-file)?(?:\[(?P<rules>[^\]]*)\])?(?![\w-])")
_KEPT_ENTRIES = 1024
"""What is remembered of entries of directives: each is asked for several times."""
_WORDS = re.compile(r"noqa|kerascheck", re.IGNORECASE)
# Nothing of it looks back, or far ahead: a line may be as long as the file.
_OURS = re.compile(rb"#[^#\r\n]*(?:noqa:[^\r\n]{0,200}KC[A-Z]?\d|kerascheck:\s*ignore)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment, or part of a comment, that silences findings.

    Example:
        >>> [each.entries for each in comments("f()  # noqa: KC101, KC102").directives]
        [('KC101', 'KC102')]
    """

    path: str
    start: int
    """Offset of its first character in the text."""
    end: int
    lines: tuple[int, ...]
    """The 1-based lines of the text that it speaks for; none where it speaks for the whole file."""
    entries: tuple[str, ...]
    """Codes, prefixes of codes and names as written; empty where it silences everything."""
    listed: tuple[int, int]
    """Offsets of the first character of the first entry, and behind the last one."""
    ours: bool
    """Whether it speaks to kerascheck alone, and not to every linter that knows ``noqa``."""

    def silences(self, code: str, name: str) -> bool:
        """Whether it means the rule ``code``, whose name is ``name``."""
        return not self.entries or any(means(entry, code, name) for entry in self.entries)


def means(entry: str, code: str, name: str) -> bool:
    """Whether an entry of a directive means a rule; codes are named by prefix, as for flake8: KC1 means KC101."""
    return entry == name or code.startswith(entry.upper())


class Suppressions:
    """The directives in the comments of one text."""

    def __init__(self, directives: Iterable[Directive] = ()):
        self.directives = tuple(directives)
        self._whole_file = [each for each in self.directives if not each.lines]
        # A comment may have more entries than a file has findings.
        self._entries = {
            id(each): (frozenset(each.entries), frozenset(map(str.upper, each.entries))) for each in self.directives
        }
        self._by_line: dict[int, list[Directive]] = {}
        for each in self.directives:
            for line in each.lines:
                self._by_line.setdefault(line, []).append(each)

    def silencing(self, code: str, name: str, lines: Collection[int]) -> list[Directive]:
        """The directives that silence a finding of rule ``code``, called ``name``, that touches ``lines``."""
        near = (each for line in lines for each in self._by_line.get(line, ()))
        return [each for each in (*self._whole_file, *near) if self._silences(each, code, name)]

    def _silences(self, directive: Directive, code: str, name: str) -> bool:
        """:meth:`Directive.silences`, without a look at every entry."""
        words, codes = self._entries[id(directive)]
        return not words or name in words or any(code[:length] in codes for length in range(1, len(code) + 1))


def speaks_to_us(code: str | bytes) -> bool:
    """Whether something like a comment for kerascheck, and not only for any linter, stands in a file."""
    data = code if isinstance(code, bytes) else code.encode("utf-8", "surrogatepass")
    # In a tenth of the time, and mostly so.
    lowered = data.lower()
    return (b"noqa:" in lowered or b"kerascheck:" in lowered) and _OURS.search(data) is not None


class Known(Protocol):
    """What an entry of a directive may mean: a rule, by what is said of it."""

    @property
    def code(self) -> str:
        """Such as KC101."""

    @property
    def name(self) -> str:
        """Lower case words joined by hyphens."""

    @property
    def on_by_default(self) -> bool:
        """Whether it runs where nothing is selected."""


@dataclass(frozen=True)
class Comments:
    """The directives of one file beside what they silenced: what a rule about comments is given.

    Example:
        >>> comments("f()  # kerascheck: ignore[serial-mop]").nearest("serial-mop")
        "; did you mean 'serial-map'?"
    """

    source: Source
    directives: tuple[Directive, ...]
    silenced: Mapping[Directive, Collection[str]]
    """Codes of the rules of which each silenced a finding."""
    ran: Collection[str]
    """Codes of the rules that were run."""
    rules: Collection[Known]
    """All rules that there are."""

    def meant_by(self, entry: str) -> list[Known]:
        """Which rules an entry of a directive means; none where it names no rule."""
        return self._meant(entry)

    @functools.cached_property
    def _meant(self) -> Callable[[str], list[Known]]:
        return functools.lru_cache(_KEPT_ENTRIES)(
            lambda entry: [rule for rule in self.rules if means(entry, rule.code, rule.name)]
        )

    def nearest(self, entry: str) -> str:
        """What an entry that names no rule may have meant, as ``; did you mean 'serial-map'?``, or nothing."""
        return self._nearest(entry)

    @functools.cached_property
    def _nearest(self) -> Callable[[str], str]:
        names = [rule.name for rule in self.rules]
        return functools.lru_cache(_KEPT_ENTRIES)(lambda entry: did_you_mean(entry, names))

    def at(self, directive: Directive) -> CommentPlace:
        """The place of a directive, for a finding."""
        return CommentPlace(self, directive)

    def range_of(self, node: Directive) -> tuple[int, int]:
        """Offsets of a directive in the text."""
        return node.start, node.end

    statement_range = range_of


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """A place of a finding: ``module`` and ``node`` as the places in code have them."""

    module: Comments
    node: Directive


def suppressions(source: Source, *, noqa: bool = True) -> Suppressions:
    """The suppressions written in the comments of ``source``.

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
    """The lines that every comment speaks for, its offset and its text; never strings that look like one.

    In a requirements file, a Dockerfile and the like a comment alone on its line also speaks for the line
    below: some lines of a Dockerfile cannot end in one.
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
        # Syntax newer than this Python's own tokenizer: what came before still counts.
        return
