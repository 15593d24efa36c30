"""Processes that check files within bounds, and survive files that kill the process that parses them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

from kerascheck.catalog import registry
from kerascheck.finding import INTERNAL, UNREADABLE, FileError, Location
from kerascheck.lint.analyze_file import (
    TOO_DEEP,
    TOO_LARGE,
    TOO_SLOW,
    Analysis,
    FileResult,
    with_large_stack,
    without_collector,
)
from kerascheck.lint.limits import TIME_SIGNAL, Limits
from kerascheck.project.discovery import File
from kerascheck.source import Source, dependencies

_SAFE_PATH = "PYTHONSAFEPATH"
"""The environment variable of Python's -P."""

_LOOKS, _PAUSE = 5, 0.001
"""How often to look for other threads, and the seconds after each."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Chunk = tuple[list[File], bool, tuple[Source, ...]]
"""Files, whether ``noqa`` comments count, and sources to use instead of what is on disk."""


def can_fork() -> bool:
    """Whether a process can be had for next to nothing: it shares the modules that are loaded already."""
    # Threads do not survive a fork, but what they hold locked does. Python knows only of its own.
    return sys.platform == "linux" and threading.active_count() == 1 and _runs_alone()


def _runs_alone() -> bool:
    """Whether the operating system has one thread of this process; not where it does not tell."""
    for _ in range(_LOOKS):
        try:
            if len(os.listdir("/proc/self/task")) == 1:
                return True
        except OSError:
            return False
        # A thread that Python has joined may still be on its way out.
        time.sleep(_PAUSE)
    return False


@contextlib.contextmanager
def _beside_the_working_folder() -> Iterator[None]:
    """Processes that are started meanwhile import nothing from the working folder, whose types.py or pickle.py is the user's.

    Those of multiprocessing look there first until they are told where their parent looks. Python 3.10 does so anyway.
    """
    given = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if given is not None:
            os.environ[_SAFE_PATH] = given


def spread(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    jobs: int,
    tells: Callable[[_Result], bool],
    meanwhile: Callable[[_Item], None],
) -> list[_Result | None]:
    """``[function(item) for item in items]`` in ``jobs`` processes; None for what one was given that has died.

    Args:
        function: it stands at the top of a module.
        meanwhile: called with the first item whose result ``tells``, while the processes go on, where they can be forked.
    """
    if not can_fork():
        with _beside_the_working_folder():
            pool = multiprocessing.get_context("spawn").Pool(jobs, _begin, (registry.used_folders(),))
        with pool as processes:
            return list(processes.map(function, items))
    found: list[_Result | None] = [None] * len(items)
    running: dict[Connection, tuple[int, _Forked]] = {}
    is_told = False
    try:
        for first in range(jobs):
            ours, theirs = multiprocessing.Pipe(duplex=False)
            running[ours] = first, _Forked(partial(_go_through, function, items[first::jobs], tells, theirs))
            theirs.close()
        while running:
            for pipe in cast(list[Connection], wait(list(running))):
                first, process = running[pipe]
                try:
                    told = pipe.recv()
                except EOFError:
                    told = None
                if isinstance(told, int):
                    if not is_told:
                        is_told = True
                        meanwhile(items[first + told * jobs])
                    continue
                if told is not None:
                    found[first::jobs] = told
                process.join()
                pipe.close()
                del running[pipe]
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()
    return found


def _go_through(
    function: Callable[[_Item], _Result], items: Sequence[_Item], tells: Callable[[_Result], bool], pipe: Connection
) -> None:
    """Send the number of the first item whose result ``tells``, if any, and in the end all results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results: list[_Result] = []
    is_told = False
    for number, item in enumerate(items):
        results.append(function(item))
        if not is_told and tells(results[-1]):
            pipe.send(number)
            is_told = True
    pipe.send(results)


