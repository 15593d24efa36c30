"""``verify`` on a list of scripts, as the command line has it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping

import click

from kerascheck.cli.verify_options import VerifyOptions
from kerascheck.runtime.verify import many, memory
from kerascheck.runtime.verify.findings import NotAScript
from kerascheck.runtime.verify.prepared import Prepared, prepare
from kerascheck.runtime.verify.remote import pack
from kerascheck.runtime.verify.remote import run as remote
from kerascheck.runtime.verify.remote.target import Target
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.running import Progress, print_report, verify_here


def verify_many(path: str, arguments: tuple[str, ...], options: VerifyOptions) -> int:
    """Verify the scripts of a list; the exit code."""
    target = options.target
    if arguments:
        raise click.UsageError("arguments of the scripts of a list stand in its lines")
    if options.output_format == "html":
        raise click.UsageError("a list has no HTML report: take --output-format text or json")
    if options.jobs > 1 and (target is None or target.kind == "ssh"):
        raise click.UsageError(
            "--jobs is for slurm and ray: on one machine, scripts that run at once would disturb each other"
        )
    lines, rows, on = many.read_list(path), many.Rows(path), target.label if target else many.HERE
    todo = [line for line in lines if options.again or not rows.is_finished(line, on)]
    click.echo(
        f"kerascheck verify: {len(lines) - len(todo)} of {len(lines)} scripts are done; rows are kept in {rows.path}",
        err=True,
    )

    def finished(line: many.Line, result: Verification | None, problem: Exception | None) -> None:
        row = rows.add(line, on, result, None if problem is None else str(problem))
        if result is not None and not options.no_memory:
            memory.remember(result)
        done = sum(rows.is_finished(each, on) for each in lines)
        click.echo(f"{done}/{len(lines)} {line.text}: {', '.join(many.cells(row))}", err=True)

    prepared = _prepare_many(todo, path, options, finished)
    try:
        jobs = _jobs_there(prepared, target, options) if target else _jobs_here(prepared, options)
    except _NotDone as problem:
        raise click.ClickException(str(problem)) from None
    many.measure_all(jobs, finished, options.jobs)
    found = [rows.of(line, on) for line in lines]
    if options.output_format == "json":
        print_report(json.dumps({"version": 1, "rows": found}, indent=2), options.output_file)
    else:
        print_report("\n".join(many.table(lines, found)), options.output_file)
    return many.exit_code(found)


class _NotDone(Exception):
    """Nothing was run; ``str()`` says why."""


def _prepare_many(
    todo: list[many.Line], path: str, options: VerifyOptions, finished: many.Finished
) -> dict[many.Line, Prepared]:
    """What is to be run for the lines of a list; lines that are no scripts are finished at once."""
    prepared = {}
    configuration, folder = options.configuration(), os.path.dirname(os.path.abspath(path))
    for line in todo:
        try:
            prepared[line] = prepare(
                line.script, line.arguments, configuration, python=options.python, directory=folder
            )
        except NotAScript as problem:
            finished(line, None, problem)
    return prepared


def _jobs_here(prepared: Mapping[many.Line, Prepared], options: VerifyOptions) -> dict[many.Line, many.Job]:
    if prepared:
        click.echo(
            click.style(
                f"kerascheck verify EXECUTES {len(prepared)} SCRIPTS of yours, one after the other. Ctrl-C stops; the next run goes on.",
                bold=True,
            ),
            err=True,
        )

    def job(each: Prepared) -> many.Job:
        def run(stop: threading.Event) -> Verification:
            with Progress() as progress:
                return verify_here(each, options.limits, progress)

        return run

    return {line: job(each) for line, each in prepared.items()}


def _jobs_there(
    prepared: Mapping[many.Line, Prepared], target: Target, options: VerifyOptions
) -> dict[many.Line, many.Job]:
    """Pack all projects, ask once, and return what measures each script there; raises _NotDone."""
    try:
        uploads = {
            line: pack.of_project(each.run.path, each.run.sources, include=options.include)
            for line, each in prepared.items()
        }
        together = pack.by_project(uploads.values())
        if together:
            remote.agree(
                target, options.python, together, [each.command for each in prepared.values()], yes=options.yes
            )
    except (pack.TooLarge, pack.NeedsSecret, remote.NotAgreed) as problem:
        raise _NotDone(f"{target.label}: {problem}") from None

    def job(line: many.Line, each: Prepared) -> many.Job:
        def run(stop: threading.Event) -> Verification:
            # Several jobs at once would fight for the line on the terminal.
            with Progress(active=options.jobs == 1) as progress:
                return each.result(
                    *remote.measure(
                        target,
                        options.python,
                        uploads[line],
                        each.run,
                        options.limits,
                        progress.show,
                        each.variants,
                        stop,
                    )
                )

        return run

    return {line: job(line, each) for line, each in prepared.items()}
