"""Names and messages as a terminal, a log or a program that reads lines can take them."""

from __future__ import annotations

import re
import unicodedata

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NOT_ASCII = re.compile(r"[^\n -~]")


def escaped(text: str, keep: str = "") -> str:
    """``text`` without characters that end a line, steer a terminal or change the direction of text.

    A file may be called ``a\\n::error::b.py``, or by bytes that are no text at all. Spaces of all kinds stay.

    Args:
        keep: control characters that stay, too.

    Example:
        >>> escaped("a\\nb.py")
        'a\\\\nb.py'
    """
    # Almost every text is one that Python calls printable, which it finds out fast.
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
        # A byte of a name that is no UTF-8 (PEP 383).
        code -= 0xDC00
    elif character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shell_word(argument: str) -> str:
    """An argument of a command on one line, as bash, zsh and ksh read it."""
    import shlex

    if escaped(argument) == argument:
        return shlex.quote(argument)
    # What was escaped has a backslash already; those that the name holds get another.
    plain = "".join(
        escaped(character) if not _is_shown(character) else f"\\{character}" if character in "\\'" else character
        for character in argument
    )
    return f"$'{plain}'"


def as_json(document: object, indent: int | None = None) -> str:
    """JSON with the same characters spelled as escapes of JSON, which keeps them; of a name that is no UTF-8, too.

    Example:
        >>> as_json("a\\u202eb.py")
        '"a\\\\u202eb.py"'
    """
    # Not for every run: "kerascheck --version" must stay quick.
    import json

    return _NOT_ASCII.sub(_in_json, json.dumps(document, indent=indent, ensure_ascii=False))


def _in_json(match: re.Match[str]) -> str:
    if _is_shown(match[0]):
        return match[0]
    # Beyond 16 bits JSON has pairs.
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