def _begin(folders: Sequence[str]) -> None:
    """The beginning of each process: it leaves interrupts to the parent, which ends its children, and has the parent's rules."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    registry.use_folders(folders)


def _serve(pipe: Connection, folders: Sequence[str], is_tracked: bool, inherited: Sequence[Connection] = ()) -> None:
    """Check the chunks that come through ``pipe``, one result per file, until it closes.

    A message holds the result of the file, the dependencies that are new since the last one, and whether the memory is full.

    Args:
        folders: they have rules, too.
        is_tracked: whether results name their dependencies.
        inherited: pipes of other processes.
    """
    for other in inherited:
        # A copy that stayed open here would hide the end of the parent from everyone.
        other.close()
    _begin(folders)
    # Before the bounds of the first file count.
    import kerascheck.meaning.module  # noqa: F401

    # What libcst says before it gives up its process is no line for users.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limits = Limits()

    def work() -> None:
        analysis: Analysis | None = None
        other: tuple[tuple[Source, ...], Analysis] | None = None
        tracker = dependencies.current_tracker()
        deps, sent = [] if tracker is None else tracker.dependencies, 0
        while True:
            try:
                files, noqa, sources = pipe.recv()
            except EOFError:
                return
            # All chunks of a process agree on noqa.
            if not sources:
                own = analysis = analysis or Analysis(noqa=noqa, limits=limits)
            else:
                if other is None or other[0] != sources:
                    other = sources, Analysis(sources, noqa=noqa, limits=limits)
                own = other[1]
            for file in files:
                result = own.check(file)
                pipe.send((result, deps[sent:], own.is_full))
                sent = len(deps)
            own.make_room()

    with dependencies.tracking(dependencies.DependencyTracker() if is_tracked else None), without_collector():
        with_large_stack(work)


class _Forked:
    """A copy of this process that runs a function and ends.

    multiprocessing has them too, but not within one that it made itself, as flake8's are.
    """

    def __init__(self, function: Callable[[], None]):
        self._status: int | None = None
        self._pid = os.fork()
        if not self._pid:
            code = 1
            try:
                function()
                code = 0
            finally:
                # Nothing that this process left for its end is to be done twice.
                os._exit(code)

    def terminate(self) -> None:
        if self._status is None:
            os.kill(self._pid, signal.SIGTERM)

    def join(self) -> None:
        if self._status is None:
            self._status = os.waitpid(self._pid, 0)[1]

    @property
    def exitcode(self) -> int | None:
        return None if self._status is None else os.waitstatus_to_exitcode(self._status)


class _Died(Exception):
    """The process ended on a file.

    Attributes:
        file: the file.
        rest: what it had still to check, if anything.
        error: code and message that tell of the reason; None where it is not known.
    """

    def __init__(self, file: File, rest: list[Chunk], error: tuple[str, str] | None):
        super().__init__(file.path)
        self.file, self.rest, self.error = file, rest, error

    def result(self) -> FileResult:
        """What the run tells of the file."""
        code, message = self.error or (UNREADABLE, "could not be analysed: the parser ran out of stack or memory on it")
        return FileResult(self.file.path, errors=[FileError(code, Location(self.file.path, None, 1, 1, 1, 1), message)])


def _error(exitcode: int | None) -> tuple[str, str] | None:
    """What the end of a process tells of the file that it was checking."""
    if exitcode is None or exitcode > 0:
        return (
            INTERNAL,
            "the process that analysed it failed; this is a fault of kerascheck: please report it with this line and the file",
        )
    return {
        TIME_SIGNAL: (UNREADABLE, TOO_SLOW),
        # libcst aborts where it gets no memory, and knows no other reason to.
        signal.SIGABRT: (UNREADABLE, TOO_LARGE),
        signal.SIGSEGV: (UNREADABLE, TOO_DEEP),
    }.get(-exitcode)


class _Worker:
    """A process that checks files.

    Args:
        others: those that run already, to whose pipes a copy of this process has access too.
    """

    def __init__(self, others: Iterable[_Worker]):
        self.pipe, theirs = multiprocessing.Pipe()
        inherited = (self.pipe, *(worker.pipe for worker in others))
        folders, is_tracked = registry.used_folders(), dependencies.current_tracker() is not None
        self._process: _Forked | BaseProcess
        if can_fork():
            self._process = _Forked(lambda: _serve(theirs, folders, is_tracked, inherited))
        else:
            process = multiprocessing.get_context("spawn").Process(
                target=_serve, args=(theirs, folders, is_tracked), daemon=True
            )
            with _beside_the_working_folder():
                process.start()
            self._process = process
        theirs.close()
        self._chunk: Chunk = [], True, ()
        self._done = 0
        self._is_full = False
        # Index: the number of a dependency in the other process.
        self._numbers: list[int] = []

    @property
    def is_idle(self) -> bool:
        """Whether there is no result to wait for."""
        return self._done == len(self._chunk[0])

    @property
    def is_to_be_kept(self) -> bool:
        """Whether it is to check more files: the end of a full process frees its memory in no time, which takes it a fifth
        of what it has done so far; to start another is cheap where it can be forked."""
        return not (self._is_full and isinstance(self._process, _Forked))

    def give(self, chunk: Chunk) -> None:
        """Have it check some files; :meth:`take` gives their results, one by one."""
        self._chunk, self._done = chunk, 0
        try:
            self.pipe.send(chunk)
        except ConnectionError:
            # It died before its first file; reading from the pipe tells.
            pass

    def take(self) -> FileResult:
        """The next result, as soon as there is one; raises :class:`_Died`."""
        files, noqa, sources = self._chunk
        file = files[self._done]
        self._done += 1
        try:
            result, deps, self._is_full = self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            error = _error(self._process.exitcode)
            # What came before may be the reason, as far as nothing tells: once more, first and alone.
            again = [file] if error is None and len(files) > 1 else []
            rest: list[Chunk] = [(left, noqa, sources) for left in (files[self._done :], again) if left]
            raise _Died(file, rest, error) from None
        return self._with_own_numbers(result, deps)

    def _with_own_numbers(self, result: FileResult, deps: Iterable[dependencies.Dependency]) -> FileResult:
        """Translate the numbers of a result's dependencies to those of this process."""
        tracker = dependencies.current_tracker()
        if tracker is not None:
            self._numbers.extend(map(tracker.add, deps))
            if result.follows_from is not None:
                result.follows_from = [self._numbers[number] for number in result.follows_from]
        return result

    def stop(self) -> None:
        """End the process."""
        self.kill()
        self._process.join()

    def kill(self) -> None:
        """Have the process end, which takes as long as it has memory to give back."""
        self.pipe.close()
        self._process.terminate()


