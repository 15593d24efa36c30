"""The import scan: queries about the text of a file whose answers survive most edits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from kerascheck.project.import_graph import added_folders, packages_of
from kerascheck.source import dependencies
from kerascheck.source.code import compact, without_comments, without_strings
from kerascheck.source.reading import decode, display_path, read_bytes
from kerascheck.source.text import Source, Unreadable

LARGEST_SCRIPT = 300_000
"""Largest file to scan only because it is in the same folder as another, in bytes."""
# Searching for the end of a line is faster than for its start.
_IMPORT_LINE = re.compile(
    r"[\n;][ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)|import[ \t]+(?P<plain>[^\n#;(]+))"
)


def code_of(source: Source) -> str:
    """The text with comments and docstrings blanked out; offsets stay the same."""
    return without_comments(source.without_data)


def bare(code: str) -> str:
    """Code with empty strings and minimal white space, for searches of names."""
    return without_strings(compact(code))


def import_lines(bare_code: str) -> Iterator[re.Match[str]]:
    """Match the import statements of code, with the groups ``base`` and ``names``, or ``plain``."""
    return _IMPORT_LINE.finditer(f"\n{bare_code}")


def import_names(bare_code: str) -> list[tuple[str, int]]:
    """The dotted names that import lines may refer to, with their number of leading dots.

    Importing ``a.b`` also imports the package ``a``.
    """
    found: dict[tuple[str, int], None] = {}
    for match in import_lines(bare_code):
        base, names, plain = match["base"], match["names"], match["plain"]
        if plain:
            for part in filter(None, map(str.split, plain.split(","))):
                found.update(dict.fromkeys((name, 0) for name in (part[0], *packages_of(part[0]))))
        elif base is not None:
            dotted = base.lstrip(".")
            level = len(base) - len(dotted)
            found.update(dict.fromkeys((name, level) for name in (dotted, *packages_of(dotted))))
            for name in names.strip("( )").split(","):
                if name.split():
                    found[f"{dotted}.{name.split()[0]}" if dotted else name.split()[0], level] = None
    return list(found)


def note_imports(path: str, code: str, names: list[tuple[str, int]]) -> None:
    """Note the answer of :func:`imports` for a module."""
    dependencies.note(imports.__name__, path, _digest(path, code, names))


@dependencies.tracked_by_content
def imports(path: str) -> str | None:
    """The digest of a file's imports and of the folders that it adds to ``sys.path``; None if unreadable."""
    try:
        code = code_of(decode(display_path(path), read_bytes(path)))
    except (OSError, Unreadable):
        return None
    return _digest(path, code, import_names(bare(code)))


def _digest(path: str, code: str, names: list[tuple[str, int]]) -> str:
    return dependencies.digest_of(
        [*(f"{level} {name}" for name, level in names), "", *added_folders(code, os.path.dirname(path))]
    )


def mentions(path: str, pattern: re.Pattern[str]) -> bool:
    """Whether a script matches a pattern, strings and comments included; False for files too long to be a script."""
    return bool(mentioned(f"{int(pattern.flags & re.M)}\n{pattern.pattern}\n{path}"))


@dependencies.tracked_by_content
def mentioned(asked: str) -> bool:
    """The query of :func:`mentions`; the argument has flags, pattern and path, each on a line."""
    pattern, path = _parsed(asked)
    try:
        data = read_bytes(path)
    except OSError:
        return False
    return len(data) <= LARGEST_SCRIPT and re.search(pattern.pattern.encode(), data, pattern.flags & re.M) is not None


def note_code(path: str, pattern: re.Pattern[str], holds: bool) -> None:
    """Note the answer of :func:`held` for a script."""
    dependencies.note(held.__name__, f"{int(pattern.flags & re.M)}\n{pattern.pattern}\n{path}", holds)


@dependencies.tracked_by_content
def held(asked: str) -> bool:
    """Whether code without strings matches a pattern; the argument has flags, pattern and path, each on a line."""
    pattern, path = _parsed(asked)
    try:
        source = decode(display_path(path), read_bytes(path))
    except (OSError, Unreadable):
        return False
    return pattern.search(bare(code_of(source))) is not None


def _parsed(asked: str) -> tuple[re.Pattern[str], str]:
    flags, _, rest = asked.partition("\n")
    pattern, _, path = rest.rpartition("\n")
    return re.compile(pattern, int(flags)), path
