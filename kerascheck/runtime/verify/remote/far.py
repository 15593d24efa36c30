"""The remote side of ``verify --on``: measures the job in a folder and reports the results line by line.

It runs in the script's environment, so it uses only the standard library. The archive of
:mod:`kerascheck.runtime.verify.remote.pack` starts it as ``start.py FOLDER [FILE]``. It sends the messages of
:mod:`kerascheck.runtime.verify.remote.messages` as lines of ``FILE``, or of standard output without one.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kerascheck.runtime.plain import plain, restored
from kerascheck.runtime.verify.remote.messages import (
    Answer,
    Ended,
    Job,
    Message,
    Progressed,
    Refusal,
    ResultEnd,
    ResultPart,
    Started,
    encode,
)

if TYPE_CHECKING:
    from kerascheck.runtime.verify.budget import Budget
    from kerascheck.runtime.verify.process import Script
    from kerascheck.runtime.verify.scaling import Scaling

_PART = 6000
"""Maximum characters of the result per line; a cluster's logs may cut longer lines."""
_LOOK_SECONDS = 1.0
_SESSION = "KERASCHECK_SESSION"
"""Environment variable that marks all processes of a run, to find those that outlive it."""
_GUARD = """\
import os, shutil, signal, sys, time
sys.stdin.read()
mark, messages, *folders = sys.argv[1:]
if messages:
    with open(messages, "a") as stream:
        stream.write('@kerascheck {"event": "ended", "how": "the run was killed (out of memory?)"}\\n')
for _ in range(5):
    for name in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                if mark.encode() in stream.read().split(b"\\0"):
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    time.sleep(1)
"""
"""Program that cleans up when its standard input ends: ends the processes of a run and removes its folders.

It reports that in the file of messages. It cleans up repeatedly, because a process may write until it is gone.
"""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def main() -> None:
    """Measure the job in ``job.json``. Every kind of end sends a message."""
    folder = os.path.realpath(sys.argv[1])
    if len(sys.argv) > 2:
        sys.stdout = open(sys.argv[2], "a", encoding="utf-8", buffering=1)
    for number in _SIGNALS:
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    job: Job = restored(Job, json.loads(_read(os.path.join(folder, "job.json"))), "the job")
    say(Started())
    lease = Lease(folder, job)
    scratch: str | None = None
    guard: subprocess.Popen[bytes] | None = None
    try:
        scratch = tempfile.tempdir = tempfile.mkdtemp(prefix="kc-")
        guard = _guard([scratch, folder] if lease.owns_folder else [scratch])
        threading.Thread(target=lease.watch, daemon=True).start()
        _answer(job, os.path.join(folder, "project"))
    except SystemExit as stopped:
        if lease.is_held:
            with suppress(OSError):  # nobody listens
                say(Ended(f"the run was ended by {signal.Signals(int(stopped.code or 0) - 128).name}"))
        raise
    except Exception as error:  # reported to the local side, which has the terminal
        say(Refusal(f"{type(error).__name__}: {error}"))
    finally:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if lease.owns_folder:
            _remove(folder)
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        if guard is not None:
            guard.kill()
            guard.wait()


class Lease:
    """Condition under which this run continues, and whether it removes the upload.

    The local side removes the upload when it ends the run. If it is killed it cannot, so :attr:`Job.lease` names
    something that ends with it.
    """

    def __init__(self, folder: str, job: Job) -> None:
        self._folder = folder
        self._lease = job.lease
        self.owns_folder = job.clean
        """Whether this side removes the upload."""
        self.is_held = True
        """False once nobody waits for the result."""

    def watch(self) -> None:
        """Wait until nobody waits for the result, then end this process."""
        if self._lease == "stdin":
            os.read(0, 1)
            with suppress(OSError):  # nobody listens
                say(Ended("the run lost the process that started it and ended"))
        else:
            self._watch_files()
        self.is_held = False
        os.kill(os.getpid(), signal.SIGTERM)

    def _watch_files(self) -> None:
        renewed, since = None, time.monotonic()
        while os.path.exists(os.path.join(self._folder, "job.json")):
            with suppress(OSError):
                stamp = os.stat(os.path.join(self._folder, "lease")).st_mtime_ns
                # Compare the stamp only with itself, because the clocks of two machines differ.
                renewed, since = (renewed, since) if stamp == renewed else (stamp, time.monotonic())
            if isinstance(self._lease, float) and time.monotonic() - since > self._lease:
                self.owns_folder = True
                return
            time.sleep(_LOOK_SECONDS)