class Pool:
    """Processes that check files, and are kept until the pool is closed.

    Args:
        jobs: how many there are at most.
    """

    def __init__(self, jobs: int):
        self._jobs = jobs
        self._idle: list[_Worker] = []
        self.close = weakref.finalize(self, _stop_all, self._idle)

    def check(self, chunks: Iterable[Chunk], gather: Callable[[FileResult], None]) -> None:
        """Check files, and give each result to ``gather`` as it comes; a file that ends its process has an error for a result."""
        waiting = [chunk for chunk in chunks if chunk[0]][::-1]
        busy: list[_Worker] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < self._jobs:
                    busy.append(self._idle.pop() if self._idle else _Worker([*busy, *self._idle]))
                    busy[-1].give(waiting.pop())
                ready = set(wait([worker.pipe for worker in busy]))
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    try:
                        gather(worker.take())
                    except _Died as death:
                        busy.remove(worker)
                        worker.stop()
                        waiting += death.rest
                        if not any(files == [death.file] for files, *_ in death.rest):
                            gather(death.result())
                        continue
                    if worker.is_idle:
                        busy.remove(worker)
                        if worker.is_to_be_kept:
                            self._idle.append(worker)
                        else:
                            worker.stop()
        finally:
            _stop_all(busy)


def _stop_all(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.kill()
    while workers:
        workers.pop().stop()
