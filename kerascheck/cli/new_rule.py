"""The command ``new-rule``: write the folder of a new rule."""

from __future__ import annotations

import click

from kerascheck.cli import terminal


@click.command("new-rule", short_help="Write the folder of a new rule.")
@click.argument("place", metavar="FAMILY/NAME")
@click.option("--rules", "folder", metavar="DIR", help="Write it into this folder of your own, not into kerascheck.")
def new_rule_command(place: str, folder: str | None) -> int:
    """Write the folder of a new rule, such as layers/print-in-step, to be filled in."""
    from kerascheck.cli.rule_template import new_rule

    try:
        for line in new_rule(place, folder):
            click.echo(terminal.escaped(line))
    except OSError as problem:
        raise click.ClickException(f"{problem.filename} cannot be written: {problem.strerror}") from None
    return 0
