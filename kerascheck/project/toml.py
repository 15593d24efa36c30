"""TOML documents: parse them, and show where one is wrong."""

from __future__ import annotations

import re
import sys
from typing import Any

from kerascheck.source.escape import escaped

_AT = re.compile(r"\(at line (\d+), column (\d+)\)")
_LONGEST_EXCERPT = 100  # characters of a line
_MOST_KEY_PARTS = 1000  # joined by dots; Python's parser takes quadratic time
_BETWEEN_KEYS = re.compile(r"[\n,=\[\]{}]")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document; raises ValueError."""
    if text.count(".") > _MOST_KEY_PARTS and any(
        part.count(".") > _MOST_KEY_PARTS for part in _BETWEEN_KEYS.split(text)
    ):
        raise ValueError("has a key of too many parts")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        # Python rejects numbers of more than 4,300 digits.
        raise ValueError("has a number of too many digits") from None
    return document


def excerpt(problem: str, text: str) -> str:
    """The line of an error in TOML, and a caret below its column; empty if the error names none."""
    at = _AT.search(problem)
    lines = text.splitlines()
    if at is None or int(at[1]) > len(lines):
        return ""
    line, column = escaped(lines[int(at[1]) - 1].replace("\t", " ")), int(at[2])
    if len(line) > _LONGEST_EXCERPT:
        return ""
    return f"  {line}\n  {' ' * (column - 1)}^\n"
