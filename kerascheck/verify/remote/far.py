"""The other side of ``verify --on``: measures the job in a folder and tells what it found, line by line.

Runs in the environment of the script, so it uses the standard library alone. Started as ``start.py FOLDER [FILE]`` by
the archive that :mod:`kerascheck.verify.remote.pack` writes. Every message is a line of ``FILE`` (standard output
without one) that begins with :data:`MARK`, followed by a JSON object.
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
import threading
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

MARK = "@kerascheck "
_PART = 6000
"""Characters of the result per line: longer ones may be cut on their way through a cluster's logs."""
_LOOK_SECONDS = 1.0
_CLEANER = """\
import shutil, sys, time
sys.stdin.read()
for _ in range(5):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    time.sleep(1)
"""
"""Removes a folder once its standard input ends; more than once, for processes that end later may still write."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def main() -> None:
    """Measure what ``job.json`` describes; every way to end is a message."""
    folder = os.path.realpath(sys.argv[1])
    if len(sys.argv) > 2:
        sys.stdout = open(sys.argv[2], "a", encoding="utf-8", buffering=1)
    for number in _SIGNALS:
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    job = json.loads(_read(os.path.join(folder, "job.json")))
    cleaner = _cleaner(folder) if job.get("clean") else None
    project = os.path.join(folder, "project")
    try:
        if job.get("link_from"):
            link(os.path.expanduser(job["link_from"]), project)
        threading.Thread(target=_end_with, args=(os.path.join(folder, "job.json"),), daemon=True).start()
        if reason := unfit(job, project):
            say(event="refused", reason=reason)
        else:
            _measure(job, project)
    except Exception as error:  # told to the other side, which has the terminal
        say(event="refused", reason=f"{type(error).__name__}: {error}")
    finally:
        if job.get("clean"):
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            shutil.rmtree(folder, ignore_errors=True)
        if cleaner is not None and cleaner.stdin is not None:
            cleaner.kill()
            cleaner.wait()


def _cleaner(folder: str) -> subprocess.Popen[bytes]:
    """Start a process that removes ``folder`` if this one is killed, for then no ``finally`` runs.

    It leads a session of its own, since a cluster kills the whole group of a job.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CLEANER, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
        start_new_session=True,
    )


def say(**message: Any) -> None:
    """Send one message."""
    sys.stdout.write(MARK + json.dumps(message) + "\n")
    sys.stdout.flush()


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def _end_with(path: str) -> None:
    """End this process once ``path`` is gone: the other side has removed what it uploaded."""
    while os.path.exists(path):
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


def unfit(job: Mapping[str, Any], project: str) -> str | None:
    """Why the environment cannot run the script, in one line; None if it can."""
    needs = job["needs"]
    sys.path.insert(1, os.path.dirname(os.path.join(project, job["script"]["path"])))
    try:
        if not needs or any(importlib.util.find_spec(name) for name in needs):
            return None
    finally:
        del sys.path[1]
    return f"{sys.executable} has none of the packages that the script needs: {', '.join(needs)}; name another one with --python"


def link(source: str, target: str) -> None:
    """Link into ``target`` what ``source`` has and it lacks: data that git ignores, say."""
    for entry in os.scandir(source):
        path = os.path.join(target, entry.name)
        if entry.name in (".git", ".kerascheck"):
            continue
        if not os.path.lexists(path):
            os.symlink(entry.path, path)
        elif entry.is_dir(follow_symlinks=False) and os.path.isdir(path) and not os.path.islink(path):
            link(entry.path, path)


def _measure(job: Mapping[str, Any], project: str) -> None:
    from kerascheck.verify import gpu
    from kerascheck.verify.compare import Budget, Variant, compare, machine
    from kerascheck.verify.process import Script
    from kerascheck.verify.remote.plain import plain, restored

    script = restored(Script, job["script"])
    script = replace(
        script,
        path=os.path.join(project, script.path),
        sources=_there(script.sources, project),
        directory=os.path.normpath(os.path.join(project, script.directory or ".")),
        python=sys.executable,
    )
    variants = [restored(Variant, variant) for variant in job["variants"]]
    variants = [
        replace(
            v,
            sources=_there(v.sources, project),
            places=tuple((os.path.join(project, p), *rest) for p, *rest in v.places),
        )
        for v in variants
    ]
    budget = restored(Budget, job["budget"])
    if "scaling" in job:
        _measure_scaling(script, job["scaling"], budget, project)
        return
    with gpu.Sampler() as sampler:
        comparison = compare(script, variants, budget, _progress)
    watched = sampler.summary()
    gpus = (comparison.scout.end or {}).get("facts", {}).get("gpus")
    where = {**machine(), "gpu": gpus[0]} if gpus else machine()
    result = {"comparison": plain(gpu.doubted(comparison, watched, sampler.failure)), "machine": where, "gpu": watched}
    _tell(result, project)


def _measure_scaling(script: Any, command: str, budget: Any, project: str) -> None:
    from kerascheck.verify import scaling
    from kerascheck.verify.remote.plain import plain

    try:
        names = scaling.here()
    except scaling.TooFewGpus as problem:
        say(event="refused", reason=str(problem))
        return
    _tell({"scaling": plain(scaling.measure(script, names, command, budget, _progress))}, project)


def _there(sources: Mapping[str, str], project: str) -> dict[str, str]:
    return {os.path.join(project, path): text for path, text in sources.items()}


def _progress(text: str, seconds_left: float) -> None:
    say(event="progress", text=text, left=seconds_left)


def _tell(result: Mapping[str, Any], project: str) -> None:
    data = base64.b64encode(zlib.compress(json.dumps(result).encode())).decode()
    for start in range(0, len(data), _PART):
        say(event="part", data=data[start : start + _PART])
    say(event="result", project=project, length=len(data))
