"""Observations at the places of findings without a fix."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kerascheck.finding import Finding
from kerascheck.runtime.verify.analysis import PIPELINE_FAMILIES, Analysis, Stage, relative
from kerascheck.runtime.verify.findings import Linted, is_about_speed, lines_of
from kerascheck.runtime.verify.messages import Frame, Span
from kerascheck.runtime.verify.uses import lines_used

NOTHING_SEEN = "no stage of an input pipeline was seen at its lines"


@dataclass(frozen=True, slots=True)
class Observation:
    """A finding without a fix, with the observation at its place."""

    finding: Finding
    seen: str
    """A clause for display, without a full stop."""
    training: int | None = None
    """Index of the analysis that contains it; None if nothing was observed."""
    share: float | None = None
    """Share of the input pipeline, 0 to 1."""


def observations(
    linted: Linted, analyses: Sequence[Analysis], measured: Sequence[Finding], stacks: Sequence[Sequence[Frame]] = ()
) -> list[Observation]:
    """Observations for the findings about speed that are not in ``measured``, the largest shares first.

    ``stacks``: stacks of the first steps of the trainings in ``analyses``.
    """
    others = [finding for finding in linted.findings if finding not in measured and is_about_speed(finding)]
    texts = {path: source.text for path, source in linted.sources.items()}
    used = [lines_used(texts, stack) for stack in stacks] if others else []
    return sorted(
        (_observe(finding, linted, analyses, used) for finding in others), key=lambda each: -(each.share or 0.0)
    )


def _observe(
    finding: Finding, linted: Linted, analyses: Sequence[Analysis], used: Sequence[Sequence[Span]]
) -> Observation:
    path = os.path.abspath(finding.location.path)
    spans = lines_of(linted.sources[path], finding)
    best = Observation(finding, NOTHING_SEEN)
    for number, analysis in enumerate(analyses):
        here = [stage for stage in analysis.stages if _is_at(stage, path, spans)]
        share = sum(stage.share for stage in here)
        if here and share > (best.share or 0.0):
            names = " and ".join(dict.fromkeys(stage.name for stage in sorted(here, key=lambda stage: -stage.share)))
            best = Observation(
                finding,
                f"{names} take{'s' * (len(here) == 1)} {share:.0%} of the pipeline{_ceiling(analysis)}",
                number,
                share,
            )
    if best.share is None and finding.code.startswith(PIPELINE_FAMILIES):
        for number, (analysis, lines) in enumerate(zip(analyses, used)):
            share = sum(stage.share for stage in analysis.stages if stage.place in (None, analysis.place))
            if (
                analysis.place
                and share >= 0.5
                and any(
                    other == path and first <= end and begin <= last
                    for other, first, last in lines
                    for begin, end in spans
                )
            ):
                where = f"{relative(analysis.place[0])}:{analysis.place[1]}"
                seen = f"it feeds {where}, whose own stages take {share:.0%} of the pipeline{_ceiling(analysis)}"
                return Observation(finding, seen, number, share)
    return best


def _ceiling(analysis: Analysis) -> str:
    if analysis.largest_input_gain is None:
        return ""
    return f"; an input fix can win x{analysis.largest_input_gain:.2f} at most"


def _is_at(stage: Stage, path: str, spans: Sequence[tuple[int, int]]) -> bool:
    return any(
        os.path.abspath(other) == path and first <= end and begin <= last
        for other, first, last in _places(stage)
        for begin, end in spans
    )


def _places(stage: Stage) -> Iterator[tuple[str, int, int]]:
    if stage.place is not None:
        yield stage.place[0], stage.place[1], stage.place[1]
    if stage.function is not None:
        yield stage.function
