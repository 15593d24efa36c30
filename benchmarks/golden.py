"""Lists the findings that a change adds, removes or alters in trees of real code.

    python benchmarks/golden.py write  report.json TREE...    # before the change
    python benchmarks/golden.py compare report.json TREE...   # after it: exit code 1 if anything differs

It compares all findings, including hints and pedantic ones, with their message, location and fix, and all files that
kerascheck could not analyse. It ignores the configuration of the trees.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_OPTIONS = (
    "check",
    "--isolated",
    "--min-severity",
    "info",
    "--pedantic",
    "--exit-zero",
    "--output-format",
    "json",
    ".",
)
_LEFT_OUT = ("evidence",)
"""Keys of a finding that depend on the machine."""


def findings(tree: Path) -> list[dict[str, Any]]:
    """Findings and errors of the installed kerascheck on ``tree``, in order; raises SystemExit if it fails."""
    result = subprocess.run([sys.executable, "-m", "kerascheck", *_OPTIONS], cwd=tree, capture_output=True, text=True)
    if not result.stdout:
        raise SystemExit(f"{tree}: {result.stderr.strip()}")
    document = json.loads(result.stdout)
    found = [*document["findings"], *({"severity": "error", **error} for error in document["errors"])]
    return [{key: value for key, value in finding.items() if key not in _LEFT_OUT} for finding in found]


def report(trees: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """The findings of each tree, by its name."""
    return {tree.name: findings(tree) for tree in trees}


def differences(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """Lines such as "- train.py:3 KC101 message"; an altered finding gives a "-" and a "+" line."""
    old, new = ({json.dumps(finding, sort_keys=True): finding for finding in each} for each in (before, after))
    gone = [("-", finding) for key, finding in old.items() if key not in new]
    came = [("+", finding) for key, finding in new.items() if key not in old]
    return [f"{sign} {_line(finding)}" for sign, finding in sorted(gone + came, key=lambda each: _order(each[1]))]


def _order(finding: dict[str, Any]) -> tuple[Any, ...]:
    return finding["path"], finding["cell"] or 0, finding["line"], finding["column"], finding["code"]


def _line(finding: dict[str, Any]) -> str:
    cell = "" if finding["cell_number"] is None else f"cell {finding['cell_number']}:"
    return f"{finding['path']}:{cell}{finding['line']} {finding['severity']} {finding['code']} {finding['message']}"


def main() -> int:
    """Write a report, or compare the findings with one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("report", type=Path)
    parser.add_argument("trees", nargs="+", type=Path)
    options = parser.parse_args()
    now = report(options.trees)
    if options.action == "write":
        options.report.write_text(json.dumps(now, indent=1), encoding="utf-8")
        print(f"{sum(map(len, now.values()))} findings of {len(now)} trees")
        return 0
    before = json.loads(options.report.read_text(encoding="utf-8"))
    lines = [f"{name}: {line}" for name in now for line in differences(before.get(name, []), now[name])]
    print("\n".join(lines) or "the same findings")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
