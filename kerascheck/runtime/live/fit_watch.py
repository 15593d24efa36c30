"""Watches the steps of one call of ``fit`` from its callbacks and its compiled step."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kerascheck.runtime.live import feeding
from kerascheck.runtime.live.fit_frame import FitFrame
from kerascheck.runtime.live.schedule import Mode, Schedule
from kerascheck.runtime.verify.child import dataset_places, diagnose
from kerascheck.runtime.verify.child.frames import user_stack
from kerascheck.runtime.verify.child.load import CpuLoad
from kerascheck.runtime.verify.child.patches import Patches
from kerascheck.runtime.verify.child.sampler import Sampler

if TYPE_CHECKING:
    from kerascheck.runtime.live.profiled_steps import ProfiledSteps

_WARM_UP_STEPS = 3
_LONGEST_SLICE = 30.0
"""Seconds after which a profiler stops by itself: an interrupted ``fit`` does not end its slice."""
_ATTACHED: weakref.WeakKeyDictionary[Any, FitWatch] = weakref.WeakKeyDictionary()
"""The watch of each model. An interrupted ``fit`` leaves its wrappers, which the next watch removes."""


@dataclass(slots=True)
class EpochTimes:
    """An epoch of the watched ``fit``."""

    steps: int = 0
    validation: float | None = None
    """Seconds of its validation; None if it had none."""
    callbacks: float = 0.0
    """Seconds of callbacks at its start and end."""


@dataclass(slots=True)
class Seen:
    """What the watch learned about the training besides times."""

    stack: Sequence[Sequence[Any]] = ()
    """[path, line, first line of the function or 0] of the script's frames, innermost first."""
    chain: list[dict[str, Any]] = field(default_factory=list)
    element_spec: list[Any] | None = None
    nodes: list[dict[str, Any]] = field(default_factory=list)
    rows: int | None = None


