"""Steps at doubled batch sizes, until memory or throughput ends."""

import contextlib
import functools
import os
import resource
import sys
import time

from . import diagnose
from .larger_batch import resizable
from .load import CpuLoad
from .replay import step_seconds

_SECONDS = 60.0  # of all sizes together
_TIMED_SECONDS = 1.0  # per size
_LONGEST_STEP = 3.0  # seconds; the parent waits at most 30 s for a size
_GAIN = 1.1  # smallest growth of examples per second over two doublings that is worth a further one
_COPIES = 4  # copies of a batch that a step needs at least: on its way to the model, its activations and gradients
_OUT_OF_MEMORY = ("resource_exhausted", "out of memory", "oom when allocating")


def install(state):
    """Add the measurement as the last diagnostic if the plan asks for it."""
    if state.run["plan"]["batch_sizes"]:
        state.recorder.late_diagnostics.append(functools.partial(_first, state))


def _first(state, leader):
    try:
        why_not = _why_not(state, leader)
        batch = None if why_not else resizable(state, leader)
    except Exception as error:  # an unusual batch
        why_not, batch = _line_of(error), None
    if batch is None:
        return {
            "batch_sizes": {"stopped": "unknown batch", "detail": why_not or "its batch cannot be told or repeated"}
        }
    epoch = _steps_per_epoch(state)
    sweep = Sweep(batch, None if epoch is None else epoch * batch.rows, Memory(state, leader))
    return _next(state, sweep, leader)


def _next(state, sweep, leader):
    """Time the next size. The parent receives each one as its own message, in case the process runs out of memory."""
    sweep.measure_next()
    if sweep.stopped is None:
        state.recorder.late_diagnostics.append(functools.partial(_next, state, sweep))
    return {"batch_sizes": sweep.found()}


def _why_not(state, leader):
    """Reason why no other batch can be fed to the training; None if one perhaps can."""
    distributed = diagnose.distribution(state, leader)
    if distributed is not None and distributed["replicas"] > 1:
        return "several replicas share its batches"
    if leader.kind not in ("fit", "function loop"):
        return "it has no compiled step that could be repeated"
    return None


def _steps_per_epoch(state):
    asked = state.clock.asked.get("steps_per_epoch") if state.clock is not None else None
    return asked or (state.epoch_lengths[0] if state.epoch_lengths else None)


class Sweep:
    """Timings of half the batch, the batch, and its doubles."""

    def __init__(self, batch, epoch_rows, memory, clock=time.perf_counter):
        """
        Args:
            batch: the :class:`Resizable` batch of the training.
            epoch_rows: rows of an epoch; None if unknown.
            memory: a :class:`Memory`.
            clock: returns seconds.
        """
        self._batch = batch
        self._epoch_rows = epoch_rows
        self._memory = memory
        self._clock = clock
        self._begun = clock()
        self._load = CpuLoad()
        self._rows = batch.rows // 2 or 1
        self._last_cost = 0.0  # seconds that the newest size took
        self.timings = []  # dictionaries, see SizeTiming (kerascheck/runtime/verify/batch_sizes.py)
        self.stopped = self.detail = None

    def found(self):
        """The fact for the parent."""
        return {
            "own": self._batch.rows,
            "timings": self.timings,
            "stopped": self.stopped,
            "detail": self.detail,
            "other_load": self._load.of_others(),
            "on_gpu": self._memory.on_gpu,
        }

    def measure_next(self):
        """Time the next size, and decide whether another one follows."""
        start = self._clock()
        self._memory.begin()
        try:
            (seconds,) = step_seconds(self._batch.step(self._rows), warm_up=2, timed_seconds=_TIMED_SECONDS)
        except Exception as error:
            self.stopped = "out of memory" if is_out_of_memory(error) else "failed"
            self.detail = None if self.stopped == "out of memory" else f"{self._rows} rows: {_line_of(error)}"
            return
        self.timings.append({"rows": self._rows, "seconds": seconds, "peak_bytes": self._memory.peak()})
        self._last_cost = self._clock() - start
        is_half = self._rows < self._batch.rows
        # The own batch follows half of it, even if that is odd.
        following = self._batch.rows if is_half else self._rows * 2
        # The script runs its own size anyway.
        self.stopped = None if is_half else self._why_stop(following)
        self._rows = following

    def _why_stop(self, following):
        rates = [each["rows"] / each["seconds"] for each in self.timings]
        if len(rates) > 2 and max(rates[-2:]) < _GAIN * max(rates[:-2]):
            return "no gain"
        if self._epoch_rows is not None and following > self._epoch_rows:
            return "epoch"
        size = self._batch.size * following // self._batch.rows
        if not self._memory.has_room(following / self._rows, _COPIES * size):
            return "half of memory"
        if self._clock() - self._begun + self._last_cost > _SECONDS or 2 * self.timings[-1]["seconds"] > _LONGEST_STEP:
            return "time"
        return None


