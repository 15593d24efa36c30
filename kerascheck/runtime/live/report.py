"""Report of one measured ``fit``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from kerascheck.report.text import terminal_columns
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.verify.messages import TrainingReport
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.why import json_report, report_html, report_text
from kerascheck.runtime.why.diagnosis import Diagnosis
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.step import Part

_NARROWEST, _WIDEST = 60, 120
_FRAME = "width: 100%; height: 36em; border: 0; color-scheme: normal"
_DIFFERS = 0.1
"""Difference between the shares of a part in two trainings that is worth a word."""
_SLOWER = 1.15
"""Ratio of two step times that is worth a word."""


@dataclass(frozen=True, slots=True)
class Report:
    """Where a step of one ``fit`` goes."""

    result: WhyResult
    notes: Sequence[str] = field(default=())
    """About this measurement, for display."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """None if nothing could be measured; ``failure`` says why."""
        return self.result.diagnosis

    @property
    def failure(self) -> str | None:
        """Reason why there is no diagnosis, for display."""
        return self.result.failure

    @property
    def shares(self) -> Mapping[str, float]:
        """Share of each part in a step, 0 to 1, largest first; the keys are those of :class:`Part`."""
        if self.diagnosis is None:
            return {}
        step = self.diagnosis.step
        return {part.value: step.share(part) for part in step.ranked}

    @property
    def text(self) -> str:
        """The report for a terminal."""
        if self.diagnosis is None:
            return f"kerascheck: no account of this training: {self.failure}"
        width = min(_WIDEST, max(_NARROWEST, terminal_columns()))
        lines = [*report_text.render(self.diagnosis, width), *(f"Note: {note}." for note in self.notes)]
        return "\n".join(lines)

    def json(self) -> str:
        """The report as JSON, in the form of ``kerascheck why --output-format json``."""
        return json.dumps(json_report.report(self.result, None, None), indent=2)

    def html(self) -> str:
        """The report as a page."""
        return report_html.render(self.result, None)

    def __str__(self) -> str:
        return self.text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The text, where a front end shows no HTML."""
        printer.text(self.text)

    def _repr_html_(self) -> str:
        """The page inline in a notebook. A frame keeps its styles apart from those of the notebook."""
        return f'<iframe srcdoc="{escape(self.html())}" style="{_FRAME}" title="kerascheck why"></iframe>'


def made(diagnosis: Diagnosis, linted: Linted, notes: Sequence[str]) -> Report:
    """The report of a diagnosed training."""
    step = diagnosis.step
    run = Run(end=TrainingReport("done", kind=step.kind, trainings=1, facts=step.facts))
    return Report(WhyResult(run, linted, diagnosis), notes)


def failed(why: str) -> Report:
    """The report of a training that could not be measured."""
    return Report(WhyResult(Run(failure=why), Linted("", {}, ()), None, why))


def failed_by(problem: Exception) -> Report:
    """The report after an error in kerascheck itself."""
    return failed(f"an error in kerascheck ({type(problem).__name__}: {problem}); please report it")


def difference(number: int, first: Report, other: Report) -> str:
    """Compare a later training of the same callback with the first one, in a line.

    Args:
        number: of the later training, from 1.
    """
    if first.diagnosis is None or other.diagnosis is None:
        return f"training {number}: {other.failure or 'the first one was not measured'}"
    before, now = first.diagnosis.step, other.diagnosis.step
    ratio = now.seconds / before.seconds
    speed = f", {ratio:.1f} times as long as in the first" if max(ratio, 1 / ratio) > _SLOWER else ""
    moved = [part for part in Part if abs(now.share(part) - before.share(part)) >= _DIFFERS]
    shares = [f"{part.value} {now.share(part):.0%} (was {before.share(part):.0%})" for part in moved]
    same = [] if shares else ["its parts have the same shares"]
    return f"training {number}: {typical([now.seconds])} per step{speed}; {', '.join([*shares, *same])}"


def write(path: str, text: str, suffix: str) -> str:
    """Write a report of one process; returns the path, which has ``suffix`` before its extension."""
    from kerascheck.source.writing import write_output

    stem, extension = os.path.splitext(path)
    target = f"{stem}{suffix}{extension}"
    write_output(target, text.encode())
    return target
