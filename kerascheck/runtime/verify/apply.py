"""Confirmed fixes of a verification, and the files with these fixes applied.

Nothing here prompts or prints: ``kerascheck.cli.verify_apply`` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kerascheck.finding import Finding
from kerascheck.report.common import place
from kerascheck.runtime.verify.findings import TOGETHER, Linted, Repair, is_about_speed, repair_of
from kerascheck.runtime.verify.verdict import Status, Verdict

if TYPE_CHECKING:
    from kerascheck.fixes.apply import Fixed
    from kerascheck.lint.fix_files import Repair as FileRepair
    from kerascheck.runtime.verify.prepared import Prepared
    from kerascheck.runtime.verify.result import Verification
    from kerascheck.source import Source

CHANGES_RESULTS = "changes results, as its fix says"
RESULTS_UNKNOWN = "faster, but its results could not be compared and its fix may change them"
NOT_MEASURED = "not measured, for its rule is not about speed"
OVERLAPS = "overlaps a fix that wins more"
NOT_TOGETHER = "not confirmed together with the others"


class NotWritten(Exception):
    """No file was changed; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The confirmed findings whose fixes are compatible, and the reasons that exclude the others."""

    confirmed: Mapping[Finding, Verdict]
    """Sorted by gain, the largest first."""
    left_out: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    """Excluded findings by reason."""

    def best_only(self) -> Selection:
        """Only the finding with the largest gain."""
        best, *others = self.confirmed
        return Selection({best: self.confirmed[best]}, {**self.left_out, NOT_TOGETHER: others})


def select(result: Verification) -> Selection:
    """The findings of ``result`` whose own measurement confirmed a speed-up with the same results."""
    confirmed: list[tuple[Finding, Verdict]] = []
    left_out: dict[str, list[Finding]] = {}
    measured = _verdicts(result)
    for finding in result.linted.findings:
        if finding.fix is None or not finding.fix.edits:
            continue
        reason = _why_not(finding, *measured[finding]) if finding in measured else _why_unmeasured(finding)
        if reason is None:
            confirmed.append((finding, measured[finding][0]))
        else:
            left_out.setdefault(reason, []).append(finding)
    taken: dict[Finding, Verdict] = {}
    for finding, verdict in sorted(confirmed, key=lambda each: -(each[1].ratio.value if each[1].ratio else 0.0)):
        if repair_of(result.linted, "", [*taken, finding]).left_out:
            left_out.setdefault(OVERLAPS, []).append(finding)
        else:
            taken[finding] = verdict
    return Selection(taken, left_out)


def _verdicts(result: Verification) -> dict[Finding, tuple[Verdict, Repair]]:
    """The verdict on each finding that was measured separately."""
    found = {}
    for verdict in result.comparison.verdicts:
        repair = result.repairs.get(verdict.name)
        if repair is not None and len(repair.findings) == 1 and verdict.name != TOGETHER:
            found[repair.findings[0]] = (verdict, repair)
    return found


def _why_not(finding: Finding, verdict: Verdict, repair: Repair) -> str | None:
    if verdict.status is not Status.CONFIRMED:
        return str(verdict.status.value)
    if not _keeps_results(verdict, repair):
        return CHANGES_RESULTS if verdict.change else RESULTS_UNKNOWN
    if finding.fix is not None and finding.fix.withheld:
        return f"confirmed, but {finding.fix.withheld}"
    return None


def _why_unmeasured(finding: Finding) -> str:
    return str(Status.NOT_RUN.value) if is_about_speed(finding) else NOT_MEASURED


def _keeps_results(verdict: Verdict, repair: Repair) -> bool:
    """Whether the results stay the same. If the losses are not visible, the fix has to guarantee it."""
    if verdict.same_results is None:
        return repair.variant.tolerance is not None
    return verdict.same_results


def are_confirmed_together(selection: Selection, result: Verification) -> bool | None:
    """Whether one run confirmed exactly these fixes; None if no run measured all of them in each of their trainings."""
    if len(selection.confirmed) == 1:
        return True
    wanted = repair_of(result.linted, "", list(selection.confirmed))
    trainings = {verdict.training for verdict in selection.confirmed.values()}
    for verdict in result.comparison.verdicts:
        repair = result.repairs.get(verdict.name)
        if (
            repair is not None
            and repair.variant.identity == wanted.variant.identity
            and verdict.status is not Status.NOT_RUN
            and trainings == {verdict.training}
        ):
            return verdict.status is Status.CONFIRMED and _keeps_results(verdict, repair)
    return None


def together(selection: Selection, prepared: Prepared) -> Prepared:
    """The same script with the selected fixes as the only variant, once per training that confirmed one of them."""
    whole = repair_of(prepared.linted, "", list(selection.confirmed))
    by_training: dict[int, list[Finding]] = {}
    for finding, verdict in selection.confirmed.items():
        by_training.setdefault(verdict.training, []).append(finding)
    repairs = []
    for findings in by_training.values():
        # The lines of a variant determine the training in which it is measured.
        places = repair_of(prepared.linted, "", findings).variant.places
        one = f"{findings[0].code} {place(findings[0].location)}"
        name = "the confirmed fixes together" + (f", in the training of {one}" if len(by_training) > 1 else "")
        repairs.append(replace(whole, variant=replace(whole.variant, name=name, places=places)))
    return replace(prepared, linted=replace(prepared.linted, findings=()), repairs=repairs)


def is_confirmed(result: Verification) -> bool:
    """Whether every variant of ``result`` was confirmed with the same results."""
    verdicts = result.comparison.verdicts
    return bool(verdicts) and all(
        verdict.status is Status.CONFIRMED and _keeps_results(verdict, result.repairs[verdict.name])
        for verdict in verdicts
    )


def refuse_changed(linted: Linted) -> None:
    """Raise NotWritten if the code of a measured file has changed since."""
    from kerascheck.source import Unreadable, read

    for path, source in linted.sources.items():
        try:
            now = read(path)
        except Unreadable as problem:
            raise NotWritten(f"{source.path}: {problem}") from None
        if (now.written, now.encoding, now.bom, now.cells) != (
            source.written, source.encoding, source.bom, source.cells,
        ):  # fmt: skip
            raise NotWritten(f"{source.path} has changed since it was read")


def repaired_files(linted: Linted, findings: Sequence[Finding]) -> dict[str, FileRepair]:
    """Compute the changed files by absolute path, without writing them.

    Raises NotWritten if the fixes cannot reproduce the measured code of a file.
    """
    from kerascheck.lint.fix_files import repair_of as file_repair
    from kerascheck.source import Unreadable
    from kerascheck.source.notebook_file import NotRewritable

    made = {}
    for path, text in repair_of(linted, "", findings).variant.sources.items():
        source = linted.sources[path]
        own = [finding for finding in findings if os.path.abspath(finding.location.path) == path]
        try:
            repair = file_repair(source, _fixed(source, own))
        except (NotRewritable, Unreadable, OSError, UnicodeError) as problem:
            raise NotWritten(f"{source.path}: {problem}") from None
        if repair.fixed.text != text:
            raise NotWritten(f"{source.path} cannot be rewritten to the code that was measured")
        made[path] = repair
    return made


def _fixed(source: Source, findings: Sequence[Finding]) -> Fixed[Source]:
    from kerascheck.fixes.apply import apply_fixes
    from kerascheck.lint.analyze_file import with_large_stack
    from kerascheck.source.rewriting import edited, programs

    def find(current: Source) -> Sequence[Finding]:
        # Findings that appear only after the fixes were not measured.
        return findings if current.text == source.text else ()

    return with_large_stack(lambda: apply_fixes(source, find, unsafe=True, edited=edited, programs=programs))


def write(repairs: Mapping[str, FileRepair]) -> None:
    """Write all files or none. On failure, restores the old contents and raises NotWritten."""
    from kerascheck.source.writing import write_atomically

    for path, repair in repairs.items():
        # A notebook that ran in the meantime has new outputs, which the prepared bytes lack.
        if _bytes(path) != repair.before:
            raise NotWritten(f"{repair.source.path} has changed since it was read")
    written: list[str] = []
    for path, repair in repairs.items():
        try:
            write_atomically(path, repair.after)
        except OSError as problem:
            why = f"{repair.source.path} cannot be written: {problem.strerror or problem}"
            raise NotWritten(why + _reverted(written, repairs)) from None
        written.append(path)


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _reverted(written: Iterable[str], repairs: Mapping[str, FileRepair]) -> str:
    """Restore the files written so far; returns a remark about those that could not be restored."""
    from kerascheck.source.writing import write_atomically

    kept = []
    for path in written:
        try:
            write_atomically(path, repairs[path].before)
        except OSError:
            kept.append(repairs[path].source.path)
    return f"; {', '.join(kept)} could not be restored and has its fixes" if kept else ""
