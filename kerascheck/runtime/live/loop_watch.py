"""Watches a hand-written training loop in the process of a notebook, and leaves nothing behind."""

from __future__ import annotations

import gc
import inspect
import itertools
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from kerascheck.runtime.live import code as _code  # noqa: F401 - tells the frames of kerascheck from those of the user
from kerascheck.runtime.live import places, references
from kerascheck.runtime.live.account import used_lines
from kerascheck.runtime.live.places import Translate
from kerascheck.runtime.plain import plain
from kerascheck.runtime.verify.child import dataset_places, probes
from kerascheck.runtime.verify.child.frames import is_user_code, user_modules
from kerascheck.runtime.verify.child.patches import Patches
from kerascheck.runtime.verify.child.recorder import Recorder
from kerascheck.runtime.verify.messages import BlockTiming, TrainingReport, parse
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import FEWEST_STEPS, SCOUT
from kerascheck.runtime.why.breakdown import step_of
from kerascheck.runtime.why.step import Step

_PLAN = replace(SCOUT, parts=True, passive=True, warmup_seconds=0.5, block_seconds=2.0, weak_after=3.0)
_JOIN_SECONDS = 5.0  # maximum for a thread to end
_active: LoopWatch | None = None
"""Only one watch may patch the frameworks at a time."""


class LoopWatch:
    """Measures the hand-written training loop that runs inside its ``with`` block.

    Forms: loops whose step is a ``tf.function``, eager loops with an optimizer, loops of ``train_on_batch``, jitted JAX
    steps, and PyTorch loops. ``fit`` is none of them. Of several loops, the first one that is long enough is measured:
    after a warm-up, 2 s of undisturbed steps, then 2 s under a sampling profiler. After that, or at the end of the
    block, everything that was patched is restored.

    The results of the training stay the same, bit for bit.

    >>> with LoopWatch() as watch:  # doctest: +SKIP
    ...     for batch in dataset:
    ...         train_step(batch)
    """

    def __init__(self) -> None:
        self.failure: str | None = None
        """Reason why there is no account, for display; None also if no training loop ran."""
        self.stays_changed: list[str] = []
        """Changes that could not be reverted, for display."""
        self._messages: list[dict[str, Any]] = []
        self._patches = Patches()
        self._recorder = Recorder(plain(_PLAN), self)
        self._recorder.on_end = self._end_measurement
        self._state: Any = None

    def send(self, **message: Any) -> None:
        """Take a message of the recorder, which uses this watch as its channel."""
        self._messages.append(message)

    def __enter__(self) -> LoopWatch:
        global _active
        if _active is not None:
            self.failure = "another measurement is active in this process"
            return self
        _active = self
        run = {"plan": plain(_PLAN), "seed": None, "ceiling": None, "scratch": ""}
        try:
            self._state = probes.install(run, self._recorder, self._patches)
            # Cells before this one may have created the datasets.
            self._state.dataset_places = dataset_places.IN_THIS_PROCESS
        except BaseException:  # also an interrupt of the user
            _without_interrupts(self._close)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if _active is self and _without_interrupts(self._close) and error is None:
            raise KeyboardInterrupt

    # The end ----------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        """Restore everything; may be called again after an interrupt."""
        global _active
        if not self._recorder.disabled:
            self._recorder.finish(reason="end", detail="")
        self._recorder.disabled = True  # ends the thread that polls
        self._end_measurement()
        self.stays_changed = [*self._patches.remaining, *_left_by(self._state, self._patches)]
        self.failure = self._why_none()
        self._state = None
        _active = None

    def _end_measurement(self) -> None:
        """Stop the profiler and restore the frameworks."""
        if self._state is not None and self._state.parts.sampler is not None:
            self._state.parts.sampler.stop()
        self._patches.undo()

    def _why_none(self) -> str | None:
        if self._recorder.failure is not None:
            return f"a probe failed, which is a fault of kerascheck: {self._recorder.failure}"
        leader = self._recorder.leader()
        if leader is not None:
            few = leader.steps < FEWEST_STEPS
            return f"the training loop made too few steps to measure: {leader.steps}" if few else None
        unseen = {*self._state.unknown_functions, *_hidden_functions()} if self._state is not None else ()
        if not unseen:
            return None
        return (
            f"no training step was seen. Calls of {', '.join(sorted(unseen))} cannot be seen, because jax.jit ran "
            "before this cell: move it to the cell of the loop"
        )

    # The account ------------------------------------------------------------------------------------------------

    def account(self, sources: Mapping[str, str], translate: Translate, *, alone: bool = True) -> Step | None:
        """Break down a step of the loop; call it after the ``with`` block.

        Args:
            sources: texts of the code, by absolute path.
            translate: maps places of code objects to places in ``sources``.
            alone: whether this code trains only once.

        Returns:
            None if no training loop ran, or if :attr:`failure` says why it was not measured.
        """
        if self.failure is not None or self._recorder.leader() is None:
            return None
        run = Run()
        for content in self._messages:
            message = parse(json.dumps(_translated(content, translate), default=str))
            if isinstance(message, BlockTiming):
                run.blocks.append(message)
            elif isinstance(message, TrainingReport):
                run.end = message
        used = used_lines(sources, run.report.stack, run.facts, alone)
        # The time before the first step depends on the other code of the cell.
        return replace(step_of(run, used), first_step_seconds=None)


