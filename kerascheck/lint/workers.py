"""Worker processes that check files within limits; a file that crashes its worker costs only its own result."""

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
"""The environment variable for Python's ``-P`` option."""

_LOOKS, _PAUSE = 5, 0.001
"""How often to look for other threads, and the pause after each look in seconds."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Chunk = tuple[list[File], bool, tuple[Source, ...]]
"""Files, whether ``noqa`` comments count, and sources that replace files on disk."""


def can_fork() -> bool:
    """Whether forking is safe; a forked process is cheap, since it shares the loaded modules."""
    # A fork copies locks but not the threads that hold them. Python counts only its own threads.
    return sys.platform == "linux" and threading.active_count() == 1 and _runs_alone()


def _runs_alone() -> bool:
    """Whether this process has a single thread; False if the operating system does not say."""
    for _ in range(_LOOKS):
        try:
            if len(os.listdir("/proc/self/task")) == 1:
                return True
        except OSError:
            return False
        # A thread that Python has joined may still be exiting.
        time.sleep(_PAUSE)
    return False


@contextlib.contextmanager
def _without_working_folder() -> Iterator[None]:
    """Keep processes started in this context from importing modules of the working folder.

    A user's types.py or pickle.py there would shadow the standard library: a process of multiprocessing searches that
    folder first until it receives its parent's ``sys.path``. Python 3.10 ignores the variable.
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
    """Compute ``[function(item) for item in items]`` in ``jobs`` processes; None for the items of a process that died.

    Args:
        function: a module-level function.
        tells: whether a result triggers ``meanwhile``.
        meanwhile: called with the first such item while the processes continue; never called without fork.
    """
    if not can_fork():
        with _without_working_folder():
            pool = multiprocessing.get_context("spawn").Pool(jobs, _begin, (registry.used_folders(),))
        with pool as processes:
            return list(processes.map(function, items))
    found: list[_Result | None] = [None] * len(items)
    running: dict[Connection, tuple[int, _Forked]] = {}
    is_called = False
    try:
        for first in range(jobs):
            ours, theirs = multiprocessing.Pipe(duplex=False)
            running[ours] = first, _Forked(partial(_go_through, function, items[first::jobs], tells, theirs))
            theirs.close()
        while running:
            for pipe in cast(list[Connection], wait(list(running))):
                first, process = running[pipe]
                try:
                    message = pipe.recv()
                except EOFError:
                    message = None
                if isinstance(message, int):
                    if not is_called:
                        is_called = True
                        meanwhile(items[first + message * jobs])
                    continue
                if message is not None:
                    found[first::jobs] = message
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
    """Send the index of the first item whose result satisfies ``tells``, if any, and finally all results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results: list[_Result] = []
    is_sent = False
    for number, item in enumerate(items):
        results.append(function(item))
        if not is_sent and tells(results[-1]):
            pipe.send(number)
            is_sent = True
    pipe.send(results)


def _begin(folders: Sequence[str]) -> None:
    """Start a process: use the parent's rules, and leave interrupts to the parent, which ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    registry.use_folders(folders)


