"""What was measured of the rules' examples: the table that ships with kerascheck, read without anything of ``verify``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import kerascheck

TABLE = Path(kerascheck.__file__).parent / "runtime" / "verify" / "evidence_table.json"
"""What ships with kerascheck: {"rows": [...]}, see :func:`kerascheck.runtime.verify.evidence.row`."""

DEVICES = ("cpu", "gpu")
"""The columns of the table."""
_CONFIRMED = "confirmed"
"""The verdict of :class:`kerascheck.runtime.verify.verdict.Status` on a fix that makes steps faster."""


def read_table(path: Path = TABLE) -> list[dict[str, Any]]:
    """The rows of a table; none if there is no such file."""
    try:
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    except FileNotFoundError:
        return []
    return rows


def gains() -> dict[str, float]:
    """By code, how many times faster the rule's example ran when repaired, on the device where that was most; only what is confirmed."""
    best: dict[str, float] = {}
    for row in read_table():
        for measured in (row[device] for device in DEVICES if device in row):
            if measured["status"] == _CONFIRMED and measured["ratio"] is not None:
                best[row["code"]] = max(best.get(row["code"], 0.0), measured["ratio"])
    return best


def row_of(code: str, rows: Sequence[Mapping[str, Any]] | None = None) -> Mapping[str, Any] | None:
    """The row of a rule, of the table that ships with kerascheck if ``rows`` is None; None without one."""
    return next((row for row in (read_table() if rows is None else rows) if row["code"] == code), None)


def for_rule(code: str, rows: Sequence[Mapping[str, Any]] | None = None) -> list[str] | None:
    """What the table says of a rule, a line per device, for ``kerascheck rule`` and the documentation; None without a row."""
    entry = row_of(code, rows)
    return None if entry is None else [f"{device.upper()}: {cell(entry.get(device))}" for device in DEVICES]


def cell(measured: Mapping[str, Any] | None) -> str:
    if measured is None:
        return "unmeasured"
    machine = measured["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    driver = f" (driver {machine['driver']})" if machine.get("driver") else ""
    device = f"{machine['gpu']}{driver}" if machine.get("gpu") else f"{machine['cores']} cores {machine['processor']}"
    example = f"{measured['example']}, " if measured.get("example") else ""
    where = f"{example}{device}, {versions}, {measured['date']}"
    if measured["ratio"] is None or measured["status"] == _CONFIRMED and measured["low"] <= 1.0:
        return f"{measured['status']} ({measured['reason']}; {where})"
    return f"{measured['status']} x{measured['ratio']:.2f} [{measured['low']:.2f}-{measured['high']:.2f}] ({where})"
