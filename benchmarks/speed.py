"""Times kerascheck against flake8 on one tree, in turns, and prints the ratios.

    python benchmarks/speed.py PATH [--rounds 3]

Each tool runs as users run it, in a process of its own, with its own default of parallel
jobs; of the rounds the fastest counts. flake8 runs without the kerascheck plugin. Ratios
of one run can be compared with each other; seconds of different machines cannot.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

FLAKE8 = """
import importlib.metadata as metadata, sys
found = metadata.distributions
metadata.distributions = lambda **given: (d for d in found(**given) if d.metadata["Name"] != "kerascheck")
from flake8.main.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of one command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    path, python = str(arguments.path), sys.executable
    pairs = {
        f"lint {path}": (
            [
                python,
                "-m",
                "kerascheck",
                "--isolated",
                "--no-cache",
                "-q",
                "--output-format",
                "concise",
                "--include-tests",
                path,
            ],
            [python, "-c", FLAKE8, "--isolated", path],
        ),
        "start: --version against 'import click'": (
            [python, "-m", "kerascheck", "--version"],
            [python, "-c", "import click"],
        ),
    }
    files = [Path(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".py")]
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    print(f"{len(files)} Python files, {lines} lines, best of {arguments.rounds} rounds")
    for title, (ours, theirs) in pairs.items():
        times = [(run(ours), run(theirs)) for _ in range(arguments.rounds)]
        print(title)
        for measure, index in (("wall", 0), ("processor", 1)):
            mine, other = (min(pair[tool][index] for pair in times) for tool in (0, 1))
            print(f"  {measure:9} {mine:8.3f} s against {other:8.3f} s: {other / mine:6.2f} times faster")


if __name__ == "__main__":
    main()
