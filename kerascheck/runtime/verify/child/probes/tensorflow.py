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

    if not state.is_passive:
        tf.random.set_seed(state.run["seed"])
        redirect.patch_tensorflow(tf, state)
    state.recorder.found_version("tensorflow", tf.__version__)
    _patch_function(polymorphic_function.Function, state)
    _patch_tape(backprop.GradientTape, state)
    _patch_iterator(iterator_ops.OwnedIterator, state)
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
        key = _function_key(self, state)
        if state.is_passive and key not in state.calls and _has_traced_gradients(self, state):
            state.calls[key] = []
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
        if not state.is_passive:
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

    state.patches.set(cls, "__call__", call)


def _function_key(function, state):
    """Key of a ``tf.function``, equal for all functions with the same code: a loop may create one per iteration."""
    key = state.function_keys.get(function)
    if key is None:
        python = inspect.unwrap(getattr(function, "_python_function", function), stop=lambda f: hasattr(f, "__code__"))
        python = getattr(python, "func", python)
        key = getattr(getattr(python, "__func__", python), "__code__", None) or id(function)
        state.function_keys.set(function, key)
    return key


def _has_traced_gradients(function, state):
    """Whether a function that was traced before the probes existed computes gradients."""
    if state.function_looks.get(function):
        return False  # the probes see its further traces
    state.function_looks.set(function, True)
    try:
        # Methods that list them trace a function with an input signature.
        pending = [concrete.graph for concrete in function._function_cache.values()]
    except Exception:  # another version of TensorFlow: only functions traced from now on are seen
        return False
    while pending:
        graph = pending.pop()
        if any("gradient_tape/" in operation.name for operation in graph.get_operations()):
            return True
        inner = getattr(graph, "_functions", {}).values()
        pending += [each.graph for each in inner if hasattr(getattr(each, "graph", None), "get_operations")]
    return False


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

    state.patches.set(cls, "gradient", gradient)


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
            state.patches.on_undo(functools.partial(functions.__setitem__, kind, function))


def _patch_iterator(cls, state):
    recorder = state.recorder
    original_init, original_next = cls.__init__, cls.__next__

    @functools.wraps(original_init)
    def init(self, dataset=None, *args, **kwargs):
        outermost = dataset is not None and threading.get_ident() == state.main_thread
        outermost = outermost and not (state.is_passive and recorder.depth)  # of fit
        if outermost:
            ceiling = state.run["ceiling"]
            if ceiling and ceiling["iterator"] is not None and len(state.iterators) >= ceiling["iterator"]:
                dataset = _one_cached_batch(dataset, state)
            state.iterators.append(weakref.ref(self))
            if not recorder.depth:
                recorder.epoch_began = True
        state.iterator_elements.set(self, 0)
        state.iterator_starts.set(self, recorder.so_far())
        original_init(self, dataset, *args, **kwargs)

    def next_element(self):
        if state.counts_here():
            elements = state.iterator_elements.get(self)
            if elements is None:  # created before the probes existed
                state.iterators.append(weakref.ref(self))
                state.iterator_starts.set(self, recorder.so_far())
            # A step of a bare loop ends when the next element is requested.
            if elements:
                recorder.tick(("dataset",), "dataset loop", "")
            state.parts.begins_epoch = elements == 0
            state.iterator_elements.set(self, 2 if elements is None else elements + 1)
            if state.replaying:
                return state.last_element
            try:
                return _counted(original_next, self, state)
            except StopIteration:
                if state.run["plan"]["diagnose"]:
                    with contextlib.suppress(Exception):
                        diagnose.note_pass(state)
                if not recorder.pass_ended(state.iterator_starts.get(self)):
                    raise
                state.iterator_starts.set(self, recorder.so_far())
                original_init(self, self._dataset)
        return original_next(self)

    state.patches.set(cls, "__init__", init)
    state.patches.set(cls, "__next__", next_element)


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
