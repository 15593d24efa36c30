"""Probes of Keras 3 on any backend, and of tf-keras."""

import functools
import sys
import threading

from .. import clock, layer_scopes, redirect, replay
from . import callbacks, fit, graph_loops
from .scalars import scalar
from .tracing_state import executes_eagerly, in_graph_loop


def patch(keras, state):
    """Watch models, callbacks and optimizers, and seed the random generators."""
    legacy = not hasattr(keras, "ops")
    if state.is_passive:
        for name in ("fit", "evaluate", "predict", "predict_on_batch", "test_on_batch"):
            fit.patch_other(definer(keras.Model, name), name, state)
    else:
        keras.utils.set_random_seed(state.run["seed"])
        _patch_model(keras, state)
    fit.patch_train_on_batch(definer(keras.Model, "train_on_batch"), state)
    for optimizer in _optimizer_classes(keras):
        for method in ("apply",) if not legacy else ("apply_gradients",):
            if method in optimizer.__dict__:
                _patch_apply(optimizer, method, state)
    if not legacy:
        _patch_stateless_apply(keras, state)
        backend = keras.backend.backend()
        state.recorder.facts["backend"] = backend
        state.waits_for_logs = backend == "tensorflow"
        if not state.is_passive:
            _patch_input(backend, state)
    else:
        state.recorder.facts["backend"] = "tensorflow (tf-keras)"
    if state.run["plan"]["parts"] and not state.is_passive:
        layer_scopes.patch(keras, state)
    state.recorder.found_version("tf-keras" if legacy else "keras", keras.__version__)


def _patch_model(keras, state):
    """Watch ``fit`` and the other methods of a model, and redirect files that they write."""
    fit.patch_fit(definer(keras.Model, "fit"), state)
    fit.patch_evaluate(definer(keras.Model, "evaluate"), state)
    for name in ("predict", "predict_on_batch"):
        fit.patch_predict(definer(keras.Model, name), name, state)
    fit.patch_other(definer(keras.Model, "test_on_batch"), "test_on_batch", state)
    callbacks.patch(keras.callbacks.CallbackList, state)
    redirect.patch_model(keras.Model, state)
    redirect.patch_loading(keras, state)


def _patch_input(backend, state):
    """Replace or watch the batches of ``fit``, as the plan says."""
    if backend in ("jax", "torch"):
        if state.run["ceiling"]:
            _patch_epoch_iterator(backend, state)
        elif state.run["plan"]["parts"]:
            replay.patch_epoch_iterator(backend, state)
    elif state.run["plan"]["parts"]:
        clock.keep_first_batches(state)


def definer(cls, method):
    """Return the class in the method resolution order of ``cls`` that defines ``method``."""
    return next(c for c in cls.__mro__ if method in c.__dict__)


def _optimizer_classes(keras):
    """All classes that may override the method that applies gradients."""
    roots = {definer(keras.optimizers.Optimizer, "apply_gradients")}
    legacy = getattr(keras.optimizers, "legacy", None)
    if legacy is not None and hasattr(legacy, "Optimizer") and hasattr(legacy.Optimizer, "apply_gradients"):
        roots.add(legacy.Optimizer)
    found = []
    while roots:
        cls = roots.pop()
        found.append(cls)
        roots.update(c for c in cls.__subclasses__() if c not in found)
    return found


def _patch_apply(owner, method, state):
    """Count updates: an eager one is a step of a hand-written loop, a traced one marks a compiled step."""
    original = owner.__dict__[method]
    recorder = state.recorder

    @functools.wraps(original)
    def apply(self, *args, **kwargs):
        if not state.on_script_thread():
            return original(self, *args, **kwargs)
        state.updates += 1
        if state.optimizer is None:
            state.optimizer = self
        # In a notebook, leave fit alone: it may run several steps per call.
        if (state.in_call is not None or not state.is_passive) and in_graph_loop():
            graph_loops.watch(state)
        if recorder.depth:
            return original(self, *args, **kwargs)
        with recorder.inside:
            result = original(self, *args, **kwargs)
        if executes_eagerly():
            key = ("optimizer", id(self))
            # The loss of one replica differs from that of the whole step.
            whole = threading.get_ident() == state.main_thread
            loss = scalar(state.target) if whole and recorder.wants_loss(key) else None
            recorder.tick(key, "optimizer loop", type(self).__name__, value=state.target, loss=loss)
        return result

    state.patches.set(owner, method, apply)


def _patch_stateless_apply(keras, state):
    """Count the updates of hand-written steps on JAX."""
    owner = definer(keras.optimizers.Optimizer, "stateless_apply")
    original = owner.stateless_apply

    @functools.wraps(original)
    def stateless_apply(self, *args, **kwargs):
        state.updates += 1
        return original(self, *args, **kwargs)

    state.patches.set(owner, "stateless_apply", stateless_apply)


def _patch_epoch_iterator(backend, state):
    """Feed ``fit`` the same batch repeatedly (JAX, PyTorch)."""
    trainer = sys.modules[f"keras.src.backend.{backend}.trainer"]
    owner = trainer.JAXEpochIterator if backend == "jax" else trainer.TorchEpochIterator
    original = owner._get_iterator

    class Repeating:
        def __iter__(self):
            return self

        def __next__(self):
            return state.cached_batch

    def get_iterator(self):
        if state.cached_batch is None:
            state.cached_batch = next(iter(original(self)))
            state.recorder.facts["one_cached_batch"] = True
        return Repeating()

    state.patches.set(owner, "_get_iterator", get_iterator)
