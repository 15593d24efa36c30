"""Text report of the diagnosis: problems first, each with its advice; results that are ok take one line each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kerascheck.report.common import count
from kerascheck.report.text import wrapped
from kerascheck.runtime.doctor.checks import Result, Status
from kerascheck.runtime.doctor.checks.common import size
from kerascheck.runtime.doctor.snapshot import Demand, Snapshot

_COLOURS = {Status.PROBLEM: "red", Status.ADVICE: "yellow", Status.OK: "green"}
_SYSTEMS = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}
_INDENT = " " * 9
_ABSENT = {
    "policy": "dtype policy",
    "backend": "backend",
    "visible": "choice of GPUs",
    "processes": "workers",
    "data": "data folder",
    "arrays": "array size",
    "parameters": "model size",
}
"""By kind of demand, the words for a script without one."""
_MOST_DEMANDS = 6
"""Most demands of a script that the report lists."""


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
    if script and machine.script is not None:
        text = _about_script(os.path.relpath(script), machine.script)
        first, *rest = wrapped(text, width, _INDENT, _INDENT)
        yield style(f"{'script':9}", bold=True) + first[len(_INDENT) :]
        yield from rest
    counts = Counter(result.status for result in results)
    pieces = count(counts[Status.ADVICE], "piece")
    advice = f", {pieces} of advice" if counts[Status.ADVICE] else ""
    yield (count(counts[Status.PROBLEM], "problem") if counts[Status.PROBLEM] else "No problems") + f"{advice}."


def _place(script: str, asked: Demand) -> str:
    cell = "" if asked.cell is None else f"cell {asked.cell}:"
    return f"{os.path.relpath(script)}:{cell}{asked.line}: "


def _about_script(name: str, demands: Sequence[Demand]) -> str:
    """The demands of a script that the checks compared with the machine, and the kinds that it has none of."""
    listed = [_demand(each) for each in demands[:_MOST_DEMANDS]]
    if len(demands) > _MOST_DEMANDS:
        listed.append(f"{len(demands) - _MOST_DEMANDS} more")
    absent = [words for what, words in _ABSENT.items() if what not in {each.what for each in demands}]
    seen = f"compared {', '.join(listed)} with this machine" if listed else "nothing to compare with this machine"
    return f"{name}: {seen}." + f" It shows no {_either(absent)}." * bool(absent)


def _demand(demand: Demand) -> str:
    value = demand.value
    words = {
        "policy": f"policy {value}",
        "backend": f"backend {value}",
        "visible": "no GPU" if value in ("", "-1") else f"GPU {value}",
        "data": f"a file per example on {value}",
        "processes": count(value, "worker process", "worker processes") if isinstance(value, int) else "",
        "arrays": f"{size(value)} of arrays" if isinstance(value, int) else "",
        "parameters": f"a model of {value:,} parameters" if isinstance(value, int) else "",
    }[demand.what]
    cell = "" if demand.cell is None else f"cell {demand.cell}, "
    return words if demand.line is None else f"{words} ({cell}line {demand.line})"


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _heading(machine: Snapshot) -> str:
    system = machine.system
    name = _SYSTEMS.get(system.platform, system.platform)
    hosted = {"colab": "Google Colab", "kaggle": "Kaggle"}.get(system.hosted or "")
    where = " on WSL" if system.wsl else f" on {hosted}" if hosted else " in a container" if system.container else ""
    return f"{name}{where}, {system.machine}"
