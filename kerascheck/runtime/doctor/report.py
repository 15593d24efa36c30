"""Text report of the diagnosis: problems first, each with its advice; results that are ok take one line each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kerascheck.report.common import count
from kerascheck.report.text import wrapped
from kerascheck.runtime.doctor.checks import Result, Status
from kerascheck.runtime.doctor.snapshot import Demand, Snapshot

_COLOURS = {Status.PROBLEM: "red", Status.ADVICE: "yellow", Status.OK: "green"}
_SYSTEMS = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}
_INDENT = " " * 9


def render(
    results: Sequence[Result], machine: Snapshot, style: Callable[..., str], width: int, *, script: str | None = None
) -> Iterator[str]:
    """The lines of the report.

    Args:
        results: in the order of :func:`kerascheck.runtime.doctor.diagnose`.
        style: as ``click.style``.
        width: columns of the terminal.
        script: path of the script to which the line numbers in results refer.
    """
    yield style(_heading(machine), bold=True)
    for result in results:
        place = _place(script, result.asked) if script and result.asked is not None and result.asked.line else ""
        name = "" if result.status is Status.OK else f" [{result.name}]"
        first, *rest = wrapped(f"{place}{result.seen}{name}", width, _INDENT, _INDENT)
        yield (
            style(f"{result.status.value:9}", fg=_COLOURS[result.status], bold=result.status is Status.PROBLEM)
            + first[len(_INDENT) :]
        )
        yield from rest
        if result.todo:
            yield from wrapped(result.todo, width, f"{_INDENT}-> ", f"{_INDENT}   ")
    counts = Counter(result.status for result in results)
    pieces = count(counts[Status.ADVICE], "piece")
    advice = f", {pieces} of advice" if counts[Status.ADVICE] else ""
    yield (count(counts[Status.PROBLEM], "problem") if counts[Status.PROBLEM] else "No problems") + f"{advice}."


def _place(script: str, asked: Demand) -> str:
    cell = "" if asked.cell is None else f"cell {asked.cell}:"
    return f"{os.path.relpath(script)}:{cell}{asked.line}: "


def _heading(machine: Snapshot) -> str:
    system = machine.system
    name = _SYSTEMS.get(system.platform, system.platform)
    hosted = {"colab": "Google Colab", "kaggle": "Kaggle"}.get(system.hosted or "")
    where = " on WSL" if system.wsl else f" on {hosted}" if hosted else " in a container" if system.container else ""
    return f"{name}{where}, {system.machine}"
