"""A sampling profiler in the measured process: records where Python is, about 200 times a second.

It runs in the process because ``sys._current_frames`` needs no right to trace a process. It works where py-spy cannot
attach (containers without ``SYS_PTRACE``) and also sees the threads in which tf.data runs Python functions. It sees a
thread only when the GIL is free. A C function that holds the GIL shows up once it returns, at the calling line.
"""

import collections
import functools
import os
import sys
import threading
import time

from .channel import Channel
from .frames import is_user_frame

_PERIOD_SECONDS = 0.005
_SWITCH_SECONDS = 1e-4
_LATEST = 600
_DEEPEST = 250

TRACING, INPUT, CALLBACK, EXECUTING, PYTHON = "tracing", "input", "callback", "executing", "python"
BETWEEN_EPOCHS = "between epochs"

_BY_FILE = (
    # Part of a file's path, and the activity of functions in that file.
    ("tensorflow/python/framework/func_graph.py", TRACING),
    ("tensorflow/python/eager/polymorphic_function/tracing_compilation.py", TRACING),
    ("tensorflow/python/data/ops/iterator_ops.py", INPUT),
    ("/trainers/data_adapters/", INPUT),
    ("/trainers/epoch_iterator.py", INPUT),
    ("/engine/data_adapter.py", INPUT),
    ("torch/utils/data/", INPUT),
    ("keras/src/callbacks", CALLBACK),
    ("keras/callbacks", CALLBACK),
    ("tensorflow/python/eager/execute.py", EXECUTING),
    ("tensorflow/python/eager/context.py", EXECUTING),
    ("jax/_src/pjit.py", EXECUTING),
    ("jax/_src/interpreters/pxla.py", EXECUTING),
    ("jax/_src/api.py", EXECUTING),
    (
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes", "").replace("\\", "/"),
        EXECUTING,  # the probes call the step
    ),
)
_PASSED_THROUGH = frozenset(
    {"call_function", "call_flat", "__call__", "_call", "error_handler", "fit", "enumerate_epoch"}
)
"""Functions that are on the stack of every event in a step and carry no information."""
_WAITS = (
    "/threading.py",
    "/queue.py",
    "/selectors.py",
    "/multiprocessing/",
    "/concurrent/futures/",
    "/asyncio/",
    "/socketserver.py",
)
_OF_LAUNCHERS = tuple(
    f"-packages/{name}/" for name in ("ipykernel", "IPython", "jupyter_client", "tornado", "zmq", "debugpy", "ray")
)
"""Threads of a notebook's kernel, of debuggers and of a cluster's worker do not work for the training."""
_ORDER = (BETWEEN_EPOCHS, CALLBACK, TRACING, INPUT, EXECUTING)
"""Work that a callback triggers, such as a prediction that reads data, counts as the callback's time."""


