"""The code of a Jupyter notebook (nbformat 4) as one Python text.

IPython syntax is blanked out, and every remaining character keeps its line and column. A command becomes ``pass`` instead of
nothing, because it may be the only statement of a block.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from dataclasses import replace

from kerascheck.source.text import NEWLINE, Cell, Source, Unreadable

_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:cells|metadata|nbformat|nbformat_minor|worksheets)"\s*:')
_SPACES = b" \t\r\n\xef\xbb\xbf"
"""White space of JSON, and the byte order mark."""
_TRANSPARENT_CELLS = frozenset("time timeit capture prun memit python python3 pypy why".split())
"""Cell magics that run the body as Python in the notebook's own namespace (or nearly so)."""
# Commands that the text of a notebook tells its reader to run alongside.
_READER_COMMANDS = re.compile(r"%?\btensorboard\b[^\n]*--logdir[^\n]*")
_TRANSPARENT_LINES = re.compile(r"%(?:time|timeit|prun|memit)[ \t]+(?:-{1,2}(?:[nrpsl][ \t]*\w+|\w+)[ \t]+)*")
_COMPOUND = re.compile(r"(?:for|while|if|with|try|def|class|async|match)\b|@")
_ASSIGNED = re.compile(r"[^=#'\"!%]*[^=#'\"!%<>]=[ \t]*(?=[!%])")
_COMMAND = re.compile(r"[!%?,;/]|[\w.\[\]*]+\?\??[ \t]*$|[\w.]+[ \t]*\?\?[ \t]*$")
_COMMAND_LINE = re.compile(r"(?m)^[ \t]*(?P<sign>[!%])(?:[^\r\n\\]|\\\r?\n|\\.)*")
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|shell|script bash)\b")
_AUTOMAGIC = re.compile(
    r"(?:pip3?|conda|mamba|cd|ls|cat|mkdir|rmdir|rm|cp|mv|load_ext|reload_ext|matplotlib|tensorboard)[ \t]+"
    r"(?!(?:in|is|and|or|not|if)\b)(?:[\w./~'\"$-]|\\(?=[\w\\]))+(?![ \t]*[=(])"
)
_INDENTED = re.compile(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))*[ \t]+[^\s#]")
_TOKEN = re.compile(r"'''|\"\"\"|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|#|[()\[\]{}]", re.DOTALL)


def looks_like_one(data: bytes) -> bool:
    """Whether unnamed data is a notebook, complete or not: its JSON begins like one."""
    return _BEGINNING.match(data) is not None and (b'"cells"' in data or b'"nbformat"' in data)


def extract(path: str, data: bytes) -> Source:
    """Return all code cells in order, and the command lines of code and text; raises :class:`Unreadable`.

    Notebooks in other languages than Python give no cells, nor do those without any, such as an empty file.
    """
    if data.strip(_SPACES) in (b"", b"{}"):
        return Source(path, "", cells=())
    try:
        # No number of a notebook matters, and Python rejects numbers of more than 4,300 digits.
        notebook = json.loads(data.decode("utf-8-sig"), parse_int=str)
    except UnicodeDecodeError:
        raise Unreadable("is not valid utf-8, so not a notebook") from None
    except json.JSONDecodeError as problem:
        raise Unreadable(f"is not a notebook: {problem.msg}", problem.lineno, problem.colno) from None
    except RecursionError:
        raise Unreadable("is not a notebook: nested too deeply") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        if isinstance(notebook, dict) and "worksheets" in notebook:
            raise Unreadable("is a notebook of format 3: convert it with 'jupyter nbconvert --to notebook'")
        raise Unreadable("is not a notebook: it has no list of cells")
    if not _is_python(notebook.get("metadata")):
        return Source(path, "", cells=())
    codes: list[tuple[int, str]] = []
    commands: list[str] = []
    for index, cell in enumerate(notebook["cells"]):
        if not isinstance(cell, dict):
            continue
        code = cell.get("source", "")
        code = "".join(map(str, code)) if isinstance(code, list) else str(code)
        if cell.get("cell_type") != "code":
            commands += _READER_COMMANDS.findall(code)
            continue
        codes.append((index, code))
        commands.append(code if _SHELL_CELL.match(code) else commands_in(code, as_python(code)))
    return joined(Source(path, "", commands="\n".join(filter(None, commands))), codes)


def joined(source: Source, codes: Iterable[tuple[int, str]]) -> Source:
    """Return the notebook with other code cells, given by index and code."""
    blanked: list[str] = []
    written: list[str] = []
    cells, length = [], 0
    for index, code in codes:
        text = as_python(code)
        header, end = header_for(text), "" if text.endswith(("\n", "\r")) else "\n"
        blanked += (header, text, end)
        written += (header, code, end)
        start = length + len(header)
        length = start + len(code) + len(end)
        cells.append(Cell(index, start, length, bool(end)))
    text, original = "".join(blanked), "".join(written)
    return replace(source, text=text, cells=tuple(cells), original=None if original == text else original)


def codes_of(source: Source) -> dict[int, str]:
    """Return the original code of every code cell by index."""
    return {cell.index: source.written[cell.start : cell.end - cell.is_closed] for cell in source.cells or ()}


@functools.lru_cache(1024)
def as_python(code: str) -> str:
    """Return the code of one cell as plain Python of the same length."""
    return blank(_without_strange_characters(code))


def _without_strange_characters(code: str) -> str:
    """Replace characters that JSON allows and a Python file does not; only a leading byte order mark is allowed."""
    return re.sub("[\\0\\ud800-\\udfff]", " ", "\f" + code[1:] if code.startswith("\ufeff") else code)


def header_for(code: str) -> str:
    """Return the header for a cell whose first statement is indented, which IPython accepts; otherwise empty."""
    return "if True:\n" if _INDENTED.match(code) else ""


def without(source: Source, cell: Cell) -> Source:
    """Return the notebook with one cell and its header blanked out; all other text keeps its offsets."""
    start = cell.start - len(header_for(source.text[cell.start : cell.end]))
    blanked = re.sub(r"[^\r\n]", " ", source.text[start : cell.end])
    return replace(source, text=source.text[:start] + blanked + source.text[cell.end :])


def _is_python(metadata: object) -> bool:
    metadata = metadata if isinstance(metadata, dict) else {}
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        value = metadata.get(section)
        language = value.get(key) if isinstance(value, dict) else None
        if isinstance(language, str):
            return language.lower() in ("python", "python3", "ipython")
    return True


def commands_in(code: str, blanked: str) -> str:
    """Return the command lines for the shell or IPython, one per line.

    Args:
        code: the code of the cell.
        blanked: the code from :func:`blank`, which keeps lines in strings that look like commands.
    """
    return "\n".join(
        match[0] for match in _COMMAND_LINE.finditer(code) if blanked[match.start("sign")] != match["sign"]
    )


def blank(code: str) -> str:
    """Blank out magics, shell commands and help requests of one cell; the length stays."""
    lines = _split(code)
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        if re.split(r"\W", lines[first][2:], maxsplit=1)[0] not in _TRANSPARENT_CELLS:
            return "".join(_spaces(line) for line in lines)
        lines[first] = _spaces(lines[first])
    return "".join(_blank_lines(lines))


def _split(code: str) -> list[str]:
    """Split ``code`` into lines with their newlines."""
    starts = [0, *(match.end() for match in NEWLINE.finditer(code))]
    return [code[start:end] for start, end in zip(starts, [*starts[1:], len(code)])]


def _spaces(line: str) -> str:
    return re.sub(r"[^\r\n]", " ", line)


def _blank_lines(lines: list[str]) -> list[str]:
    depth, quote, continued, command_continues = 0, "", False, False
    result = []
    for line in lines:
        backslash = line.rstrip("\r\n").endswith("\\")
        if command_continues:
            command_continues = backslash
            result.append(_spaces(line))
            continue
        if not (depth or quote or continued):
            replaced = _without_command(line)
            if replaced is not None:
                line, command_continues = replaced
                if command_continues:
                    result.append(line)
                    continue
                backslash = line.rstrip("\r\n").endswith("\\")
        result.append(line)
        depth, quote = _after(line, depth, quote)
        continued = backslash and not quote
    return result


def _without_command(line: str) -> tuple[str, bool] | None:
    """Blank out the command of a line; the flag tells whether it continues on the next line. None without a command."""
    body = line.rstrip("\r\n")
    newline = line[len(body) :]
    code = body.lstrip(" \t\f")
    indent = body[: len(body) - len(code)]
    timed = _TRANSPARENT_LINES.match(code)
    if timed and code[timed.end() :] and not _COMPOUND.match(code, timed.end()):
        return f"{indent}pass;".ljust(len(indent) + timed.end()) + code[timed.end() :] + newline, False
    if _COMMAND.match(code) or _AUTOMAGIC.match(code):
        statement = "pass" if len(code) >= 4 else "0"
        return indent + statement.ljust(len(code)) + newline, body.endswith("\\")
    assigned = _ASSIGNED.match(code)
    if assigned is None:
        return None
    timed = _TRANSPARENT_LINES.match(code, assigned.end())
    if timed and code[timed.end() :]:
        return indent + assigned[0].ljust(timed.end()) + code[timed.end() :] + newline, False
    # IPython's name for the last output, an unknown value.
    return indent + (assigned[0] + "_").ljust(len(code)) + newline, body.endswith("\\")


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Return the bracket depth and the open triple quote after ``line``, given those before it."""
    position = 0
    while True:
        if quote:
            end = re.compile(rf"(?:\\.|(?!{quote}).)*{quote}", re.DOTALL).match(line, position)
            if end is None:
                return depth, quote
            position, quote = end.end(), ""
        token = _TOKEN.search(line, position)
        if token is None or token[0] == "#":
            return depth, quote
        position = token.end()
        if token[0] in ("'''", '"""'):
            quote = token[0]
        elif token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth = max(depth - 1, 0)
