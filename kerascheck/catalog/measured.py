"""Measurements of the rules' examples, from the table that ships with kerascheck; needs no import of ``verify``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypedDict

import kerascheck

TABLE = Path(kerascheck.__file__).parent / "runtime" / "verify" / "evidence_table.json"
"""The table that ships with kerascheck: {"rows": [...]}, of :class:`Row`; 'kerascheck evidence --update' writes it."""

Device = Literal["cpu", "gpu"]
DEVICES: Final[tuple[Device, ...]] = ("cpu", "gpu")
"""The columns of the table."""
_CONFIRMED = "confirmed"
"""The :class:`kerascheck.runtime.verify.verdict.Status` of a fix that makes steps faster."""
_DECIDED = frozenset({_CONFIRMED, "slower"})


class _AnyMachine(TypedDict):
    system: str
    processor: str
    cores: int | None


class MachineJson(_AnyMachine, total=False):
    """JSON of :class:`kerascheck.runtime.verify.machine_class.MachineClass`, without the fields that are None."""

    gpu: str
    driver: str
    on: str


class _AnyMeasurement(TypedDict):
    status: str
    reason: str
    ratio: float | None
    low: float | None
    high: float | None
    machine: MachineJson
    versions: Mapping[str, str]
    date: str


class Measurement(_AnyMeasurement, total=False):
    """A column of a row: what one rule's fast.py gained over its slow.py on one machine.

    ``of`` says what was measured if not the time of steps: the "first step" or "memory", with a ratio above 1 for less.
    ``method`` is :data:`kerascheck.runtime.verify.evidence.METHOD` at that time; missing before 2.
    ``status`` is a value of :class:`kerascheck.runtime.verify.verdict.Status`, and ``reason`` explains it in a sentence.
    ``ratio`` is the step time of slow.py divided by that of fast.py, with the bounds ``low`` and ``high`` of its 95 %
    interval; all three are None where nothing was measured. ``versions`` has the frameworks that were loaded, ``date`` is
    YYYY-MM-DD. ``example`` is the file that was run, where that is not slow.py of the rule's folder.
    """

    example: str
    of: str
    method: int


class _AnyRow(TypedDict):
    code: str
    name: str


class Row(_AnyRow, total=False):
    """A rule in the table; a device that it was never measured on is missing."""

    cpu: Measurement
    gpu: Measurement


_OF = {"first step": "until the first step", "memory": "of memory"}


def read_table(path: Path = TABLE) -> list[Row]:
    """The rows of a table; none if there is no such file."""
    try:
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    except FileNotFoundError:
        return []
    return rows


def gains() -> dict[str, float]:
    """The largest confirmed speed-up of steps of each rule's example over all devices, by code."""
    best: dict[str, float] = {}
    for row in read_table():
        for measured in (row[device] for device in DEVICES if device in row):
            if measured["status"] == _CONFIRMED and measured["ratio"] is not None and "of" not in measured:
                best[row["code"]] = max(best.get(row["code"], 0.0), measured["ratio"])
    return best


def row_of(code: str, rows: Sequence[Row] | None = None) -> Row | None:
    """The row of a rule, by default from the shipped table; None if it has none."""
    return next((row for row in (read_table() if rows is None else rows) if row["code"] == code), None)


def for_rule(code: str, rows: Sequence[Row] | None = None) -> list[str] | None:
    """The measurements of a rule for its page, one line per device; None if the table has no row for it."""
    entry = row_of(code, rows)
    return None if entry is None else [f"{device.upper()}: {cell(entry.get(device))}" for device in DEVICES]


def is_decided(row: Row | None) -> bool:
    """Whether a column of a row shows that the example becomes faster or slower, or needs less."""
    columns = [row[device] for device in DEVICES if device in row] if row is not None else []
    return any(column["status"] in _DECIDED and column["ratio"] is not None for column in columns)


def cell(measured: Measurement | None) -> str:
    """One measurement as text."""
    if measured is None:
        return "unmeasured"
    machine, ratio, low = measured["machine"], measured["ratio"], measured["low"]
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    driver = f" (driver {machine['driver']})" if machine.get("driver") else ""
    device = f"{machine['gpu']}{driver}" if machine.get("gpu") else f"{machine['cores']} cores {machine['processor']}"
    example = f"{measured['example']}, " if measured.get("example") else ""
    where = f"{example}{device}, {versions}, {measured['date']}"
    of = _OF.get(measured.get("of", ""), "per call" if measured["reason"].startswith("calls ") else "per step")
    if ratio is None or low is None or measured["status"] == _CONFIRMED and low <= 1.0:
        return f"{measured['status']} ({measured['reason']}; {where})"
    return f"{measured['status']} x{ratio:.2f} [{low:.2f}-{measured['high']:.2f}] {of} ({where})"
