"""The command ``rule``: explain a rule, or list all of them."""

from __future__ import annotations

import click

from kerascheck.cli import completers
from kerascheck.cli.options import folders_option


@click.command(short_help="Explain a rule, or list all of them.")
@click.argument("name", required=False, metavar="[CODE|NAME]", shell_complete=completers.rule)
@click.option("--all", "every", is_flag=True, help="Explain every rule.")
@folders_option
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(name: str | None, every: bool, output_format: str) -> int:
    """Explain a rule: what it costs, what the runtime does by itself, what to write. Lists the rules without a name."""
    from kerascheck.catalog import registry
    from kerascheck.project.config import ConfigError
    from kerascheck.report import rule_page

    if name and every:
        raise click.UsageError("name a rule or give --all, not both")
    try:
        specs = [registry.find(name)] if name else registry.rule_specs()
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    if output_format == "json":
        click.echo(rule_page.as_json(specs, single=name is not None))
    elif name or every:
        from kerascheck.report.text import terminal_columns

        page, width = "\n\n".join(map(rule_page.as_text, specs)), terminal_columns(otherwise=0)
        click.echo(rule_page.fitted(page, width) if width else page)
    else:
        click.echo(rule_page.as_list(specs))
    return 0