class FitWatch:
    """Measures one call of ``fit`` from inside, until it has enough steps.

    It wraps ``train_function`` of the model and four methods of the ``CallbackList``, all of them on these instances.
    :meth:`detach` removes the wrappers; steps after that run as if they had never been there.

    Args:
        model: the model that trains.
        frame: the call of ``fit``.
        backend: of Keras: "tensorflow", "jax" or "torch".
        splits: whether batches may be read apart from the step, see :func:`feeding.call_split`.
        is_quiet: whether no work of kerascheck runs beside the training, such as the linter. Steps before that count only
            if too few follow.
    """

    def __init__(
        self, model: Any, frame: FitFrame, backend: str, *, splits: bool, is_quiet: Callable[[], bool]
    ) -> None:
        self._reference = weakref.ref(model)
        self.frame = frame
        self.backend = backend
        self._early: Schedule | None = None
        """Measurements beside other work."""
        self._schedule: Schedule | None = None
        self.seen = Seen()
        self.epochs: list[EpochTimes] = []
        self.samplers: list[Sampler] = []
        """One for each slice of sampled steps."""
        self.load = CpuLoad()
        self.moments: list[float] = []
        """Ends of the sampled steps, on the clock of ``time.perf_counter``."""
        self.traced_steps = 0
        """Timed steps that traced a graph."""
        self.tracing_seconds = 0.0
        """Seconds of these steps beyond the usual time."""
        self._traces = 0
        self._functions: tuple[Any, list[Any]] | None = None
        self.start_seconds: float | None = None
        """From :meth:`attach` to the end of the first step."""
        self.on_step: Callable[[], None] = lambda: None
        self.on_epoch: Callable[[], None] = lambda: None
        self.on_fault: Callable[[Exception], None] = lambda problem: None
        """Called after an error in the measurement, which must not end the training."""
        self.epoch_is_over = False
        """Whether the newest epoch has ended."""
        self.unsplit = ""
        """Why batches are not read apart from the step; empty if they are."""
        self.is_done = False
        """Whether all modes have enough steps."""
        self.profiled: ProfiledSteps | None = None
        """Records some steps after the measurement."""
        self._thread = threading.get_ident()
        self._splits, self._is_quiet = splits, is_quiet
        self._on_step, self._on_callbacks = Patches(), Patches()
        self._steps = 0
        self._starts_epoch = True
        self._began = time.perf_counter()
        self._last = self._began
        self._call = self._fetch = self._callbacks = 0.0
        self._call_began = 0.0
        self._validation_began: float | None = None
        self._iterator: weakref.ref[Any] | None = None

    @property
    def schedule(self) -> Schedule | None:
        """The measured steps; None before the end of the warm-up."""
        if self._early is not None and self._schedule is not None and not self._schedule.is_usable:
            return self._early
        return self._schedule

    # Wrapping ---------------------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Wrap the model's step and the methods of the ``CallbackList``."""
        model = self._reference()
        if (previous := _ATTACHED.pop(model, None)) is not None:
            previous.detach()
        _ATTACHED[model] = self
        self.seen.stack = user_stack()
        self._wrap(self._on_step, model, "train_function", self._train)
        for name, wrapper in (
            ("on_train_batch_begin", self._batch_begins),
            ("on_train_batch_end", self._batch_ends),
            ("on_epoch_begin", self._epoch_begins),
            ("on_epoch_end", self._epoch_ends),
            ("on_test_begin", self._test_begins),
            ("on_test_end", self._test_ends),
        ):
            self._wrap(self._on_callbacks, self.frame.callbacks, name, wrapper)

    def detach(self) -> None:
        """Remove all wrappers and stop the profiler; may be called again."""
        for sampler in self.samplers:
            sampler.stop()
        if self.profiled is not None:
            self.profiled.close()
        self._on_callbacks.undo()
        self._on_step.undo()

    @staticmethod
    def _wrap(patches: Patches, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        original = getattr(owner, name)
        patches.set(owner, name, lambda *args, **kwargs: wrapper(original, *args, **kwargs))

    # Steps ------------------------------------------------------------------------------------------------------

    @property
    def awaits_profile(self) -> bool:
        """Whether the steps to profile have not ended yet."""
        return self.profiled is not None and not (self.is_done and self.profiled.is_over)

    @property
    def _mode(self) -> Mode | None:
        """Mode of the current step; None outside of the measurement."""
        return None if self._schedule is None or self.is_done else self._schedule.mode

    @property
    def _steps_per_call(self) -> int:
        value = getattr(self._reference(), "steps_per_execution", 1)
        return int(value.numpy() if hasattr(value, "numpy") else value or 1)  # a variable in Keras 2

    def _batch_begins(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        start = time.perf_counter()
        if self.backend == "torch":  # Keras reads the batch before it calls the callbacks
            self._fetch += start - self._last
        original(*args, **kwargs)
        self._callbacks += time.perf_counter() - start

    def _train(self, original: Callable[..., Any], *args: Any) -> Any:
        mode = self._mode
        start = self._call_began = time.perf_counter()
        if mode is Mode.SPLIT and self.backend == "tensorflow":
            result, self._fetch, self._call_began, batch = feeding.call_split(original, args[0], self._steps_per_call)
            self._note_rows(feeding.rows_of(batch))
        elif mode is not None and self.backend == "jax":
            timed = feeding.TimedIterator(args[-1])
            result = original(*args[:-1], timed)
            self._fetch = timed.seconds
            self._note_rows(timed.rows)
        else:
            result = original(*args)
        self._call = time.perf_counter() - start
        if args:
            self._note_batches(args[-1])
        return result

    def _note_batches(self, source: Any) -> None:
        """Remember the iterator of TensorFlow, or the rows of a batch of PyTorch."""
        if self.backend == "torch":
            self._note_rows(feeding.rows_of(source))
        elif self._iterator is None or self._iterator() is not source:
            with contextlib.suppress(TypeError):  # generators of Keras cannot be referenced weakly on old Pythons
                self._iterator = weakref.ref(source)

    def _note_rows(self, rows: int | None) -> None:
        """Keep the largest number of rows: the last batch of an epoch has fewer."""
        if rows is not None:
            self.seen.rows = max(rows, self.seen.rows or 0)

    def _batch_ends(self, original: Callable[..., Any], batch: int, logs: Any = None, **kwargs: Any) -> None:
        waits = self._mode in (Mode.SPLIT, Mode.SAMPLED)
        if waits:
            feeding.wait_for(self.backend, logs)
            self._call = time.perf_counter() - self._call_began
            if self.backend == "jax":
                self._call -= self._fetch
        start = time.perf_counter()
        original(batch, logs, **kwargs)
        now = time.perf_counter()
        self._callbacks += now - start
        try:
            self._step_ended(now, logs)
        except Exception as problem:
            self.detach()
            self.on_fault(problem)
        self.on_step()
        # What runs here, such as the report, is no part of a step.
        self._last = time.perf_counter()

    def _step_ended(self, now: float, logs: Any) -> None:
        self._steps += 1
        if self.epochs:
            self.epochs[-1].steps += self._steps_per_call
        if self._steps == 1:
            self.start_seconds = now - self._began
        if self.is_done:
            if self.profiled is not None and not self.profiled.is_over:
                self.profiled.step_ended(logs)
        elif self._schedule is not None:
            self._measured(self._schedule, now)
        elif self._steps >= _WARM_UP_STEPS:
            self._start_measuring()
        self._call = self._fetch = self._callbacks = 0.0
        self._starts_epoch = False

    def _start_measuring(self) -> None:
        iterator = self._iterator() if self._iterator is not None else None
        by_hand = self.backend == "tensorflow"
        can_split = self._splits and (not by_hand or feeding.can_split(iterator))
        if not can_split:
            self.unsplit = "a distribution strategy holds its batches" if self._splits else "replay=False"
        self._schedule = Schedule(can_split=can_split)
        if not self._is_quiet():
            self._early = self._schedule
        self.load = CpuLoad()
        self._traces = self._count_traces()
        self._note_dataset(iterator)

    def _measured(self, schedule: Schedule, now: float) -> None:
        before = schedule.mode
        schedule.step_ended(now - self._last, self._call, self._fetch, self._callbacks, counts=not self._starts_epoch)
        if before is Mode.SAMPLED:
            self.moments.append(now)
        mode = schedule.next_mode()
        if self._early is schedule and self._is_quiet():
            schedule, mode = self._start_again(schedule), Mode.TIMED
        if mode is before:
            return
        if before is Mode.SAMPLED:
            self.samplers[-1].stop()
        if mode is Mode.SAMPLED:
            self.samplers.append(Sampler(self._thread, {}, seconds=_LONGEST_SLICE))
            self.samplers[-1].start()
        self._note_nodes()
        if mode is None:
            self._finish()

    def _start_again(self, early: Schedule) -> Schedule:
        """Measure anew without other work; ``early`` counts if the training ends too soon."""
        self._schedule = Schedule(can_split=early.can_split)
        self.load = CpuLoad()
        return self._schedule

    def _finish(self) -> None:
        """End the measurement of steps; the times of epochs are still taken."""
        self.is_done = True
        self._on_step.undo()
        if self.profiled is not None:
            self.profiled.begin()

    # Epochs -----------------------------------------------------------------------------------------------------

    def _epoch_begins(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.epochs.append(EpochTimes())
        self.epoch_is_over = False
        start = time.perf_counter()
        original(*args, **kwargs)
        self._last = time.perf_counter()
        self.epochs[-1].callbacks += self._last - start
        self._starts_epoch = True

    def _epoch_ends(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        start = time.perf_counter()
        original(*args, **kwargs)
        if self.epochs:
            self.epochs[-1].callbacks += time.perf_counter() - start
        self.epoch_is_over = True
        self.on_epoch()

    def _test_begins(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self._validation_began = time.perf_counter()
        original(*args, **kwargs)

    def _test_ends(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        if self.epochs and self._validation_began is not None:
            self.epochs[-1].validation = time.perf_counter() - self._validation_began
        self._validation_began = None

    # What TensorFlow knows --------------------------------------------------------------------------------------

    def _note_dataset(self, iterator: Any) -> None:
        dataset = getattr(iterator, "_dataset", None)
        if dataset is None or "tensorflow" not in sys.modules:
            return
        with contextlib.suppress(Exception):  # unusual dataset: its stages stay unknown
            self.seen.chain = diagnose.chain(dataset, dataset_places.IN_THIS_PROCESS)
            self.seen.element_spec = diagnose.flat_spec(iterator.element_spec)

    def _note_nodes(self) -> None:
        """Read TensorFlow's own times of the pipeline's stages; the longest pass counts."""
        iterator = self._iterator() if self._iterator is not None else None
        if iterator is None or self.backend != "tensorflow":
            return
        with contextlib.suppress(Exception):  # without a performance model: unknown
            nodes = diagnose.nodes_of(iterator)
            if len(nodes) > 1 and (not self.seen.nodes or nodes[1]["elements"] >= self.seen.nodes[1]["elements"]):
                self.seen.nodes = nodes

    def _count_traces(self) -> int:
        """Number of graphs that the step has traced so far; 0 if it is not TensorFlow's."""
        return sum(int(function.experimental_get_tracing_count()) for function in self.functions)

    @property
    def functions(self) -> list[Any]:
        """The functions of TensorFlow that make up the step."""
        step = getattr(self._reference(), "train_function", None)
        if self._functions is None or self._functions[0] is not step:
            self._functions = step, _functions_of(step)
        return self._functions[1]


def _functions_of(step: Any) -> list[Any]:
    """The functions of TensorFlow that a Python function calls, found through its closures."""
    pending, seen, found = [step], set(), []
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if hasattr(current, "experimental_get_tracing_count"):
            found.append(current)
            continue
        pending += filter(callable, map(_content, getattr(current, "__closure__", None) or ()))
    return found


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
