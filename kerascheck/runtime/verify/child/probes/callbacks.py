"""Probes of ``CallbackList``, which Keras calls around each step and epoch of ``fit``."""

import contextlib
import functools
import time

from .. import diagnose, replay
from .scalars import scalar


def patch(cls, state):
    """Count steps and epochs, and time the callbacks of the script."""
    state.epoch_fresh = True
    state.epoch_steps = 0
    state.between_fits = False
    _patch_planned_steps(cls, state)
    _patch_batch_callbacks(cls, state)
    _patch_epoch_callbacks(cls, state)


def _patch_planned_steps(cls, state):
    original = cls.__init__

    @functools.wraps(original)
    def init(self, *args, **params):
        original(self, *args, **params)
        if state.clock is not None and state.recorder.depth:
            state.clock.planned(params)

    state.patches.set(cls, "__init__", init)


def _patch_batch_callbacks(cls, state):
    recorder = state.recorder
    batch_begin, batch_end = cls.on_train_batch_begin, cls.on_train_batch_end
    test_batch_end = cls.on_test_batch_end
    measured = state.run["plan"]["parts"]

    def on_train_batch_begin(self, batch, logs=None):
        state.step_begin = batch
        state.parts.begins_epoch = state.epoch_fresh and not state.between_fits
        start = time.perf_counter()
        batch_begin(self, batch, logs)
        state.call_start = time.perf_counter()
        state.parts.add("callbacks", state.call_start - start)

    def on_train_batch_end(self, batch, logs=None):
        if measured and recorder.depth and not recorder.disabled:
            if state.waits_for_logs:
                # Keras reads the logs next, so this wait is not the callback's work.
                replay.wait_for(logs)
            elif state.parts.waits:
                recorder.sync(logs)
            called = time.perf_counter()
            state.parts.called(called - state.call_start)
            batch_end(self, batch, logs)
            state.parts.add("callbacks", time.perf_counter() - called)
        else:
            batch_end(self, batch, logs)
        if recorder.depth:
            _note_fitted_batch(state, batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        test_batch_end(self, batch, logs)
        if state.validation is not None:
            # The property "model" of Keras 3 moves the variables of a model on JAX.
            state.validation.batch_ended(getattr(self, "_model", None) or self.model, logs)

    for method in (on_train_batch_begin, on_train_batch_end, on_test_batch_end):
        state.patches.set(cls, method.__name__, method)


def _note_fitted_batch(state, batch, logs):
    recorder = state.recorder
    state.last_logs = logs or {}
    key = state.fit_key
    loss = None
    if recorder.wants_loss(key):
        loss = scalar(logs["loss"]) if isinstance(logs, dict) and "loss" in logs else None
    starts_epoch = state.epoch_fresh and not state.between_fits
    state.epoch_fresh = False
    steps = max(1, batch - state.step_begin + 1)
    state.epoch_steps += steps
    if state.clock is not None:
        state.clock.step_ended()
    recorder.tick(key, "fit", type(state.fit_model).__name__, steps, value=logs, loss=loss, epoch=starts_epoch)
    state.between_fits = False
    if state.cuts_fit:
        state.fit_model.stop_training = True


def _patch_epoch_callbacks(cls, state):
    recorder = state.recorder
    epoch_begin, epoch_end = cls.on_epoch_begin, cls.on_epoch_end

    def on_epoch_begin(self, epoch, logs=None):
        state.epoch_fresh = True
        state.epoch_steps = 0
        start = time.perf_counter()
        epoch_begin(self, epoch, logs)
        if recorder.depth:
            state.parts.epoch_called_back(time.perf_counter() - start, ends=False)

    def on_epoch_end(self, epoch, logs=None):
        if recorder.depth and not recorder.disabled:
            if not state.epoch_steps:
                # The data is exhausted: further epochs would run without a step.
                recorder.finish(reason="exhausted", detail="the training data ended and does not start again")
            if state.run["plan"]["diagnose"] and state.iterators:
                with contextlib.suppress(Exception):  # without a model of it; reported at the end
                    diagnose.note_pass(state)
            if len(state.epoch_lengths) < 100 and not state.cuts_fit:
                state.epoch_lengths.append(state.epoch_steps)
        start = time.perf_counter()
        epoch_end(self, epoch, logs)
        if recorder.depth:
            state.parts.epoch_called_back(time.perf_counter() - start, ends=True)

    state.patches.set(cls, "on_epoch_begin", on_epoch_begin)
    state.patches.set(cls, "on_epoch_end", on_epoch_end)
