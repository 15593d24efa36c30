"""The command ``server``; registered by ``kerascheck.cli``."""

from __future__ import annotations

import os
from importlib.util import find_spec

import click

from kerascheck.cli import folders_option


@click.command()
@folders_option
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="Accepted for editors: there is no other way to talk to it."
)
def server() -> int:
    """Serve an editor: the language server protocol over standard input and output."""
    if find_spec("pygls") is None or find_spec("pygls.lsp") is None:
        raise click.ClickException("the language server needs pygls 2: pip install 'kerascheck[server]'")
    from kerascheck import registry
    from kerascheck.server.language_server import Server

    # What anything else writes is not for the editor.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        Server(registry.used_folders()).start_io(stdout=output)
    return 0
