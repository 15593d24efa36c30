"""Report of a verification on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kerascheck.report.common import plain
from kerascheck.report.text import wrapped
from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.analysis import Analysis, bar, can_matter, title, typical, where
from kerascheck.runtime.verify.findings import place_of
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.verdict import Status, Verdict

_COLORS = {
    Status.CONFIRMED: "green",
    Status.NO_EFFECT: "bright_black",
    Status.INCONCLUSIVE: "cyan",
    Status.SLOWER: "red",
    Status.CHANGES_RESULTS: "yellow",
    Status.NOT_RUN: "magenta",
}
_LOG_OF_TENSORFLOW = re.compile(
    r"[IW]\d{4} \d\d:\d\d:|\d{4}-\d\d-\d\d \d\d:\d\d:[\d.]+: I |To enable the following instructions:|"
    r"WARNING: All log messages before absl"
)
"""Start-up logs of TensorFlow's C++ code below an error; they do not explain why a script ended."""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"
_LONGEST_BAR = 4.0
"""The ratio that fills a verdict's bar."""

METHOD = (
    "A ratio is the mean over rounds of fresh processes of both; a round counts the mean of the middle half of the ratios of neighbouring "
    "blocks of steps. In brackets its 95 % interval, which allows for rounds being added until it decides (group-sequential, Pocock 1977)."
)
"""How ratios are measured, for display."""
NOTHING_TO_COMPARE = "No finding about speed in this script has a fix: there is nothing to compare."

Style = Callable[..., str]
"""``click.style`` or a compatible function."""


def render(result: Verification, style: Style = lambda text, **options: text) -> Iterator[str]:
    """Yield the lines of the report. ``style`` colours words."""
    comparison = result.comparison
    yield ""
    if comparison.failure:
        yield style("not run", fg="magenta", bold=True) + f"  {plain(comparison.failure)}"
        yield from printed_last(comparison.scout.output)
        yield from _notes(comparison.notes, style)
        return
    for analysis in comparison.analyses:
        yield from _where_time_goes(analysis, result.has_several_trainings, style)
    if not comparison.verdicts:
        yield NOTHING_TO_COMPARE
    for verdict in ranked(result):
        yield from _verdict(verdict, result, style)
    if observations := result.observations:
        yield ""
        yield style("Findings without a fix, and what was seen there", bold=True)
        for each in observations:
            yield f"  {each.finding.code} {plain(place_of(each.finding))}: {plain(each.seen)}"
    if others := result.not_about_speed:
        yield ""
        yield "Not about speed, so not measured: " + ", ".join(f"{f.code} {plain(place_of(f))}" for f in others)
    if result.gpu:
        yield from map(plain, gpu.lines(result.gpu))
    yield from _notes(comparison.notes, style)
    yield ""
    yield style(f"{_machine(result)}, {comparison.seconds:.0f} s", fg="bright_black")
    if any(verdict.ratio is not None for verdict in comparison.verdicts):
        yield style(METHOD, fg="bright_black")


def fitted(lines: Iterator[str], width: int) -> Iterator[str]:
    """Wrap a report for a terminal of ``width`` columns, except for output of the script; styles stay."""
    for line in lines:
        text = _STYLE.sub("", line)
        indent = " " * (len(text) - len(text.lstrip()))
        if text.lstrip().startswith("| "):
            yield line
        else:
            yield from _styled_as(line, wrapped(text.strip(), width, indent, f"{indent}  "))


def _styled_as(line: str, parts: list[str]) -> Iterator[str]:
    """The wrapped ``parts`` of a line with the styles that the line has, each ended before a break and begun again."""
    pieces = iter(_STYLE.split(line))
    styles = iter(_STYLE.findall(line))
    # Blanks may be dropped or added where a line breaks, so only other characters count.
    left, current = len("".join(next(pieces).split())), ""
    for part in parts:
        written = [current]
        for character in part:
            while not left and not character.isspace() and (style := next(styles, None)) is not None:
                current = "" if style == _RESET else current + style
                written.append(style)
                left = len("".join(next(pieces).split()))
            written.append(character)
            left -= not character.isspace()
        yield "".join([*written, _RESET] if current else written)


def ranked(result: Verification) -> list[Verdict]:
    """Verdicts sorted by benefit, with those not run last."""
    return sorted(
        result.comparison.verdicts, key=lambda v: (v.status is Status.NOT_RUN, -(v.ratio.value if v.ratio else 0))
    )