class Sampler(threading.Thread):
    """Samples every Python thread until it is stopped."""

    def __init__(self, main_thread, origins=None, innermost=False, in_step=None, seconds=None):
        """Prepare to sample this process.

        Args:
            main_thread: identity of the thread that runs the script.
            origins: see :func:`watch_autograph`.
            innermost: whether tracing counts for the traced line instead of the line that calls the function.
            in_step: returns whether the main thread is inside a step, for Python that file names cannot classify.
            seconds: after which it stops by itself, for a script that may be interrupted; None: never.
        """
        super().__init__(daemon=True, name="kerascheck-sampler")
        self._main = main_thread
        self._origins = origins if origins is not None else {}
        self._innermost = innermost
        self._in_step = in_step or (lambda: False)
        self._seconds = seconds
        self._over = threading.Event()
        self._kinds = {}
        self._users = {}
        self.looks = 0
        self.main: collections.Counter = collections.Counter()
        """Sample counts of the main thread by (kind, path, line, function, library)."""
        self.others: collections.Counter = collections.Counter()
        """Sample counts of all other threads that were not waiting, by (path, line, function, library)."""
        self.latest: collections.deque = collections.deque(maxlen=_LATEST)
        """(time, kind of the main thread) of the newest samples."""

    def run(self):
        """Sample until :meth:`stop`."""
        own = threading.get_ident()
        # A thread that releases the GIL late would be seen afterwards, such as in the loop header, not where it was.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        end = None if self._seconds is None else time.perf_counter() + self._seconds
        while not self._over.wait(_PERIOD_SECONDS) and (end is None or time.perf_counter() < end):
            self.look(own)
        sys.setswitchinterval(interval)

    def look(self, own=None):
        """Sample every thread except ``own`` once, unless the script is waiting for an order of kerascheck."""
        frames = sys._current_frames()
        # This frame holds the dictionary. A cycle would keep all frames alive until the next garbage collection, and
        # with them objects that the script has dropped, such as an iterator.
        frames.pop(threading.get_ident(), None)
        if self._main in frames and frames[self._main].f_code is Channel.wait.__code__:
            return
        self.looks += 1
        for ident, frame in frames.items():
            if ident == self._main:
                kind, place = self._look_at_main(frame)
                seen = (kind, *place)
                self.main[seen] += 1
                self.latest.append((time.perf_counter(), kind))
            elif ident != own:
                place = self._look_at_other(frame)
                if place is not None:
                    self.others[place] += 1

    def stop(self):
        """Stop sampling; the counters keep their values."""
        self._over.set()
        if self.is_alive():
            self.join(1.0)

    def _look_at_main(self, leaf):
        kinds, user, caller = set(), None, None
        for frame in self._stack(leaf):
            kind = self._kind(frame.f_code)
            kinds.add(kind)
            if kind is TRACING:
                caller = None
            if self._is_user(frame):
                user, caller = user or frame, caller or frame
        kind = next((kind for kind in _ORDER if kind in kinds), EXECUTING if self._in_step() else PYTHON)
        # Tracing is a property of the call, not of the line that is being traced.
        return kind, self._place(caller if kind is TRACING and not self._innermost else user, leaf)

    def _look_at_other(self, leaf):
        path = leaf.f_code.co_filename.replace("\\", "/")
        if any(part in path for part in (*_WAITS, *_OF_LAUNCHERS)):
            return None
        user = next((frame for frame in self._stack(leaf) if self._is_user(frame)), None)
        return (
            None
            if user is None and self._kind(leaf.f_code) is None and _package(leaf) is None
            else self._place(user, leaf)
        )

    @staticmethod
    def _stack(frame):
        for _ in range(_DEEPEST):
            if frame is None:
                return
            yield frame
            frame = frame.f_back

    def _kind(self, code):
        # Code objects from two files may be equal.
        key = code.co_filename, code.co_name
        try:
            return self._kinds[key]
        except KeyError:
            path = code.co_filename.replace("\\", "/")
            passes = code.co_name in _PASSED_THROUGH and "callbacks" not in path
            kind = (
                None
                if passes and "execute.py" not in path
                else next((kind for part, kind in _BY_FILE if part in path), None)
            )
            if kind is CALLBACK and code.co_name in ("on_epoch_begin", "on_epoch_end"):
                kind = BETWEEN_EPOCHS
            self._kinds[key] = kind
            return kind

    def _is_user(self, frame):
        path = frame.f_code.co_filename
        try:
            return self._users[path]
        except KeyError:
            answer = self._users[path] = is_user_frame(frame)
            return answer

    def _place(self, user, leaf):
        """(path, line, function, library) of the nearest frame of the script, and the library that it called into."""
        library = None if user is leaf else _package(leaf)
        if user is None:
            return None, None, leaf.f_code.co_name, library
        path, line = user.f_code.co_filename, user.f_lineno or user.f_code.co_firstlineno
        return (*self._origins.get((path, line), (path, line)), user.f_code.co_name, library)


def watch_autograph(origins, patches):
    """Record in ``origins`` the script's (path, line) for each line of code that AutoGraph generates (TensorFlow)."""
    from tensorflow.python.autograph.impl import api

    convert = api._convert_actual

    @functools.wraps(convert)
    def convert_actual(entity, context):
        converted = convert(entity, context)
        for place, origin in converted.ag_source_map.items():
            origins[place.filename, place.lineno] = (origin.loc.filename, origin.loc.lineno)
        return converted

    patches.set(api, "_convert_actual", convert_actual)


def _package(frame):
    """Installed package whose code the frame runs; None for the standard library and code without a file."""
    _, found, rest = frame.f_code.co_filename.replace("\\", "/").rpartition("-packages/")
    return rest.partition("/")[0].removesuffix(".py") if found else None
