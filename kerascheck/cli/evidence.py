"""The command ``evidence``: measure the examples of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kerascheck.cli import completers
from kerascheck.cli.options import folders_option
from kerascheck.runtime.verify.running import Progress, ends_on_signals

if TYPE_CHECKING:
    from kerascheck.catalog.measured import Row


@click.command(
    short_help="Measure the examples of the rules.",
    epilog="Exit codes: 0 measured, 2 there is no GPU to measure on, or other programs use the machine.",
)
@click.argument("rules", nargs=-1, metavar="[CODE|NAME...]", shell_complete=completers.rule)
@folders_option
@click.option("--budget", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds per variant, about.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--update", type=click.Path(dir_okay=False), help="Put the rows into this table (JSON), keeping its others."
)
@click.option("--gpu", "on_gpu", is_flag=True, help="Fill the GPU column: on TensorFlow, or else on JAX or PyTorch.")
@click.option(
    "--again",
    is_flag=True,
    help="With --update: also measure what the table has from this machine with these versions.",
)
def evidence(
    rules: tuple[str, ...], budget: float, output_format: str, update: str | None, on_gpu: bool, again: bool
) -> int:
    """Measure the examples of the rules: each slow.py against its fast.py, on this machine."""
    import json
    from pathlib import Path

    from kerascheck.catalog import registry
    from kerascheck.catalog.measured import for_rule, read_table
    from kerascheck.project.config import ConfigError
    from kerascheck.runtime.verify import evidence as table
    from kerascheck.runtime.verify import gpu_evidence
    from kerascheck.runtime.verify.budget import Budget
    from kerascheck.runtime.verify.files import write_whole
    from kerascheck.runtime.verify.quiet import NotQuiet

    try:
        specs = [registry.find(rule) for rule in rules] or registry.rule_specs()
        engine = gpu_evidence.engine() if on_gpu else None
        if engine is None:
            specs = [spec for spec in specs if table.has_example(spec.folder)]
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    except gpu_evidence.NoGpu as problem:
        click.echo(f"kerascheck evidence --gpu: {problem}", err=True)
        return 2
    kept = read_table(Path(update)) if update else []
    if not again:
        versions = table.installed_versions()
        specs = [
            spec
            for spec in specs
            if not (
                gpu_evidence.is_finished(spec.code, kept, engine)
                if engine
                else table.is_finished(spec.code, kept, versions)
            )
        ]
    where = f" on {engine.card} with {engine.backend}" if engine else ""
    click.echo(
        f"kerascheck evidence executes the examples of {len(specs)} rules{where}. Ctrl-C stops everything.", err=True
    )
    progress = Progress()

    def tell(row: Row) -> None:
        progress.clear()
        click.echo(f"{row['code']} {row['name']}: {'; '.join(for_rule(row['code'], [row]) or ())}", err=True)
        if update:  # after every row: a table takes an hour, and may be interrupted
            path = Path(update)
            rows = table.merge(read_table(path), [row])
            write_whole(path, json.dumps({"rows": rows}, indent=1) + "\n")

    rows: list[Row] = []
    with ends_on_signals():
        try:
            if engine:
                rows += gpu_evidence.collect(specs, engine, Budget(budget), progress.show, tell)
            else:
                rows += table.collect(specs, Budget(budget), progress.show, tell)
        except NotQuiet as problem:
            progress.clear()
            kept_where = f" {update} keeps the finished rows; run it again later." if update else ""
            click.echo(f"kerascheck evidence: {problem}, so it stops.{kept_where}", err=True)
            return 2
    progress.clear()
    click.echo(json.dumps({"rows": rows}, indent=1) if output_format == "json" else "\n".join(table.render(rows)))
    return 0
