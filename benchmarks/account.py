"""Compares the training time in the report of ``why`` with the time that the script itself measures.

    python benchmarks/account.py SCRIPT...

Each script ends by printing its training time, such as "12.3 s". The benchmark runs it directly, then under ``why``,
and prints the ratio of both times and the unexplained share. Run it on a quiet machine: a ratio outside 0.9 to 1.1 is
a bug.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys


def seconds_of(script: str) -> float | None:
    """Training time in seconds that a script prints last; None if it prints none."""
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True)
    found = re.findall(r"([\d.]+) s\b", ran.stdout)
    return float(found[-1]) if found else None


def report_of(script: str) -> dict:
    """Return the JSON report of ``why`` about a script."""
    command = [sys.executable, "-m", "kerascheck", "why", script, "--output-format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def main() -> None:
    """Print a line for each script."""
    for script in sys.argv[1:]:
        seconds, report = seconds_of(script), report_of(script)
        total = report.get("training_seconds")
        if not seconds or not total:
            print(f"{script}: {report.get('failure') or 'no total'}")
            continue
        unexplained = sum(part["share"] for part in report["parts"] if part["part"] == "unexplained")
        first = report["advice"][0]["text"][:60] if report["advice"] else "-"
        print(
            f"{script}: {total:.1f} s of {seconds:.1f} s, ratio {total / seconds:.2f}, unexplained {unexplained:.0%}; {first}"
        )


if __name__ == "__main__":
    main()
