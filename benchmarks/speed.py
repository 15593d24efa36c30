"""Times kerascheck and other linters on trees of your choice, and prints a table of ratios.

    python benchmarks/speed.py PATH [PATH ...] [--rounds 5]
    python benchmarks/speed.py PATH --profile

Each round alternates these runs per tree: kerascheck without a cache, with the cache of the previous run, after an
edit of one file, and on one file; flake8 without kerascheck's plugin; pylint, Fixit, TorchFix and ruff if they are
installed. A session (``kerascheck.lint.session.Session``, as in editors and flake8) edits a file repeatedly. A ratio
is the time of flake8 divided by that of the other tool: 2 is twice as fast. The table shows the median and the range
over the rounds. Ratios of one run are comparable; seconds of different machines are not.

The benchmark copies the tree and never writes into the original.

``--profile`` instead profiles one run in one process: phases, functions and rules.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib.util
import os
import pstats
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_FLAKE8 = """
import importlib.metadata as metadata, sys
found = metadata.distributions
metadata.distributions = lambda **given: (d for d in found(**given) if d.metadata["Name"] != "kerascheck")
from flake8.main.cli import main
sys.exit(main(sys.argv[1:]))
"""
_LINT = ("-m", "kerascheck", "check", "--isolated", "-q", "--output-format", "concise", "--include-tests")
_EDITS = 20
"""Number of edits in a session."""
_TYPICAL_LINES = 300
"""Target length in lines: the training script nearest to it is the single file."""
_TRAINS = re.compile(rb"keras[^\0]*\.fit\(|GradientTape")
_OTHERS = {
    "pylint": ("pylint", ("-m", "pylint", "--disable=all", "--enable=E,W", "--recursive=y")),
    "Fixit": ("fixit", ("-m", "fixit", "lint")),
    "TorchFix": ("torchfix", ("-m", "torchfix", "--select=ALL")),
    "ruff": ("ruff", ("-m", "ruff", "check", "--isolated", "--no-cache", "--select=E,F,W")),
}


class Time(NamedTuple):
    """Wall and processor time in seconds."""

    wall: float
    processor: float


def timed(command: list[str], cwd: Path) -> Time:
    """Time of a command and its children; exits if the linter crashes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "Traceback" in done.stderr:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return Time(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


class Tree:
    """A copy of a tree, and the timed runs on it."""

    def __init__(self, path: Path, folder: Path):
        self.name = path.resolve().name
        self.root = folder / self.name
        shutil.copytree(path, self.root, ignore=shutil.ignore_patterns(".git", ".kerascheck"), symlinks=True)
        (self.root / ".git").mkdir()
        self.files = sorted(self.root.rglob("*.py"))
        self.lines = sum(file.read_bytes().count(b"\n") for file in self.files)
        self._cache = folder / f"{self.name}.cache"

    @cached_property
    def one(self) -> Path:
        """A typical training script, or else the file nearest to its length, chosen before any edit."""
        training = [file for file in self.files if _TRAINS.search(file.read_bytes())] or self.files
        return min(training, key=lambda file: abs(file.read_bytes().count(b"\n") - _TYPICAL_LINES))

    def runs(self) -> dict[str, Callable[[], Time]]:
        """Timed runs by their name in the table; flake8 comes first."""
        lint = [sys.executable, *_LINT]
        cached = [*lint, "--cache-dir", str(self._cache)]
        one = str(self.one.relative_to(self.root))
        runs: dict[str, Callable[[], Time]] = {
            "flake8": lambda: self._run([sys.executable, "-c", _FLAKE8, "--isolated", "."]),
            "cold": lambda: self._run([*lint, "--no-cache", "."]),
            "warm": lambda: self._run([*cached, "."]),
            "one file changed": lambda: self._changed([*cached, "."]),
            "flake8, one file": lambda: self._run([sys.executable, "-c", _FLAKE8, "--isolated", one]),
            "one file, cold": lambda: self._run([*lint, "--no-cache", one]),
            "one file, warm": lambda: self._again([*cached, one]),
        }
        for name, (module, arguments) in _OTHERS.items():
            if importlib.util.find_spec(module) is not None:
                runs[name] = lambda arguments=arguments: self._run([sys.executable, *arguments, "."])
        return runs

    def _run(self, command: list[str]) -> Time:
        return timed(command, self.root)

    def _again(self, command: list[str]) -> Time:
        self._run(command)
        return self._run(command)

    def _changed(self, command: list[str]) -> Time:
        with self.one.open("a") as file:
            file.write(f"\n# {time.time_ns()}\n")
        return self._run(command)

    def session(self) -> tuple[list[float], list[float]]:
        """Milliseconds from each edit to the findings of the file alone, shown at once, and to all its findings."""
        from kerascheck.lint.session import Session
        from kerascheck.project.config import Configuration
        from kerascheck.source import read

        session = Session(Configuration(isolated=True))
        source = read(str(self.one))
        session.lint(source)
        own, complete = [], []
        for number in range(_EDITS):
            edited = source.with_text(f"{source.text}\nedited = {number}\n")
            started = time.perf_counter()
            next(session.steps(edited))
            own.append(1000 * (time.perf_counter() - started))
            edited = source.with_text(f"{source.text}\nedited_again = {number}\n")
            started = time.perf_counter()
            session.lint(edited)
            complete.append(1000 * (time.perf_counter() - started))
        return sorted(own), sorted(complete)


def ratios(own: list[Time], reference: list[Time], measure: str) -> str:
    """Speed-up over the reference per round: the median and the range."""
    found = sorted(getattr(b, measure) / getattr(a, measure) for a, b in zip(own, reference))
    return f"{statistics.median(found):7.2f} ({found[0]:.2f} to {found[-1]:.2f})"


def compare(tree: Tree, rounds: int) -> None:
    """Print the table of one tree."""
    runs = tree.runs()
    # Warm-up: fills the caches of the disk, of Python and of kerascheck.
    for run in runs.values():
        run()
    times: dict[str, list[Time]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(run())
    print(f"\n{tree.name}: {len(tree.files)} Python files, {tree.lines} lines; {rounds} rounds in turns")
    print(f"  {'':18} {'wall s':>8} {'cpu s':>8}   {'times flake8, wall':>24} {'times flake8, cpu':>24}")
    for name, own in times.items():
        reference = times["flake8, one file" if name.startswith("one file, ") else "flake8"]
        wall, processor = (statistics.median(getattr(each, measure) for each in own) for measure in Time._fields)
        columns = [ratios(own, reference, measure) for measure in Time._fields]
        print(f"  {name:18} {wall:8.3f} {processor:8.3f}   {columns[0]:>24} {columns[1]:>24}")
    own, complete = (
        f"{statistics.median(edits):.0f} ms (median), {edits[int(0.95 * len(edits))]:.0f} ms (95 %)"
        for edits in tree.session()
    )
    lines = tree.one.read_bytes().count(b"\n")
    print(f"  session: {tree.one.name} edited {_EDITS} times, {lines} lines: its own findings {own}, all {complete}")


def profile(tree: Tree) -> None:
    """Print a profile of one run in one process."""
    from kerascheck.catalog import registry
    from kerascheck.lint.analyze_file import Analysis, with_large_stack
    from kerascheck.lint.triage import Triage, triage
    from kerascheck.project.config import Configuration
    from kerascheck.project.discovery import discover

    def check() -> list[dict[str, float]]:
        files = discover([str(tree.root)], Configuration(isolated=True)).files
        analysis = Analysis()
        chosen = [file for file, decision, _ in triage(files) if decision is not Triage.SKIP]
        return [analysis.check(file).seconds for file in chosen]

    recorded = cProfile.Profile(time.process_time)
    seconds = with_large_stack(lambda: recorded.runcall(check))
    statistics_of = pstats.Stats(recorded)
    statistics_of.sort_stats("cumtime").print_stats(r"kerascheck|libcst", 40)
    statistics_of.sort_stats("tottime").print_stats(30)
    total: dict[str, float] = {}
    for each in seconds:
        for code, taken in each.items():
            total[code] = total.get(code, 0.0) + taken
    print("Rules, with the analysis that each was the first to ask for:")
    names = {spec.code: spec.name for spec in registry.rule_specs()}
    for code, taken in sorted(total.items(), key=lambda each: -each[1])[:15]:
        print(f"  {taken:7.2f} s  {code} {names.get(code, '')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is timed")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    arguments = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    for path in arguments.paths:
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(path, Path(folder))
            profile(tree) if arguments.profile else compare(tree, arguments.rounds)


if __name__ == "__main__":
    main()