def _serve(pipe: Connection, folders: Sequence[str], is_tracked: bool, inherited: Sequence[Connection] = ()) -> None:
    """Check the chunks that come through ``pipe``, one result per file, until it closes.

    Each message holds the result of a file, the dependencies since the last message, and whether the memory is full.

    Args:
        folders: additional folders with rules.
        is_tracked: whether results name their dependencies.
        inherited: pipes of other processes.
    """
    for other in inherited:
        # An open copy would keep the pipes alive after the parent ends.
        other.close()
    _begin(folders)
    # Imported before the limits of the first file apply.
    import kerascheck.meaning.module  # noqa: F401

    # Hide libcst's message from users when it aborts the process.
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
            # All chunks of a process have the same ``noqa``.
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
    """A fork of this process that runs a function and ends.

    multiprocessing starts no children in its own daemonic processes, and flake8's are such.
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
                # Skip the exit handlers, which belong to the parent.
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
    """A worker process died while checking a file.

    Attributes:
        file: the file.
        rest: the chunks still to check, if any.
        error: the code and message for the reason; None if it is unknown.
    """

    def __init__(self, file: File, rest: list[Chunk], error: tuple[str, str] | None):
        super().__init__(file.path)
        self.file, self.rest, self.error = file, rest, error

    def result(self) -> FileResult:
        """The result of the file: one error."""
        code, message = self.error or (UNREADABLE, "could not be analysed: the parser ran out of stack or memory on it")
        return FileResult(self.file.path, errors=[FileError(code, Location(self.file.path, None, 1, 1, 1, 1), message)])


def _error(exitcode: int | None) -> tuple[str, str] | None:
    """The error for the file that a process was checking when it ended; None if the exit code gives no reason."""
    if exitcode is None or exitcode > 0:
        return (
            INTERNAL,
            "the process that analysed it failed; this is a fault of kerascheck: please report it with this line and the file",
        )
    return {
        TIME_SIGNAL: (UNREADABLE, TOO_SLOW),
        # libcst aborts only when it runs out of memory.
        signal.SIGABRT: (UNREADABLE, TOO_LARGE),
        signal.SIGSEGV: (UNREADABLE, TOO_DEEP),
    }.get(-exitcode)


class _Worker:
    """A process that checks files.

    Args:
        others: the running workers; a fork inherits their pipes and must close them.
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
            with _without_working_folder():
                process.start()
            self._process = process
        theirs.close()
        self._chunk: Chunk = [], True, ()
        self._done = 0
        self._is_full = False
        # Maps a dependency's number in the worker, the index, to its number here.
        self._numbers: list[int] = []

    @property
    def is_idle(self) -> bool:
        """Whether no result is pending."""
        return self._done == len(self._chunk[0])

    @property
    def is_reusable(self) -> bool:
        """Whether to give the worker more files.

        A full process would spend a fifth of its run time freeing memory; ending it is immediate, and a fork is cheap.
        """
        return not (self._is_full and isinstance(self._process, _Forked))

    def give(self, chunk: Chunk) -> None:
        """Send the worker a chunk; :meth:`take` returns the results one by one."""
        self._chunk, self._done = chunk, 0
        try:
            self.pipe.send(chunk)
        except ConnectionError:
            # The worker died before its first file; :meth:`take` reports it.
            pass

    def take(self) -> FileResult:
        """Wait for the next result; raises :class:`_Died`."""
        files, noqa, sources = self._chunk
        file = files[self._done]
        self._done += 1
        try:
            result, deps, self._is_full = self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            error = _error(self._process.exitcode)
            # Without a known reason, earlier files may be to blame: retry this one first and alone.
            again = [file] if error is None and len(files) > 1 else []
            rest: list[Chunk] = [(left, noqa, sources) for left in (files[self._done :], again) if left]
            raise _Died(file, rest, error) from None
        return self._with_own_numbers(result, deps)

    def _with_own_numbers(self, result: FileResult, deps: Iterable[dependencies.Dependency]) -> FileResult:
        """Translate the numbers of a result's dependencies to this process's numbers."""
        tracker = dependencies.current_tracker()
        if tracker is not None:
            self._numbers.extend(map(tracker.add, deps))
            if result.follows_from is not None:
                result.follows_from = [self._numbers[number] for number in result.follows_from]
        return result

    def stop(self) -> None:
        """End the process and wait for it."""
        self.kill()
        self._process.join()

    def kill(self) -> None:
        """Tell the process to end, without waiting until its memory is freed."""
        self.pipe.close()
        self._process.terminate()


class Pool:
    """Worker processes that live until the pool is closed.

    Args:
        jobs: the most processes at a time.
    """

    def __init__(self, jobs: int):
        self._jobs = jobs
        self._idle: list[_Worker] = []
        self.close = weakref.finalize(self, _stop_all, self._idle)

    def check(self, chunks: Iterable[Chunk], gather: Callable[[FileResult], None]) -> None:
        """Check files and pass each result to ``gather`` when ready; a file that crashes its worker gets an error."""
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
                        if worker.is_reusable:
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
