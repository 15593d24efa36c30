"""``verify`` on a list of scripts: one row each, kept as soon as it is there, so that a list can be taken up again."""

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
"""The place of a row that was measured on this machine."""


class NotAList(Exception):
    """The file names no scripts; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """A script of a list, with its arguments, as somebody would type it in the folder of the list."""

    text: str
    script: str
    """Absolute path."""
    arguments: tuple[str, ...]

    @property
    def state(self) -> str:
        """Changes with the text of the script; empty if it cannot be read."""
        try:
            return hashlib.blake2b(Path(self.script).read_bytes(), digest_size=12).hexdigest()
        except OSError:
            return ""


def read_list(path: str) -> list[Line]:
    """The scripts that the file at ``path`` names, one a line, without repetitions; raises NotAList."""
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
    """The rows of a list, in a file of one JSON object per line beside it."""

    def __init__(self, path: str) -> None:
        """``path``: of the list. Reads what is there; a line that is cut off or of another program is left alone."""
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
        """Whether a script was measured as its text is now: what stopped it may be gone, such as a package that was missing."""
        row = self.of(line, on)
        return row is not None and _code(row) != 2 and row["state"] == line.state

    def add(self, line: Line, on: str, result: Verification | None, problem: str | None = None) -> ListRowJson:
        """Keep the result for a script, or the ``problem`` for which there is none; raises OSError."""
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
    """Run ``jobs``, some of them at once; ``finished`` is told each result, or the exception, in this thread.

    The event that a job is given tells it to stop: it is set when this is interrupted.
    """
    stop = threading.Event()
    if at_once == 1:
        # Without a thread of its own: signals reach what is being measured.
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
    """The rows for people, one line per script, and a line about all of them."""
    width = max(len(line.text) for line in lines)
    for line, row in zip(lines, rows):
        yield f"{line.text:<{width}}  {'  '.join(cells(row))}"
    kinds = Counter(map(_kind, rows))
    parts = [f"{kinds[kind]} {kind}" for kind in _KINDS if kind in kinds]
    yield f"{len(lines)} script{'s' * (len(lines) != 1)}: {', '.join(parts)}"


def cells(row: ListRowJson | None) -> Iterator[str]:
    """What a row says of its script: the best verdict, how much waits for data, and how long that took."""
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
