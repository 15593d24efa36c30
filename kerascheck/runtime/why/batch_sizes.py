"""Report of the steps at other batch sizes: a table, and the size to take."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TypedDict

from kerascheck.report.common import plain
from kerascheck.report.html import escape
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.verify.batch_sizes import BatchSizes, SizeTiming
from kerascheck.runtime.why.step import Step

_COLUMNS = ("rows", "per step", "examples/s", "relative", "memory")
_WIDTHS = (7, 10, 12, 10, 10)
_TITLE = "Batch sizes, on one batch repeated in memory"
_FEW_STEPS = 20  # steps per epoch
_MOST_SCALED = 32  # times the batch size; the linear rule was shown for factors up to about this (arXiv:1706.02677)
_BUSY = 0.2  # share of the machine
_NEXT = {
    "out of memory": "{rows} rows do not fit into memory.",
    "half of memory": "{rows} rows may need over half of the free memory, so they were not tried.",
    "time": "{rows} rows take too long to measure here.",
    "epoch": "An epoch has fewer than {rows} rows.",
    None: "The process ended or hung at {rows} rows (out of memory?).",
}


class SizeJson(TypedDict):
    """:class:`kerascheck.runtime.verify.batch_sizes.SizeTiming`."""

    rows: int
    step_seconds: float
    examples_per_second: float
    peak_bytes: int | None


class BatchSizesJson(TypedDict):
    """Steps at other batch sizes, without their input."""

    own: int | None
    """Rows of the script's batch."""
    sizes: list[SizeJson]
    chosen: int | None
    """The script's own size if it is about as fast as the best one, else the smallest such size."""
    steps_per_epoch: int | None
    """With the chosen size."""
    input_examples_per_second: float | None
    """Most that the input pipeline delivers."""
    stopped: str | None
    """See :attr:`kerascheck.runtime.verify.batch_sizes.BatchSizes.stopped`."""
    memory: str
    """"gpu" or "process"."""
    text: list[str]
    """Sentences for display."""


def as_json(step: Step) -> BatchSizesJson | None:
    """The timings as JSON; None if none were asked for."""
    sizes = step.facts.batch_sizes
    if sizes is None:
        return None
    chosen = sizes.chosen
    return {
        "own": sizes.own,
        "sizes": [
            {
                "rows": timing.rows,
                "step_seconds": timing.seconds,
                "examples_per_second": timing.rate,
                "peak_bytes": timing.peak_bytes,
            }
            for timing in sizes.timings
        ],
        "chosen": None if chosen is None else chosen.rows,
        "steps_per_epoch": None if chosen is None else _steps_per_epoch(sizes, chosen, step),
        "input_examples_per_second": _input_rate(sizes, step),
        "stopped": sizes.stopped,
        "memory": "gpu" if sizes.on_gpu else "process",
        "text": list(sentences(sizes, step)),
    }


def lines(step: Step, width: int) -> Iterator[str]:
    """Yield the table and its sentences in lines of at most ``width`` columns; nothing if none were asked for."""
    sizes = step.facts.batch_sizes
    if sizes is None:
        return
    yield ""
    if sizes.timings:
        yield f"{_TITLE}:"
        yield _row(_COLUMNS).rstrip()
        for timing in sizes.timings:
            yield (_row(_cells(sizes, timing)) + _mark(sizes, timing)).rstrip()
    yield from textwrap.wrap(plain(" ".join(sentences(sizes, step))), width, subsequent_indent="  ")


def html(step: Step) -> Iterator[str]:
    """Yield the section of the page; nothing if none were asked for."""
    sizes = step.facts.batch_sizes
    if sizes is None:
        return
    yield f"<h2>{_TITLE}</h2>"
    yield '<section class="card">'
    if sizes.timings:
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        yield f'<table class="sizes"><tr>{head}<th></th></tr>'
        for timing in sizes.timings:
            kind = ' class="knee"' if timing is sizes.chosen else ""
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in (*_cells(sizes, timing), _mark(sizes, timing)))
            yield f"<tr{kind}>{cells}</tr>"
        yield "</table>"
    yield f"<p>{escape(' '.join(sentences(sizes, step)))}</p></section>"


