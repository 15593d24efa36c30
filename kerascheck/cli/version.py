"""The command ``version``."""

from __future__ import annotations

import click

import kerascheck


@click.command(short_help="Print the version.")
def version() -> int:
    """Print the version of kerascheck."""
    click.echo(f"kerascheck {kerascheck.__version__}")
    return 0
