"""Start of the programs in test_loop_watch.py: runs cells with and without a watch, and prints JSON at the end."""

import atexit
import hashlib
import json
import logging
import os
import random
import sys
import threading
import time
from dataclasses import replace

import numpy as np

from kerascheck.runtime.live import loop_watch
from kerascheck.runtime.live.places import on_disk
from kerascheck.runtime.verify.child.patches import Patches

loop_watch._PLAN = replace(loop_watch._PLAN, warmup_seconds=0.2, block_seconds=0.5)
FOUND = {}
"""Results of the program, by name."""
OWNERS = {}
"""The patched classes and modules, with their variables before."""
atexit.register(lambda: print("\nFOUND " + json.dumps(FOUND)))
_set = Patches.set


def _noting(self, owner, name, value):
    OWNERS.setdefault(id(owner), (owner, dict(vars(owner))))
    _set(self, owner, name, value)


Patches.set = _noting


def around():
    """Everything besides attributes that a watch might leave."""
    jax_log = logging.getLogger("jax._src.interpreters.pxla")
    monitoring = sys.modules.get("jax._src.monitoring")
    return [
        [thread.name for thread in threading.enumerate()],
        [type(finder).__name__ for finder in sys.meta_path if "kerascheck" in type(finder).__module__],
        [jax_log.level, len(jax_log.filters)],
        len(monitoring._event_duration_secs_listeners) if monitoring else 0,
        sys.getswitchinterval(),
    ]


def changed():
    """Attributes of patched owners that are not the objects that they were."""
    return [
        f"{owner}.{name}"
        for owner, before in OWNERS.values()
        for name in {**before, **vars(owner)}
        if vars(owner).get(name) is not before.get(name) and name != "__annotations__"  # made when it is read
    ]


def watched(name, cell, *arguments, error=None):
    """Run ``cell`` in a watch, and keep what the watch says."""
    before = around()
    result = raised = None
    try:
        with loop_watch.LoopWatch() as watch:
            result = cell(*arguments)
    except BaseException as problem:
        raised = type(problem).__name__
    with open(sys.argv[0], encoding="utf-8") as stream:
        step = watch.account({os.path.abspath(sys.argv[0]): stream.read()}, on_disk)
    FOUND[name] = {
        "raised": raised,
        "failure": watch.failure,
        "stays": watch.stays_changed,
        "around": around() == before or [before, around()],
        "changed": changed(),
        "owners": len(OWNERS),
        "step": step and described(step),
    }
    return result


def described(step):
    """A step as JSON."""
    return {
        "kind": step.kind,
        "seconds": step.seconds,
        "shares": {part.value: step.share(part) for part in step.ranked},
        "line": step.place and step.place[1],
        "rows": step.batch_size,
        "backend": step.backend,
        "lines": sorted(
            ([line.line, round(line.share, 3)] for lines in step.main_lines.values() for line in lines),
            key=lambda each: -each[1],
        ),
        "input_lines": [[line.line, round(line.share, 3)] for line in step.input_lines],
        "stages": [[stage.name, stage.place and stage.place[1]] for stage in step.stages],
        "traces": step.new_traces,
    }


def digest(arrays):
    """A fingerprint of weights and of the next random numbers."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return [found.hexdigest(), random.random(), float(np.random.rand())]


def seconds_of(function, times):
    """Median seconds of a call."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[times // 2]