def sentences(sizes: BatchSizes, step: Step) -> Iterator[str]:
    """Yield which size to take, its consequences, and why no larger one was measured."""
    chosen = sizes.chosen
    if chosen is None:
        yield f"No batch size was measured: {_ended(sizes.detail or 'no step ran')}"
        return
    yield _choice(sizes, chosen, step)
    if chosen.rows != sizes.own and sizes.own:
        yield _learning(chosen.rows / sizes.own)
    rate = _input_rate(sizes, step)
    if rate is not None:
        yield _input(rate, chosen, sizes)
    yield _end(sizes)
    if (sizes.other_load or 0.0) > _BUSY:
        yield f"Other programs used {sizes.other_load:.0%} of this machine meanwhile: measure again without them."


def _choice(sizes: BatchSizes, chosen: SizeTiming, step: Step) -> str:
    own = sizes.at_own
    if chosen is own:
        return f"Keep {chosen.rows:,} rows: no larger batch that ran is clearly faster."
    faster = (
        "" if own is None else f": {_number(chosen.rate / own.rate)} times the examples per second of {own.rows:,} rows"
    )
    steps = _steps_per_epoch(sizes, chosen, step)
    of_epoch = (
        "" if steps is None else f", {steps:,} step{'s' * (steps != 1)} per epoch instead of {step.steps_per_epoch:,}"
    )
    few = " So few steps usually need more epochs." if steps is not None and steps < _FEW_STEPS else ""
    return f"Take {chosen.rows:,} rows{faster}{of_epoch}.{few}"


def _learning(times: float) -> str:
    text = "Learning rate and results change with the batch size"
    if times > _MOST_SCALED:
        return (
            f"{text}: at {_number(times)} times the size no rule predicts them. Try sizes between, and validate each."
        )
    return f"{text}: the usual rule multiplies the learning rate by {_number(times)} too; validate it."


def _input(rate: float, chosen: SizeTiming, sizes: BatchSizes) -> str:
    own = sizes.at_own
    text = f"The input delivers at most {_rounded(rate)} examples per second in batches of {sizes.own:,} rows"
    if own is not None and own.rate >= rate:
        return f"{text}, fewer than the step computes: it is the limit now."
    if chosen.rate > rate:
        return f"{text}: it may become the limit."
    return f"{text}, which is enough."


def _end(sizes: BatchSizes) -> str:
    """Why no larger size was measured."""
    last = sizes.timings[-1].rows
    following = sizes.own if sizes.own and last < sizes.own else 2 * last
    if sizes.stopped == "no gain":
        return f"Beyond {last // 4 or 1:,} rows, two doublings gained less than 10%."
    if sizes.stopped == "failed":
        return f"A step failed on {_ended(sizes.detail or f'{following:,} rows')}"
    more = " A larger batch may be faster still." if sizes.still_grows and sizes.stopped != "epoch" else ""
    return _NEXT[sizes.stopped].format(rows=f"{following:,}") + more


def _steps_per_epoch(sizes: BatchSizes, chosen: SizeTiming, step: Step) -> int | None:
    if step.steps_per_epoch is None or not sizes.own:
        return None
    return math.ceil(step.steps_per_epoch * sizes.own / chosen.rows)


def _input_rate(sizes: BatchSizes, step: Step) -> float | None:
    """Examples per second of the input pipeline alone; None if it was not measured."""
    seconds = step.facts.alone_seconds_per_batch
    return sizes.own / seconds if sizes.own and seconds else None


def _row(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS))


def _cells(sizes: BatchSizes, timing: SizeTiming) -> tuple[str, ...]:
    own = sizes.at_own
    relative = "" if own is None else f"{_relative(timing.rate / own.rate)}x"
    return (
        f"{timing.rows:,}",
        typical([timing.seconds]),
        _rounded(timing.rate),
        relative,
        memory_text(timing.peak_bytes),
    )


def _mark(sizes: BatchSizes, timing: SizeTiming) -> str:
    marks = ["yours"] * (timing.rows == sizes.own) + ["knee"] * (timing is sizes.chosen)
    return "  " + ", ".join(marks) if marks else ""


def _rounded(number: float) -> str:
    """Three digits, since further ones are noise."""
    if number < 10:
        return f"{number:.2g}"
    digits = max(0, math.floor(math.log10(number)) - 2)
    return f"{round(number, -digits):,.0f}"


def _number(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio == int(ratio) or ratio >= 10 else f"{ratio:.1f}"


def _relative(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def memory_text(amount: int | None) -> str:
    """A number of bytes, such as "3.4 GiB"; empty if it is unknown."""
    if amount is None:
        return ""
    return f"{amount / (1 << 30):.1f} GiB" if amount >= 1 << 30 else f"{amount / (1 << 20):.0f} MiB"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