def _where_time_goes(analysis: Analysis, several: bool, style: Style) -> Iterator[str]:
    name = plain(title(analysis, several=several))
    first = (
        f", the first one ended {analysis.first_step_seconds:.1f} s after the start"
        if analysis.first_step_seconds
        else ""
    )
    yield (
        style(f"{name[0].upper()}{name[1:]}: {typical([analysis.step_seconds])} per {analysis.unit}", bold=True) + first
    )
    if analysis.input_bound is not None:
        yield (
            f"  waits for data  {bar(analysis.input_bound)} {analysis.input_bound:4.0%}   "
            f"an input fix can win x{analysis.largest_input_gain:.2f} at most"
        )
    for stage in sorted(analysis.stages, key=lambda s: -s.share)[:4]:
        yield f"  {stage.name[:14]:<15} {bar(stage.share)} {stage.share:4.0%}   of the pipeline, {plain(where(stage, analysis))}"
    if analysis.facts.alone_seconds_per_batch is not None:
        yield f"  the pipeline alone makes a batch in {typical([analysis.facts.alone_seconds_per_batch])}"
    yield "  " + ", ".join(details_of(analysis))
    for missing in analysis.missing:
        yield style(f"  not measured: {plain(missing)}", fg="bright_black")
    yield ""


def details_of(analysis: Analysis) -> Iterator[str]:
    """Single facts about a training for reports."""
    facts, model = analysis.facts, analysis.facts.model
    if facts.backend:
        yield f"Keras {facts.versions.get('keras') or facts.versions.get('tf-keras')} on {facts.backend}"
    if facts.traces is not None:
        yield f"{facts.traces} graph{'s' * (facts.traces != 1)} traced"
    if facts.host_reads_per_step is not None:
        yield f"{facts.host_reads_per_step:.1f} host reads per step by the script itself"
    if facts.bytes_per_step:
        yield f"{facts.bytes_per_step / 1e6:.2g} MB to the device per step"
    if model is not None:
        blocked = f" ({', '.join(model.jit_blocked_by)} cannot be compiled)" if model.jit_blocked_by else ""
        yield f"XLA {'on' if model.jit_compile else 'off'}{blocked}"
        if model.compute_dtypes:
            yield "computes in " + " and ".join(model.compute_dtypes)
    if analysis.host_peak_bytes:
        yield f"{analysis.host_peak_bytes / 1e9:.2g} GB of memory at most"


def _notes(notes: Sequence[str], style: Style) -> Iterator[str]:
    if notes:
        yield ""
        yield style("About these runs", bold=True)
        for note in notes:
            yield f"  - {plain(note)}"


def _verdict(verdict: Verdict, result: Verification, style: Style) -> Iterator[str]:
    word = style(f"{verdict.status.value:<15}", fg=_COLORS[verdict.status], bold=True)
    if verdict.ratio is not None:
        ratio = verdict.ratio
        length = (ratio.value - 1) / (_LONGEST_BAR - 1)
        yield f"{word} {ratio} {bar(length, 16)} {plain(verdict.name)}"
    else:
        yield f"{word} {plain(verdict.name)}"
    repair = result.repairs.get(verdict.name)
    details = [verdict.reason]
    if result.has_several_trainings and verdict.ratio is not None and result.comparison.analyses:
        details.append(f"measured in {title(result.comparison.analyses[verdict.training], several=True)}")
    if repair is not None and repair.left_out:
        details.append("left out, because their fixes overlap others: " + ", ".join(f.code for f in repair.left_out))
    unit = result.comparison.analyses[verdict.training].unit if result.comparison.analyses else "step"
    if verdict.step_seconds:
        details.append(f"{typical([verdict.step_seconds[0]])} -> {typical([verdict.step_seconds[1]])} per {unit}")
    if verdict.start_seconds:
        details.append(
            f"{verdict.start_seconds[0]:.1f} s -> {verdict.start_seconds[1]:.1f} s of processor time for the first steps"
        )
    if verdict.remark:
        details.append(verdict.remark)
    details += pointless(verdict, result)
    for detail in details:
        yield f"    {plain(detail)}"
    if verdict.status is Status.CHANGES_RESULTS and verdict.losses:
        for label, series in zip(("as written", "repaired"), verdict.losses):
            yield f"    losses {label:<11}" + " ".join(f"{loss:.6g}" for loss in series[:6])
    if verdict.status is Status.NOT_RUN:
        yield from printed_last(verdict.output)


def pointless(verdict: Verdict, result: Verification) -> Iterator[str]:
    """Reasons why no speed-up was possible, if that is so."""
    repair = result.repairs.get(verdict.name)
    if (
        verdict.status is Status.CONFIRMED
        or repair is None
        or len(repair.findings) != 1
        or not result.comparison.analyses
    ):
        return
    reason = can_matter(repair.findings[0].code, result.comparison.analyses[verdict.training])
    if reason:
        yield reason


def printed_last(text: str) -> Iterator[str]:
    """The last lines that a script printed."""
    # Progress bars overwrite themselves.
    text = re.sub(r"[^\n]*\r(?!\n)|\x08+", "", text)
    lines = [line for line in plain(text).strip().splitlines() if not _LOG_OF_TENSORFLOW.match(line)][-8:]
    if lines:
        yield "    it printed last:"
        yield from (f"    | {line}" for line in lines)


def _machine(result: Verification) -> str:
    machine = result.machine
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    where = f" on {machine.on}" if machine.on else ""
    return f"{machine.cores} cores {machine.processor}{where}, {versions}"
