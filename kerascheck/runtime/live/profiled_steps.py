"""A profile of a few steps of a training that goes on, by the framework's own profiler."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kerascheck.runtime.live import feeding
from kerascheck.runtime.verify.child import profiler
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.why.created import created_by
from kerascheck.runtime.why.profile_files import NoProfile
from kerascheck.runtime.why.profile_layers import LayerNames, trace_of
from kerascheck.runtime.why.recorded import read_profile
from kerascheck.runtime.why.step import Step

_SECONDS = 1.0
"""Seconds after which enough steps are recorded ..."""
_FEWEST, _MOST = 4, 20
"""... if there are this many, and the number of steps that is always enough. Reading a profile needs three."""
_LONGEST = 30.0
"""Seconds after which the profiler stops by itself: an interrupted ``fit`` does not end it."""


class ProfiledSteps:
    """Records some steps; the profiler runs only between :meth:`begin` and the last of them.

    Args:
        backend: of Keras.
        callbacks: of the training. TensorBoard may need the profiler for itself.
    """

    def __init__(self, backend: str, callbacks: Iterable[Any] = ()) -> None:
        self._backend = backend
        self._folder: str | None = None
        self._began = 0.0
        self._steps = 0
        self._stop: Callable[[], None] | None = None
        self._timer = threading.Timer(_LONGEST, self.stop)
        self._timer.daemon = True
        self.failure: str | None = None
        """Why there is no profile, for display."""
        if any(getattr(each, "_should_trace", False) for each in callbacks):  # of TensorBoard in Keras 2 and 3
            self.failure = "TensorBoard(profile_batch=...) uses the profiler in this training"
        elif backend not in ("tensorflow", "jax"):
            self.failure = f"the profiler of {backend} is not read here"

    @property
    def is_over(self) -> bool:
        """Whether no further step is recorded."""
        return self._stop is None

    def begin(self) -> None:
        """Start the profiler."""
        if self.failure is not None:
            return
        self._folder = tempfile.mkdtemp(prefix=f"kerascheck-profile-{os.getpid()}-")
        try:
            self._stop = profiler.start(self._backend, self._folder, level=3)
        except Exception as problem:  # such as another profiler that runs
            self.failure = f"the profiler did not start ({type(problem).__name__}: {problem})"[:300]
            return
        self._timer.start()
        self._began = time.perf_counter()

    def step_ended(self, logs: Any) -> None:
        """Wait for a step that was recorded, and stop the profiler after enough of them."""
        feeding.wait_for(self._backend, logs)
        self._steps += 1
        if self._steps >= _MOST or (self._steps >= _FEWEST and time.perf_counter() - self._began >= _SECONDS):
            self.stop()

    def stop(self) -> None:
        """Stop the profiler; may be called again."""
        stop, self._stop = self._stop, None
        if stop is None:
            return
        self._timer.cancel()
        try:
            stop()
        except Exception as problem:
            self.failure = f"the profiler did not stop ({type(problem).__name__}: {problem})"[:300]

    @property
    def path(self) -> str | None:
        """The profile; None if there is none, and then :attr:`failure` says why."""
        if self.failure is None and self._steps < _FEWEST:
            self.failure = f"fewer than {_FEWEST} steps were profiled before the training ended, or in {_LONGEST:.0f} s"
        if self.failure is not None or self._folder is None:
            return None
        found: str | None = profiler.written(self._folder)
        if found is None:
            self.failure = "the profiler wrote no profile"
        return found

    def close(self) -> None:
        """Stop the profiler and delete the profile."""
        self.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def with_layers(step: Step, profiled: ProfiledSteps, model: Any, linted: Linted) -> tuple[Step, str | None]:
    """The step with the layers of its profile, and why they are missing.

    Args:
        model: the model that trains.
        linted: the code of the training, for the lines that create layers.
    """
    profiled.stop()
    path = profiled.path
    if path is None:
        return step, profiled.failure
    try:
        profile = read_profile(Path(path), sys.executable)
    except (NoProfile, OSError) as problem:
        return step, str(problem)
    kinds = {layer.name: type(layer).__name__ for layer in model._flatten_layers()}
    trace = trace_of(profile, LayerNames(created_by(linted).layers, kinds))
    return replace(step, facts=replace(step.facts, step_trace=trace)), None
