"""The command ``server``: the language server."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from kerascheck.cli.options import folders_option

if TYPE_CHECKING:
    from typing_extensions import Buffer


_LONGEST_MESSAGE = 1 << 29
"""Bytes: JSON may take six for one of the largest file that is linted."""
_LENGTH = re.compile(rb"Content-Length: (\d+)\r\n\Z")


class _FromEditor(io.BufferedReader):
    """The way from the editor, without messages that nobody can hold: pygls would end on their length.

    Only headers are read by the line. Where the length of a message is wrong, the rest of the message stands before the next
    header, and need not end a line: it is left out.
    """

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        header = _LENGTH.search(line)
        if header is None:
            return line
        digits = header[1].lstrip(b"0")
        if len(digits) > len(str(_LONGEST_MESSAGE)) or int(digits or b"0") > _LONGEST_MESSAGE:
            click.echo(f"kerascheck: a message is left out: it has more than {_LONGEST_MESSAGE >> 20} MB", err=True)
            return b"\r\n"
        return header[0]


class _ToEditor(io.BufferedWriter):
    """The way to the editor; its end is the end of the server, of which pygls would tell it without end."""

    def write(self, data: Buffer) -> int:
        with _ends_with_the_editor():
            return super().write(data)

    def flush(self) -> None:
        with _ends_with_the_editor():
            super().flush()


@contextlib.contextmanager
def _ends_with_the_editor() -> Iterator[None]:
    try:
        yield
    except OSError:
        # Its checker ends when its pipe does.
        os._exit(1)


@click.command(short_help="Serve an editor: the language server.")
@folders_option
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="Accepted for editors: there is no other way to talk to it."
)
def server() -> int:
    """Serve an editor: the language server protocol over standard input and output."""
    if find_spec("pygls") is None or find_spec("pygls.lsp") is None:
        raise click.ClickException("the language server needs pygls 2: pip install 'kerascheck[server]'")
    from kerascheck.catalog import registry
    from kerascheck.lsp.language_server import Server

    output = _ToEditor(io.FileIO(os.dup(1), "wb"))
    # What anything else writes is not for the editor.
    os.dup2(2, 1)
    Server(registry.used_folders()).start_io(_FromEditor(io.FileIO(os.dup(0), "rb")), output)
    return 0
