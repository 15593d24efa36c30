"""Processes that check files, and survive files that kill the process that parses them."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from kerascheck.check import UNREADABLE, Analysis, Checked, check_files, with_large_stack
from kerascheck.finding import FileError, Location
from kerascheck.source.discovery import File

_ALONE_SECONDS = 60
"""Longest time for a file that is checked alone because it is too deep, or killed a process before."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Chunk = tuple[list[File], bool]
"""Files, and whether ``noqa`` comments count."""


def _context():
    # Forked processes share the modules that are loaded already; threads do not survive a fork.
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def spread(function: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int) -> list[_Result]:
    """``[function(item) for item in items]`` in ``jobs`` processes; ``function`` stands at the top of a module."""
    with _context().Pool(jobs, _leave_interrupts) as processes:
        results = processes.map(function, items)
        processes.close()
        # Its threads end too: later processes can be forked.
        processes.join()
    return results


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children


def _serve(pipe: Connection, inherited: Sequence[Connection]) -> None:
    """Check the chunks that come through ``pipe``, one result per file, until it closes."""
    for other in inherited:
        # A copy that stayed open here would hide the end of the parent from everyone.
        other.close()
    _leave_interrupts()

    def work() -> None:
        analysis: Analysis | None = None
        while True:
            try:
                files, noqa = pipe.recv()
            except EOFError:
                return
            # All chunks of a run agree on noqa.
            analysis = analysis or Analysis(noqa=noqa)
            for checked in check_files(files, analysis):
                pipe.send(checked)

    with_large_stack(work)


@dataclass
class _Worker:
    process: multiprocessing.Process
    pipe: Connection
    chunk: Chunk | None = None
    done: int = 0

    def stop(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _start(context, others: Sequence[_Worker] = ()) -> _Worker:
    ours, theirs = context.Pipe()
    inherited = [ours, *(worker.pipe for worker in others)] if context.get_start_method() == "fork" else []
    process = context.Process(target=_serve, args=(theirs, inherited), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def run(chunks: Sequence[Chunk], jobs: int, gather: Callable[[Checked], None]) -> list[File]:
    """Check ``chunks`` in ``jobs`` processes and give each result to ``gather`` as it comes.

    Returns:
        The files that killed the process that checked them, which have no result.
    """
    import kerascheck.semantics  # noqa: F401 - once here, and not in every forked process

    context = _context()
    waiting, killers = list(reversed(chunks)), []
    workers: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_start(context, workers))
                _give(workers[-1], waiting.pop())
            ready = set(wait([worker.pipe for worker in workers]))
            for worker in [worker for worker in workers if worker.pipe in ready]:
                files, noqa = worker.chunk
                try:
                    gather(worker.pipe.recv())
                    worker.done += 1
                except (EOFError, ConnectionError):
                    killers.append(files[worker.done])
                    if rest := files[worker.done + 1 :]:
                        waiting.append((rest, noqa))
                    worker.stop()
                    workers.remove(worker)
                    continue
                if worker.done == len(files):
                    if waiting:
                        _give(worker, waiting.pop())
                    else:
                        worker.stop()
                        workers.remove(worker)
    finally:
        for worker in workers:
            worker.stop()
    return killers


def _give(worker: _Worker, chunk: Chunk) -> None:
    worker.chunk, worker.done = chunk, 0
    try:
        worker.pipe.send(chunk)
    except ConnectionError:
        # It died before its first file; reading from the pipe tells.
        pass


def run_alone(file: File, noqa: bool) -> Checked:
    """Check one file in a process of its own; an error in the result where that process dies or takes too long."""
    worker = _start(_context())
    _give(worker, ([file], noqa))
    reason = "the parser ran out of stack or memory on it"
    try:
        if worker.pipe.poll(_ALONE_SECONDS):
            return worker.pipe.recv()
        reason = f"it took more than {_ALONE_SECONDS} s"
    except (EOFError, ConnectionError):
        pass
    finally:
        worker.stop()
    place = Location(file.path, None, 1, 1, 1, 1)
    return Checked(file.path, errors=[FileError(UNREADABLE, place, f"could not be analysed: {reason}")])
