"""Escaping of names and messages for terminals, logs and line-based programs."""

from __future__ import annotations

import re
import unicodedata

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NOT_ASCII = re.compile(r"[^\n -~]")


def escaped(text: str, keep: str = "") -> str:
    """Escape characters that end a line, control a terminal or change the text direction.

    File names may contain line breaks, as in ``a\\n::error::b.py``, or bytes that are not valid text. All kinds of
    spaces are kept.

    Args:
        text: the text.
        keep: control characters to keep.

    Example:
        >>> escaped("a\\nb.py")
        'a\\\\nb.py'
    """
    # Fast path: almost every text is printable.
    if text.isprintable():
        return text
    return "".join(
        character if character in keep or _is_shown(character) else _spelled(character) for character in text
    )


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _spelled(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        # A byte of a name that is not valid UTF-8 (PEP 383).
        code -= 0xDC00
    elif character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shell_word(argument: str) -> str:
    """Quote an argument of a command on one line, for bash, zsh and ksh."""
    import shlex

    if escaped(argument) == argument:
        return shlex.quote(argument)
    # Escaped characters already have a backslash; backslashes in the name get another.
    plain = "".join(
        escaped(character) if not _is_shown(character) else f"\\{character}" if character in "\\'" else character
        for character in argument
    )
    return f"$'{plain}'"


def as_json(document: object, indent: int | None = None) -> str:
    """Serialise to JSON, with the same characters as JSON escapes.

    The escapes preserve the characters, even in names that are not valid UTF-8.

    Example:
        >>> as_json("a\\u202eb.py")
        '"a\\\\u202eb.py"'
    """
    # A local import: "kerascheck --version" must stay quick.
    import json

    return _NOT_ASCII.sub(_in_json, json.dumps(document, indent=indent, ensure_ascii=False))


def _in_json(match: re.Match[str]) -> str:
    if _is_shown(match[0]):
        return match[0]
    # Above 16 bits JSON uses surrogate pairs.
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
