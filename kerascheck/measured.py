"""What was measured of the rules' examples: the table that ships with kerascheck, read without anything of ``verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "verify" / "evidence_table.json"
"""What ships with kerascheck: {"rows": [...]}, see :func:`kerascheck.verify.evidence.row`."""

DEVICES = ("cpu", "gpu")
"""The columns of the table."""


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
            if measured["status"] == "confirmed" and measured["ratio"] is not None:
                best[row["code"]] = max(best.get(row["code"], 0.0), measured["ratio"])
    return best