def _guard(folders: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process that cleans up if this one is killed, since no ``finally`` block runs then.

    It has its own session, because a cluster kills the whole process group of a job.
    """
    mark, messages = uuid.uuid4().hex, sys.argv[2] if len(sys.argv) > 2 else ""
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _GUARD, f"{_SESSION}={mark}", messages, *folders],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
        start_new_session=True,
    )
    os.environ[_SESSION] = mark
    return guard


def _remove(folder: str) -> None:
    """Remove the upload, and the empty folders of the project's ``.kerascheck/slurm`` around it."""
    shutil.rmtree(folder, ignore_errors=True)
    base = os.path.dirname(folder)
    if base.endswith(os.path.join(".kerascheck", "slurm")):
        for empty in (base, os.path.dirname(base)):
            with suppress(OSError):  # another job is there, or evidence
                os.rmdir(empty)


def _answer(job: Job, project: str) -> None:
    if job.link_from:
        try:
            link(os.path.expanduser(job.link_from), project)
        except OSError as problem:
            name = problem.filename or job.link_from
            say(Refusal(f"{name} there cannot be linked into the project: {problem.strerror}"))
            return
    if reason := unfit(job, project):
        say(Refusal(reason))
    else:
        _measure(job, project)


def say(message: Message) -> None:
    """Send one message."""
    sys.stdout.write(encode(message) + "\n")
    sys.stdout.flush()


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def unfit(job: Job, project: str) -> str | None:
    """Reason why the environment cannot run the script, in one line; None if it can."""
    sys.path.insert(1, os.path.dirname(os.path.join(project, job.script.path)))
    try:
        if not job.needs or any(importlib.util.find_spec(name) for name in job.needs):
            return None
    finally:
        del sys.path[1]
    return f"{sys.executable} has none of the packages that the script needs: {', '.join(job.needs)}; name another one with --python"


def link(source: str, target: str) -> None:
    """Link entries of ``source`` into ``target`` that are missing there, such as data that git ignores."""
    for entry in os.scandir(source):
        path = os.path.join(target, entry.name)
        if entry.name in (".git", ".kerascheck"):
            continue
        if not os.path.lexists(path):
            os.symlink(entry.path, path)
        elif entry.is_dir(follow_symlinks=False) and os.path.isdir(path) and not os.path.islink(path):
            link(entry.path, path)


def _measure(job: Job, project: str) -> None:
    from kerascheck.runtime.verify import gpu
    from kerascheck.runtime.verify.compare import compare
    from kerascheck.runtime.verify.machine_class import machine

    script = replace(
        job.script,
        path=os.path.join(project, job.script.path),
        sources=_there(job.script.sources, project),
        directory=os.path.normpath(os.path.join(project, job.script.directory or ".")),
        python=sys.executable,
    )
    variants = [
        replace(
            v,
            sources=_there(v.sources, project),
            places=tuple((os.path.join(project, path), first, last) for path, first, last in v.places),
        )
        for v in job.variants
    ]
    if job.scaling is not None:
        _measure_scaling(script, job.scaling, job.budget, project)
        return
    with gpu.Sampler() as sampler:
        comparison = compare(script, variants, job.budget, _progress)
    watched = sampler.summary()
    gpus = comparison.scout.facts.gpus
    where = replace(machine(), gpu=gpus[0]) if gpus else machine()
    _tell(Answer(gpu.doubted(comparison, watched, sampler.failure), where, watched), project)


def _measure_scaling(script: Script, command: str, budget: Budget, project: str) -> None:
    from kerascheck.runtime.verify import scaling

    try:
        names = scaling.here()
    except scaling.TooFewGpus as problem:
        say(Refusal(str(problem)))
        return
    _tell(scaling.measure(script, names, command, budget, _progress), project)


def _there(sources: Mapping[str, str], project: str) -> dict[str, str]:
    return {os.path.join(project, path): text for path, text in sources.items()}


def _progress(text: str, seconds_left: float) -> None:
    say(Progressed(text, seconds_left))


def _tell(result: Answer | Scaling, project: str) -> None:
    data = base64.b64encode(zlib.compress(json.dumps(plain(result)).encode())).decode()
    for start in range(0, len(data), _PART):
        say(ResultPart(data[start : start + _PART]))
    say(ResultEnd(project, len(data)))