def _translated(message: Mapping[str, Any], translate: Translate) -> dict[str, Any]:
    """A message of the recorder with places in the sources."""
    found = dict(message)
    if "stack" in found:
        found["stack"] = places.stack(found["stack"], translate)
    if "data_places" in found:
        found["data_places"] = [places.span(each, translate) for each in found["data_places"]]
    if "facts" not in found:
        return found
    facts = found["facts"] = dict(found["facts"])
    facts["chain"] = [places.stage(stage, translate) for stage in facts["chain"]]
    samples = facts["samples"]
    facts["samples"] = places.samples(samples["total"], samples["main"], samples["others"], translate)
    if facts.get("compiled"):
        compiled = facts["compiled"]["places"]
        facts["compiled"] = {
            **facts["compiled"],
            "places": {name: places.place(path, line, translate) for name, (path, line) in compiled.items()},
        }
    if "visible_devices" in facts:
        value, path, line = facts["visible_devices"]
        facts["visible_devices"] = [value, *places.place(path, line, translate)]
    return found


def _left_by(state: Any, patches: Patches) -> list[str]:
    """Wait for the threads and remove the wrappers; returns what could not be removed, for display."""
    if state is None:
        return []
    left = []
    for thread in (state.parts.sampler, state.poller):
        if thread is not None and thread.is_alive():
            thread.join(_JOIN_SECONDS)
            if thread.is_alive():
                left.append(f"the thread {thread.name} has not ended yet")
    wrappers = itertools.chain(patches.in_use(), ((each, vars(each)["__wrapped__"]) for each in state.wrappers))
    for name in references.unwrap(wrappers, map(vars, user_modules())):
        left.append(f"{name} keeps a wrapper of kerascheck, which only passes its calls on")
    state.release()
    return left


def _hidden_functions() -> set[str]:
    """Names of the user's jitted functions that are in no variable of a module, where the probes find them."""
    if "jax" not in sys.modules:
        return set()
    found = [each for each in gc.get_objects() if type(each).__name__ == "PjitFunction"]
    seen = {id(value) for module in user_modules() for value in vars(module).values()}
    codes = {id(each): getattr(inspect.unwrap(each), "__code__", None) for each in found}
    return {
        each.__name__
        for each in found
        if id(each) not in seen and codes[id(each)] is not None and is_user_code(codes[id(each)])
    }


def _without_interrupts(action: Callable[[], None]) -> bool:
    """Complete ``action``, which may be called again; returns whether the user interrupted it."""
    interrupted = False
    deadline = time.monotonic() + 2 * _JOIN_SECONDS
    while True:
        try:
            action()
            return interrupted
        except KeyboardInterrupt:
            interrupted = True
            if time.monotonic() > deadline:
                raise
