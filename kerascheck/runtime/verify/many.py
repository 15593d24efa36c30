"""``verify`` for a list of scripts. Each row is stored once it is measured, so an interrupted list can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from kerascheck.runtime.verify.json_report import ListRowJson
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status

SUFFIX = ".txt"
_SCHEMA = 1
HERE = "here"
"""The place of rows measured on this machine."""


class NotAList(Exception):
    """The file names no scripts; ``str()`` gives the reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """A script of a list with its arguments, as typed in the folder of the list."""

    text: str
    script: str
    """Absolute path."""
    arguments: tuple[str, ...]

    @property
    def state(self) -> str:
        """Hash of the script's text; empty if the script cannot be read."""
        try:
            return hashlib.blake2b(Path(self.script).read_bytes(), digest_size=12).hexdigest()
        except OSError:
            return ""


def read_list(path: str) -> list[Line]:
    """The scripts named in the file at ``path``, one per line, without duplicates; raises NotAList."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        texts = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise NotAList(f"{path}: {problem}") from None
    lines: dict[str, Line] = {}
    for number, text in enumerate(texts, 1):
        try:
            words = shlex.split(text, comments=True)
        except ValueError as problem:
            raise NotAList(f"{path}:{number}: {problem}") from None
        if words:
            named = shlex.join(words)
            lines.setdefault(named, Line(named, os.path.normpath(os.path.join(folder, words[0])), tuple(words[1:])))
    if not lines:
        raise NotAList(f"{path}: names no script: write one a line, with its arguments")
    return list(lines.values())


class Rows:
    """The rows of a list, stored beside it as JSON lines."""

    def __init__(self, path: str) -> None:
        """``path``: of the list. Reads existing rows; skips lines that are incomplete or from another program."""
        self.path = Path(path).with_suffix(".results.jsonl")
        self._rows: dict[tuple[str, str], ListRowJson] = {}
        self._complete = True
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError:
            return
        self._complete = not text or text.endswith("\n")
        for line in text.splitlines():
            try:
                row: ListRowJson = json.loads(line)
                if row["version"] == _SCHEMA:
                    self._rows[row["script"], row["on"]] = row
            except (ValueError, KeyError, TypeError):
                continue

    def of(self, line: Line, on: str) -> ListRowJson | None:
        """The newest row of a script at a place, or None."""
        return self._rows.get((line.text, on))

    def is_finished(self, line: Line, on: str) -> bool:
        """Whether a script was measured with its current text.

        Failed runs count as unfinished, since the cause may be gone.
        """
        row = self.of(line, on)
        return row is not None and _code(row) != 2 and row["state"] == line.state

    def add(self, line: Line, on: str, result: Verification | None, problem: str | None = None) -> ListRowJson:
        """Store the result for a script, or the ``problem`` that prevented one; raises OSError."""
        row: ListRowJson = {
            "version": _SCHEMA,
            "script": line.text,
            "on": on,
            "state": line.state,
            "date": time.strftime("%Y-%m-%d %H:%M"),
            "problem": problem,
            "verification": None if result is None else result.as_dict(),
        }
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(("" if self._complete else "\n") + json.dumps(row) + "\n")
        self._complete = True
        self._rows[line.text, on] = row
        return row


Job = Callable[[threading.Event], Verification]
"""Measures a script; ends once the event is set."""
Finished = Callable[[Line, Verification | None, Exception | None], None]
"""Receives the result for a script, or why there is none."""


def measure_all(
    jobs: Mapping[Line, Job],
    finished: Finished,
    at_once: int,
) -> None:
    """Run ``jobs``, several at once; passes each result or exception to ``finished`` in this thread.

    Each job receives an event that asks it to stop. It is set if this function is interrupted.
    """
    stop = threading.Event()
    if at_once == 1:
        # Without an extra thread, signals reach the measurement.
        for line, job in jobs.items():
            _tell(line, lambda: job(stop), finished)
        return
    pending: dict[Future[Verification], Line] = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            pending = {pool.submit(job, stop): line for line, job in jobs.items()}
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    _tell(pending.pop(future), future.result, finished)
        finally:
            stop.set()
            for future in pending:
                future.cancel()


def _tell(line: Line, get: Callable[[], Verification], finished: Finished) -> None:
    try:
        result = get()
    except Exception as problem:  # one script never stops the others
        finished(line, None, problem)
    else:
        finished(line, result, None)


def exit_code(rows: Iterable[ListRowJson | None]) -> int:
    """2: a script could not be measured; 1: a finding was confirmed; 0 otherwise."""
    codes = {_code(row) for row in rows}
    return max(codes, default=0)


def _code(row: ListRowJson | None) -> int:
    if row is None or row["verification"] is None or row["verification"]["failure"]:
        return 2
    return int(any(verdict["status"] == Status.CONFIRMED.value for verdict in row["verification"]["verdicts"]))


_KINDS = ("with something to win", "inconclusive", "with nothing to win", "without a fix to measure", "not measured")


def _kind(row: ListRowJson | None) -> str:
    code, verification = _code(row), None if row is None else row["verification"]
    if verification is not None and code == 0:
        statuses = {verdict["status"] for verdict in verification["verdicts"]}
        if Status.INCONCLUSIVE.value in statuses:
            return "inconclusive"
        if not statuses - {Status.NOT_RUN.value} and verification.get("observations"):
            return "without a fix to measure"
    return {0: "with nothing to win", 1: "with something to win", 2: "not measured"}[code]


def table(lines: Sequence[Line], rows: Sequence[ListRowJson | None]) -> Iterator[str]:
    """Format the rows for display: one line per script, and a summary line."""
    width = max(len(line.text) for line in lines)
    for line, row in zip(lines, rows):
        yield f"{line.text:<{width}}  {'  '.join(cells(row))}"
    kinds = Counter(map(_kind, rows))
    parts = [f"{kinds[kind]} {kind}" for kind in _KINDS if kind in kinds]
    yield f"{len(lines)} script{'s' * (len(lines) != 1)}: {', '.join(parts)}"


def cells(row: ListRowJson | None) -> Iterator[str]:
    """Cells of a row: the best verdict, the share of waiting for data, and the duration of the measurement."""
    if row is None:
        yield "not run yet"
        return
    verification = row["verification"]
    if verification is None or verification["failure"]:
        reason = row["problem"] or (verification and verification["failure"])
        yield f"not run: {' '.join(str(reason).split())[:160]}"
        return
    verdicts = [verdict for verdict in verification["verdicts"] if verdict["status"] != Status.NOT_RUN.value]
    order = [status.value for status in Status]
    best = min(
        verdicts, key=lambda v: (order.index(v["status"]), -(v["ratio"]["value"] if v["ratio"] else 0)), default=None
    )
    if best is None:
        yield "nothing to compare"
    else:
        ratio = best["ratio"] and f" {Ratio(**best['ratio'])}"
        yield f"{best['status']}{ratio or ''}"
        yield best["name"]
    waits = [training["input_bound"] for training in verification["trainings"] if training["input_bound"] is not None]
    if waits:
        yield f"waits for data {max(waits):.0%}"
    yield f"{verification['seconds']:.0f} s"
