"""What is asked of the text of a file without following it: answers that most edits of the file leave as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from kerascheck.project.import_graph import added_folders
from kerascheck.source import dependencies
from kerascheck.source.code import compact, without_comments, without_strings
from kerascheck.source.reading import decode, display_path, read_bytes
from kerascheck.source.text import Source, Unreadable

LARGEST_SCRIPT = 300_000
"""Bytes of the longest file that is looked into only because it lies beside another."""
# A line's end is found faster than a line's start.
_IMPORT_LINE = re.compile(
    r"\n[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)|import[ \t]+(?P<plain>[^\n#;(]+))"
)


def code_of(source: Source) -> str:
    """The text with comments and docstrings blanked out: offsets are those of the text."""
    return without_comments(source.without_data)


def bare(code: str) -> str:
    """Code with empty strings and no more white space than it needs, for what looks for names alone."""
    return without_strings(compact(code))


def import_lines(bare_code: str) -> Iterator[re.Match[str]]:
    """The import statements of code: what they import from as ``base`` with the ``names``, or the modules as ``plain``."""
    return _IMPORT_LINE.finditer(f"\n{bare_code}")


def import_names(bare_code: str) -> list[tuple[str, int]]:
    """What the import lines of the code may name: dotted names with their number of leading dots."""
    found: dict[tuple[str, int], None] = {}
    for match in import_lines(bare_code):
        base, names, plain = match["base"], match["names"], match["plain"]
        if plain:
            found.update(dict.fromkeys((part.split()[0], 0) for part in plain.split(",") if part.split()))
        elif base is not None:
            dotted = base.lstrip(".")
            level = len(base) - len(dotted)
            found[dotted, level] = None
            for name in names.strip("( )").split(","):
                if name.split():
                    found[f"{dotted}.{name.split()[0]}" if dotted else name.split()[0], level] = None
    return list(found)


def note_imports(path: str, code: str, names: list[tuple[str, int]]) -> None:
    """Note what a module imports: see :func:`imports`."""
    dependencies.note(imports.__name__, path, _told(path, code, names))


@dependencies.question_of_text
def imports(path: str) -> str | None:
    """What tells whether a file imports others, and where it looks for them; None where it cannot be read."""
    try:
        code = code_of(decode(display_path(path), read_bytes(path)))
    except (OSError, Unreadable):
        return None
    return _told(path, code, import_names(bare(code)))


def _told(path: str, code: str, names: list[tuple[str, int]]) -> str:
    return dependencies.digest_of(
        [*(f"{level} {name}" for name, level in names), "", *added_folders(code, os.path.dirname(path))]
    )


def mentions(path: str, pattern: re.Pattern[str]) -> bool:
    """Whether a script mentions a pattern, strings and comments included; what is longer than any script is not looked into."""
    return bool(mentioned(f"{int(pattern.flags & re.M)}\n{pattern.pattern}\n{path}"))


@dependencies.question_of_text
def mentioned(asked: str) -> bool:
    """:func:`mentions`, of flags, pattern and path, each on a line."""
    pattern, path = _asked(asked)
    try:
        data = read_bytes(path)
    except OSError:
        return False
    return len(data) <= LARGEST_SCRIPT and re.search(pattern.pattern.encode(), data, pattern.flags & re.M) is not None


def note_code(path: str, pattern: re.Pattern[str], holds: bool) -> None:
    """Note whether the code of a script, without strings, holds a pattern."""
    dependencies.note(held.__name__, f"{int(pattern.flags & re.M)}\n{pattern.pattern}\n{path}", holds)


@dependencies.question_of_text
def held(asked: str) -> bool:
    """The answer that :func:`note_code` notes, of flags, pattern and path, each on a line."""
    pattern, path = _asked(asked)
    try:
        source = decode(display_path(path), read_bytes(path))
    except (OSError, Unreadable):
        return False
    return pattern.search(bare(code_of(source))) is not None


def _asked(asked: str) -> tuple[re.Pattern[str], str]:
    flags, _, rest = asked.partition("\n")
    pattern, _, path = rest.rpartition("\n")
    return re.compile(pattern, int(flags)), path
