"""``verify --apply`` as the command line has it: sentences, the patch, and the question."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from kerascheck.report.common import plain
from kerascheck.runtime.verify import apply, memory
from kerascheck.runtime.verify.findings import place_of
from kerascheck.runtime.verify.verdict import Verdict

if TYPE_CHECKING:
    from kerascheck.cli.verify_options import VerifyOptions
    from kerascheck.finding import Finding
    from kerascheck.lint.fix_files import Repair as FileRepair
    from kerascheck.runtime.verify.prepared import Prepared
    from kerascheck.runtime.verify.result import Verification

Measure = Callable[["Prepared"], "Verification | None"]


def refuse_contradictions(script: str | None, options: VerifyOptions) -> None:
    """Raise UsageError for options that do not go together with ``--apply`` and ``--yes``."""
    from kerascheck.runtime.verify.many import SUFFIX

    if options.yes and not (options.apply or options.on):
        raise click.UsageError("--yes answers the question of --apply or of --on: name one of them")
    if not options.apply:
        return
    if script is None:
        raise click.UsageError("--apply takes a script of yours, not the example of a rule")
    if script.endswith(SUFFIX):
        raise click.UsageError("--apply takes one script, not a list: verify each script by itself")
    if options.scaling:
        raise click.UsageError("--apply cannot be combined with --scaling, which measures no fix")
    if options.output_format != "text" and not options.yes:
        raise click.UsageError(f"--apply asks a question: --output-format {options.output_format} needs --yes too")


def apply_confirmed(prepared: Prepared, result: Verification, options: VerifyOptions, measure: Measure) -> int:
    """Write the confirmed fixes once the user agrees; the exit code of the command.

    ``measure``: verifies a script, to measure several fixes together; None, with the reason printed, if it could not.
    """
    selection = apply.select(result)
    if not selection.confirmed:
        _say(_nothing(selection))
        return result.exit_code
    try:
        apply.refuse_changed(result.linted)
        selection = _sound(selection, prepared, result, measure)
        # Measuring takes minutes, and so may an answer: files can change meanwhile.
        apply.refuse_changed(result.linted)
        repairs = apply.repaired_files(result.linted, list(selection.confirmed))
        for line in _summary(selection, result):
            _say(line)
        _show(repairs, err=options.output_format != "text" and not options.output_file)
        if not _agreed(options):
            return result.exit_code
        apply.refuse_changed(result.linted)
        apply.write(repairs)
    except apply.NotWritten as problem:
        _say(f"not written: {problem}")
        return 2
    memory.outdate(result, selection.confirmed)
    _say(f"Wrote {_fixes(len(selection.confirmed))} to {', '.join(each.source.path for each in repairs.values())}.")
    return result.exit_code


def _sound(selection: apply.Selection, prepared: Prepared, result: Verification, measure: Measure) -> apply.Selection:
    """The selection if a run confirms all of its fixes together; else its best fix, which was measured alone."""
    confirmed = apply.are_confirmed_together(selection, result)
    if confirmed is None:
        _say(f"No run had exactly the {len(selection.confirmed)} confirmed fixes: measuring them together, once.")
        again = measure(apply.together(selection, prepared))
        confirmed = again is not None and apply.is_confirmed(again)
        for verdict in again.comparison.verdicts if again else ():
            _say(f"  {verdict.name}: {verdict.status.value}{_ratio(verdict)}; {verdict.reason}")
    elif len(selection.confirmed) > 1:
        were = "confirmed" if confirmed else "not confirmed"
        _say(f"A run had exactly the {len(selection.confirmed)} confirmed fixes together: {were}.")
    if confirmed:
        return selection
    _say("Together the fixes are not confirmed: only the one with the largest gain remains.")
    return selection.best_only()


def _nothing(selection: apply.Selection) -> str:
    kinds = ", ".join(f"{len(findings)} {reason}" for reason, findings in selection.left_out.items())
    return "Nothing to write: no fix is confirmed" + (f" ({kinds})." if kinds else ".")


def _summary(selection: apply.Selection, result: Verification) -> Iterator[str]:
    """Lines about the fixes to write, and one about each reason why others are left out."""
    where = result.machine.on or "this machine"
    yield f"Confirmed on {where}, {_fixes(len(selection.confirmed))}:"
    for finding, verdict in selection.confirmed.items():
        yield f"  {_named(finding)}{_ratio(verdict)}"
    for reason, findings in selection.left_out.items():
        yield f"Left out: {_fixes(len(findings))}, {reason}: {', '.join(map(_named, findings))}"


def _show(repairs: Mapping[str, FileRepair], *, err: bool) -> None:
    """Print the patch; on standard error if standard output has a report for programs."""
    from kerascheck.fixes.patch import patch

    _, text = patch(
        {path: (repair.before, repair.after) for path, repair in repairs.items() if not repair.cells},
        {path: repair.cells for path, repair in repairs.items()},
    )
    click.echo(text, nl=False, err=err)


def _agreed(options: VerifyOptions) -> bool:
    if options.yes:
        return True
    if not sys.stdin.isatty():
        _say("not written: no terminal to ask on; add --yes")
        return False
    if click.confirm("Write these changes?", err=True):
        return True
    _say("not written")
    return False


def _say(text: str) -> None:
    click.echo(plain(text), err=True)


def _fixes(number: int) -> str:
    return "1 fix" if number == 1 else f"{number} fixes"


def _named(finding: Finding) -> str:
    return f"{finding.code} {finding.name} {place_of(finding)}"


def _ratio(verdict: Verdict) -> str:
    return f" {verdict.ratio}" if verdict.ratio is not None else ""
