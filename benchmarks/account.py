"""Whether the account of ``why`` adds up: its total of a training against the seconds that the script itself measured.

    python benchmarks/account.py SCRIPT...

Each script ends by printing what its training took, such as "12.3 s". It is run as it is, then under ``why``; printed is the ratio
of both, and what of it is unexplained. Run it on a quiet machine: a ratio beyond 0.9 to 1.1 is a fault of the account.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys


def seconds_of(script: str) -> float | None:
    """What a script prints last as its seconds; None where it prints none."""
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True)
    found = re.findall(r"([\d.]+) s\b", ran.stdout)
    return float(found[-1]) if found else None


def told_of(script: str) -> dict:
    """What ``why`` says of a script, as its JSON."""
    command = [sys.executable, "-m", "kerascheck", "why", script, "--output-format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def main() -> None:
    """Print a line for each script."""
    for script in sys.argv[1:]:
        seconds, told = seconds_of(script), told_of(script)
        total = told.get("training_seconds")
        if not seconds or not total:
            print(f"{script}: {told.get('failure') or 'no total'}")
            continue
        unexplained = sum(part["share"] for part in told["parts"] if part["part"] == "unexplained")
        first = told["advice"][0]["text"][:60] if told["advice"] else "-"
        print(
            f"{script}: {total:.1f} s of {seconds:.1f} s, ratio {total / seconds:.2f}, unexplained {unexplained:.0%}; {first}"
        )


if __name__ == "__main__":
    main()
