"""Runs the tests of the interpreter and of meaning against random mutants, and prints the survivors.

    python benchmarks/mutation.py [--sample 300] [--seed 0] [--minutes 25] [--workers 2] [--only PATH]

cosmic-ray makes the mutants (``pip install -e ".[mutation]"``), and ``benchmarks/mutation.toml`` configures it. The
same seed on the same code gives the same sample in the same order. Mutants of annotations and of the stars and slashes
between parameters are excluded.

Each worker has a copy of the checkout; the checkout itself does not change. A run starts no mutant after ``--minutes``;
the score counts those that ran. The exit code is 1 if the tests fail without a mutant, else 0.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_CONFIG = "benchmarks/mutation.toml"
_MEMORY = 6 << 30  # bytes of address space; a mutant of a bound may allocate more than the machine has
_SESSION_FILE = "session.sqlite"
Place = tuple[int, int]  # line from 1, column from 0


def copy_of_checkout(folder: Path) -> Path:
    """Copy all tracked and addable files, with uncommitted changes."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    # Tests look for the root of the project.
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def mutants_of(folder: Path, only: str) -> list[Any]:
    """The work items of cosmic-ray for a copy, in a stable order."""
    from cosmic_ray.work_db import WorkDB, use_db

    session = folder / _SESSION_FILE
    for command in (
        ["cosmic_ray.cli", "init", _CONFIG, str(session)],
        ["cosmic_ray.tools.filters.operators_filter", str(session), _CONFIG],
    ):
        subprocess.run([sys.executable, "-m", *command], cwd=folder, check=True)
    with use_db(str(session), WorkDB.Mode.open) as database:
        items = [item for item in database.pending_work_items if _is_mutated(item.mutations[0], folder, only)]
    return sorted(items, key=_place)


def _place(item: Any) -> tuple[Any, ...]:
    mutation = item.mutations[0]
    return str(mutation.module_path), mutation.start_pos, mutation.operator_name, mutation.occurrence


def _is_mutated(mutation: Any, folder: Path, only: str) -> bool:
    path = Path(mutation.module_path)
    start = tuple(mutation.start_pos)
    left_out, kept = _headers(folder / path)
    return path.is_relative_to(only) and (_is_in(start, kept) or not _is_in(start, left_out))


def _is_in(place: Place, ranges: Iterable[tuple[Place, Place]]) -> bool:
    return any(start <= place < end for start, end in ranges)


@cache
def _headers(path: Path) -> tuple[list[tuple[Place, Place]], list[tuple[Place, Place]]]:
    """Ranges of function headers and variable annotations in a module, and of the defaults in these headers."""
    headers, defaults = [], []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.AnnAssign):
            headers.append(_range(node.annotation))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            headers.append(((node.lineno, node.col_offset), _range(node.body[0])[0]))
            defaults += [_range(each) for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return headers, defaults


def _range(node: ast.expr | ast.stmt) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def test_command(folder: Path) -> tuple[str, float]:
    """Test command for a mutant, and its time limit in seconds."""
    from cosmic_ray.config import load_config

    config = load_config(str(folder / _CONFIG))
    program, *arguments = shlex.split(config.test_command)
    return shlex.join([sys.executable if program == "python" else program, *arguments]), config.timeout


def _enter(folders: Any) -> None:
    os.chdir(folders.get())
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _judge(item: Any, command: str, limit: float, deadline: float) -> tuple[str, str, float]:
    """Outcome of one mutant, its diff and its run time in seconds; the outcome is empty after the deadline."""
    from cosmic_ray.mutating import mutate_and_test

    if time.time() > deadline:
        return "", "", 0.0
    start = time.monotonic()
    result = mutate_and_test(item.mutations, command, limit)
    outcome = result.test_outcome.value if result.test_outcome is not None else "not run"
    if result.output == "timeout":
        outcome = "timeout"
    return outcome, result.diff or "", time.monotonic() - start


def run(items: Iterable[Any], folders: list[Path], deadline: float) -> Iterator[tuple[Any, str, str, float]]:
    """Yield each mutant with its outcome, its diff and its run time in seconds."""
    command, limit = test_command(folders[0])
    context = multiprocessing.get_context("spawn")
    queue = context.Manager().Queue()
    for folder in folders:
        queue.put(str(folder))
    with ProcessPoolExecutor(len(folders), context, initializer=_enter, initargs=(queue,)) as pool:
        running = {pool.submit(_judge, item, command, limit, deadline): item for item in items}
        for done in as_completed(running):
            outcome, diff, seconds = done.result()
            if outcome:
                yield running[done], outcome, diff, seconds


def main() -> int:
    """Print a line for each mutant, the survivors and the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="number of mutants (default: 300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=25.0, help="start no mutant after this time (default: 25)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="kerascheck", help="mutate only modules below this path")
    options = parser.parse_args()
    deadline = time.time() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="kerascheck-mutation-") as temporary:
        folders = [copy_of_checkout(Path(temporary) / f"copy{number}") for number in range(options.workers)]
        command, _ = test_command(folders[0])
        # The baseline runs also compile all modules, so mutant runs need not.
        baselines = [
            subprocess.Popen(shlex.split(command), cwd=folder, stdout=subprocess.DEVNULL) for folder in folders
        ]
        if sum(each.wait() != 0 for each in baselines):
            print("the tests fail without a mutant", file=sys.stderr)
            return 1
        items = mutants_of(folders[0], options.only)
        sample = random.Random(options.seed).sample(items, min(options.sample, len(items)))
        print(f"{len(sample)} of {len(items)} mutants, seed {options.seed}", flush=True)
        counts: dict[str, int] = {}
        for item, outcome, diff, seconds in run(sample, folders, deadline):
            counts[outcome] = counts.get(outcome, 0) + 1
            mutation = item.mutations[0]
            place = f"{mutation.module_path}:{mutation.start_pos[0]}"
            print(f"{outcome} {place} {mutation.operator_name} ({seconds:.0f} s)", flush=True)
            if outcome == "survived":
                print(diff, flush=True)
    total = sum(counts.values())
    print(", ".join(f"{outcome}: {count}" for outcome, count in sorted(counts.items())))
    print(f"killed {total - counts.get('survived', 0)} of {total} mutants that ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