def is_out_of_memory(error):
    """Whether an exception of any framework says that the memory of the host or of the GPU is used up."""
    text = f"{type(error).__name__} {error}".lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in (*_OUT_OF_MEMORY, "resourceexhausted"))


def _line_of(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


class Memory:
    """Memory of the process, and peak memory of the GPU that computes its steps."""

    def __init__(self, state, leader):
        backend = leader.framework or state.recorder.facts.get("backend") or "tensorflow"
        self._gpu = _gpu_memory(backend.partition(" ")[0]) if diagnose.accelerators(state, backend) else None
        self.on_gpu = self._gpu is not None
        self._available = available_bytes()
        self.begin()
        self._base = self._peak_of_host()
        self._highest = self._gpu[1]() if self._gpu is not None else 0

    def begin(self):
        """Forget earlier peaks."""
        if self._gpu is not None:
            self._gpu[0]()
        # The kernel then measures VmHWM from now on (proc_pid_clear_refs(5)).
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
            file.write("5")

    def peak(self):
        """Peak bytes since :meth:`begin`; None if an earlier peak hides them."""
        peak = self._peak_of_host() if self._gpu is None else self._gpu[1]()
        if peak <= self._highest and self._gpu is not None and self._gpu[2]:
            return None
        self._highest = max(self._highest, peak)
        return peak

    def has_room(self, times, least):
        """Whether a step that grows ``times`` the memory of the last one fits into half of the host's free memory.

        ``least``: bytes that the next step needs in any case.
        """
        growth = max(times * (self._peak_of_host() - self._base), least)
        return self._available is None or growth <= self._available / 2

    def _peak_of_host(self):
        with contextlib.suppress(OSError, ValueError), open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _gpu_memory(backend):
    """(function that forgets peaks, function that returns the peak bytes, whether peaks cannot be forgotten)."""
    if backend == "jax":
        device = sys.modules["jax"].local_devices()[0]
        return (
            (lambda: None, lambda: device.memory_stats()["peak_bytes_in_use"], True) if device.memory_stats() else None
        )
    if backend == "torch":
        cuda = sys.modules["torch"].cuda
        return cuda.reset_peak_memory_stats, cuda.max_memory_allocated, False
    config = sys.modules["tensorflow"].config.experimental
    reset, info = config.reset_memory_stats, config.get_memory_info
    return functools.partial(reset, "GPU:0"), lambda: info("GPU:0")["peak"], False


def available_bytes():
    """Bytes that the machine, or the control group around this process, has left; None if unknown."""
    found = []
    with contextlib.suppress(OSError, StopIteration), open("/proc/meminfo", encoding="ascii") as file:
        found.append(next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")))
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max"
            numbers = [int(open(os.path.join(folder, name)).read()) for name in (limit, used)]  # noqa: SIM115
            found.append(max(0, numbers[0] - numbers[1]))
    return min(found, default=None)
