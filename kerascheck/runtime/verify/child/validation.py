"""Duration of a validation of ``fit``, from the call of ``evaluate`` to its last batch."""

import contextlib
import statistics
import time

from .clock import of_validation

_SECONDS = 5.0
"""Seconds after which a validation is stopped and the remaining batches are counted."""
_SLOW_FIRST = 3.0
"""If the first batch takes this many times as long as the others, time it again: its graph is traced only once."""
_SHORTEST = 0.02


class _LongEnough(BaseException):
    """Ends a validation of tf_keras, which lacks ``stop_evaluating``.

    It is not an Exception, so callbacks of the script do not catch it.
    """


class Validation:
    """Timing of a training's first validation: seconds until its first batch has ended, and per further batch."""

    def __init__(self, state):
        self._state = state
        self._moments: list[float] | None = None  # ends of its batches, while it runs
        self._limit = (0.0, 0)
        self._stopped = False
        self.calls = 0
        self.counts: dict = {}
        self.first = self.others = None
        self.seen = 0
        self.whole = False  # whether it ran to its end

    def called(self, model, validate, arguments):
        """Record that ``fit`` is about to call ``validate``, and exclude its time from all other times."""
        self.calls += 1
        state = self._state
        if self.first is not None or state.replaying:
            return
        kept = state.last_element, state.most_rows, state.parts.running
        state.parts.running = False
        begun = time.perf_counter()
        try:
            with state.recorder.inside:
                self._look(model, validate, arguments)
        finally:
            self._moments = None
            state.last_element, state.most_rows, state.parts.running = kept
            state.parts.forget_traces()
            state.recorder.leave_out(time.perf_counter() - begun)

    def _look(self, model, validate, arguments):
        start, moments, self.whole = self._timed(validate, _SECONDS, 0)
        self.counts = of_validation(model, arguments)
        if not moments:
            return
        self.seen = len(moments)
        self.first = moments[0] - start
        self.others = (moments[-1] - moments[0]) / (len(moments) - 1) if len(moments) > 1 else None
        typical = statistics.median(b - a for a, b in zip(moments, moments[1:])) if len(moments) > 1 else 0.0
        starts_again = not hasattr(arguments.get("x"), "__next__")
        if self.first > max(_SHORTEST, _SLOW_FIRST * typical) and starts_again:
            # Every validation waits for its first batch, but only the first one traces its graph.
            start, moments, _ = self._timed(validate, _SECONDS, 1)
            if moments:
                self.first = min(self.first, moments[0] - start)

    def _timed(self, validate, seconds, batches):
        """Start, ends of the batches, and whether it completed; limited to these seconds and batches (0: no limit)."""
        self._moments, self._limit = [], (seconds, batches)
        self._stopped = False
        start = time.perf_counter()
        with contextlib.suppress(_LongEnough):
            validate()
        return start, self._moments, not self._stopped

    def batch_ended(self, model, logs):
        """Record that ``model`` has evaluated a batch, in the validation or elsewhere; ``logs`` are its results."""
        if self._moments is None:
            return
        # JAX computes a batch asynchronously.
        self._state.recorder.sync(logs)
        self._moments.append(time.perf_counter())
        seconds, batches = self._limit
        if self._moments[-1] - self._moments[0] > seconds or len(self._moments) == batches:
            self._stopped = True
            if not hasattr(model, "stop_evaluating"):
                raise _LongEnough
            # Keras then restores the variables of a model on JAX.
            model.stop_evaluating = True

    def found(self):
        """Facts for the parent; ``seconds`` is None if no validation was seen."""
        return {
            "calls": self.calls,
            "seconds": self._seconds(),
            "first_seconds": self.first,
            "whole": self.whole or self.counts.get("batches") is not None,
            **self.counts,
        }

    def _seconds(self):
        if self.first is None:
            return None
        batches = self.seen if self.whole else self.counts.get("batches") or self.seen
        return self.first + (batches - 1) * (self.others or self.first)
