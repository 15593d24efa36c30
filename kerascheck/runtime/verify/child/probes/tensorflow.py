"""Probes of TensorFlow: ``tf.function``, ``GradientTape`` and ``tf.data`` iterators."""

import contextlib
import functools
import inspect
import threading
import time
import weakref

from .. import clock, diagnose, parts, redirect, replay
from .graph_loops import iterations
from .scalars import first_scalar
from .tracing_state import executes_eagerly


def patch(tf, state):
    """Watch compiled steps, gradients and iterators, and seed the random generators."""
    from tensorflow.python.data.ops import iterator_ops
    from tensorflow.python.eager import backprop
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    tf.random.set_seed(state.run["seed"])
    state.recorder.found_version("tensorflow", tf.__version__)
    _patch_function(polymorphic_function.Function, state)
    _patch_tape(backprop.GradientTape, state)
    _patch_iterator(iterator_ops.OwnedIterator, state)
    redirect.patch_tensorflow(tf, state)
    if state.run["ceiling"] and state.run["ceiling"]["loops"]:
        _patch_dataset_loops(state)
    if state.run["plan"]["diagnose"]:
        diagnose.patch_tensorflow(tf, state)
    if state.run["plan"]["parts"]:
        parts.patch_tensorflow(tf, state)
        clock.patch_tensorflow(tf, state)
    sync = getattr(tf.test.experimental, "sync_devices", None)

    def wait(value):
        if sync is not None and state.uses_gpu():
            sync()

    state.uses_gpu = functools.lru_cache(maxsize=None)(lambda: bool(tf.config.list_physical_devices("GPU")))
    previous = state.recorder.sync
    state.recorder.sync = lambda value: (previous(value), wait(value))


def _patch_function(cls, state):
    original = cls.__call__
    recorder = state.recorder

    def call(self, *args, **kwds):
        if recorder.depth or not state.on_script_thread() or recorder.disabled:
            return original(self, *args, **kwds)
        key = _function_key(self)
        steps_before = iterations(state) if key in state.calls and len(state.calls[key]) < 3 else None
        before = state.updates
        state.in_call = (key, time.perf_counter())
        try:
            with recorder.inside:
                result = original(self, *args, **kwds)
        finally:
            seconds = time.perf_counter() - state.in_call[1]
            state.in_call = None
        if key not in state.calls:
            if state.updates == before:
                return result
            state.calls[key] = []  # it computed gradients, so it is a training step
        if state.poller is not None and state.poller.took_over:
            return result
        state.parts.called(seconds)
        state.last_call = self, (args, kwds)
        series_key = ("function", key)
        known = state.calls[key]
        if len(known) < 3:
            # Several updates in one call: a loop inside the function, or several optimizer steps per batch.
            after = iterations(state)
            known.append(max(1, after - (steps_before or 0)) if after is not None and steps_before is not None else 1)
        loss = first_scalar(result) if recorder.wants_loss(series_key) else None
        recorder.tick(series_key, "function loop", getattr(self, "__name__", ""), known[-1], value=result, loss=loss)
        return result

    cls.__call__ = call


def _function_key(function):
    """Key of a ``tf.function``, equal for all functions with the same code: a loop may create one per iteration."""
    try:
        return function._kerascheck_key
    except AttributeError:
        python = inspect.unwrap(getattr(function, "_python_function", function), stop=lambda f: hasattr(f, "__code__"))
        python = getattr(python, "func", python)
        key = getattr(getattr(python, "__func__", python), "__code__", None) or id(function)
        function._kerascheck_key = key
        return key


def _patch_tape(cls, state):
    original = cls.gradient
    recorder = state.recorder

    @functools.wraps(original)
    def gradient(self, target, *args, **kwargs):
        state.updates += 1
        if state.counts_here() and recorder.wants_loss(("optimizer", id(state.optimizer))):
            state.target = target
        result = original(self, target, *args, **kwargs)
        if state.counts_here() and executes_eagerly():
            recorder.tick(("gradient",), "gradient loop", "", value=target)
        return result

    cls.gradient = gradient


def _one_cached_batch(dataset, state):
    state.recorder.facts["one_cached_batch"] = True
    return dataset.take(1).cache().repeat()


def _patch_dataset_loops(state):
    """Feed loops over datasets inside a ``tf.function`` a single cached batch."""
    from tensorflow.python.autograph.operators import control_flow

    functions = control_flow.for_loop_registry._registry
    for kind, function in list(functions.items()):
        if function.__module__.endswith("dataset_autograph"):
            functions[kind] = lambda dataset, *args, _function=function: _function(
                _one_cached_batch(dataset, state), *args
            )


def _patch_iterator(cls, state):
    recorder = state.recorder
    original_init, original_next = cls.__init__, cls.__next__

    @functools.wraps(original_init)
    def init(self, dataset=None, *args, **kwargs):
        outermost = dataset is not None and threading.get_ident() == state.main_thread
        if outermost:
            ceiling = state.run["ceiling"]
            if ceiling and ceiling["iterator"] is not None and len(state.iterators) >= ceiling["iterator"]:
                dataset = _one_cached_batch(dataset, state)
            state.iterators.append(weakref.ref(self))
            if not recorder.depth:
                recorder.epoch_began = True
        self._kerascheck_elements = 0
        self._kerascheck_start = recorder.so_far()
        original_init(self, dataset, *args, **kwargs)

    def next_element(self):
        if state.counts_here():
            # A step of a bare loop ends when the next element is requested.
            if self._kerascheck_elements:
                recorder.tick(("dataset",), "dataset loop", "")
            state.parts.begins_epoch = not self._kerascheck_elements
            self._kerascheck_elements += 1
            if state.replaying:
                return state.last_element
            try:
                return _counted(original_next, self, state)
            except StopIteration:
                if state.run["plan"]["diagnose"]:
                    with contextlib.suppress(Exception):
                        diagnose.note_pass(state)
                if not recorder.pass_ended(self._kerascheck_start):
                    raise
                self._kerascheck_start = recorder.so_far()
                original_init(self, self._dataset)
        return original_next(self)

    cls.__init__ = init
    cls.__next__ = next_element


def _counted(original_next, iterator, state):
    start = time.perf_counter()
    element = original_next(iterator)
    if state.parts.running:
        state.parts.add("next", time.perf_counter() - start)
        # For example, validation data must not be replayed to the training.
        leader = state.recorder.leader()
        if leader is not None and diagnose.training_iterator(state) is iterator:
            replay.fed(state, element)
    return element
