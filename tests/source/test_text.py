"""Conversion of bytes to text, and of offsets to lines and columns."""

import pytest

from kerascheck.finding import Location
from kerascheck.source import Source, Unreadable, decode, display_path, notebook, read


@pytest.mark.parametrize(
    ("data", "text", "encoding", "bom"),
    [
        (b"x = '\xc3\xa9'\n", "x = 'é'\n", "utf-8", False),
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n", "utf-8", True),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso-8859-1", False),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None, "cp1252", False),
        (b"x = 1\ry = 2\r", "x = 1\ry = 2\r", "utf-8", False),
        (b"\x0cx = 1\n", "\x0cx = 1\n", "utf-8", False),
        (b"", "", "utf-8", False),
    ],
)
def test_bytes_survive_a_round_trip(data, text, encoding, bom):
    source = decode("a.py", data)
    assert text is None or source.text == text
    assert (source.encoding, source.bom) == (encoding, bom)
    assert source.encode() == data


@pytest.mark.parametrize(
    ("data", "message", "line", "column"),
    [
        (b"x = 1\r\ny = '\xff'\n", "is not valid utf-8 (byte 0xff)", 2, 6),
        (b"# coding: nonsense\n", "unknown encoding: nonsense", 1, 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "the mark of UTF-8 and declares another encoding: correct the", 1, 1),
        ("x = 1\n".encode("utf-16"), "is UTF-16: save it as UTF-8", 1, 1),
        (b"# coding: ascii\nx = '\xe9'\n", "is not valid ascii (byte 0xe9): correct the encoding in", 2, 6),
        (b"x = 1\n\0\n", "null byte", 2, 1),
    ],
)
def test_undecodable_bytes_have_a_location(data, message, line, column):
    with pytest.raises(Unreadable, match="(?s).*") as caught:
        decode("a.py", data)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_unreadable_files(tmp_path):
    with pytest.raises(Unreadable, match="cannot be read: No such file"):
        read(tmp_path / "missing.py")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_locations_count_every_kind_of_newline(newline):
    text = newline.join(["a = 1", "", "\tb = f(", "  c)", ""])
    start = text.index("f(")
    source = Source("a.py", text)
    assert source.locate(start, text.index(")") + 1) == Location("a.py", None, 3, 6, 4, 5)
    assert source.offset(3, 6) == start
    assert source.line_text(start) == "\tb = f("


def test_form_feeds_and_line_separators_do_not_end_lines():
    source = Source("a.py", "a = 1\n\x0cb = '\u2028'; c\n")
    assert source.locate(source.text.index("c"), len(source.text) - 1).line == 2


def test_paths_in_the_working_directory_are_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert display_path(tmp_path / "a" / ".." / "b.py") == "b.py"
    assert display_path("../elsewhere.py") == str(tmp_path.parent / "elsewhere.py")


@pytest.mark.parametrize(
    ("text", "read", "commands"),
    [
        (
            "!pip install keras\nx = 1\n%time y = 2\n",
            "pass              \nx = 1\npass; y = 2\n",
            "!pip install keras\n%time y = 2",
        ),
        ("x = (7\n% 2)\n", "x = (7\n% 2)\n", ""),
        ('"""\n!ls\n"""\n', '"""\n!ls\n"""\n', ""),
        ("!ls\nx = '''\n!ls -l\n'''\n", "0  \nx = '''\n!ls -l\n'''\n", "!ls"),
        ("!ls\nx = = 1\n", "!ls\nx = = 1\n", ""),
        ("x = 1\n", "x = 1\n", ""),
    ],
)
def test_commands_of_a_script_exported_from_a_notebook(text, read, commands):
    source = decode("train.py", text.encode())
    assert (source.text, source.commands, source.written) == (read, commands, text)


def test_cells_around_an_offset():
    source = notebook.joined(Source("n.ipynb", ""), [(0, "a"), (2, " b\nc\n"), (3, ""), (7, "\n"), (9, "d")])
    for start in range(len(source.text) + 1):
        for end in range(start, len(source.text) + 1):
            around = [cell for cell in source.cells if cell.start <= start and end <= cell.end]
            assert source.cells_around(start, end) == around, (start, end)
    assert [source.cell(index) for index in (0, 2, 3, 7, 9)] == list(source.cells) and source.cell(1) is None
    assert Source("a.py", "x").cells_around(0, 1) == []
