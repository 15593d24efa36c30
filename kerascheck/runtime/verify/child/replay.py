"""Steps on one repeated batch: the time of a step without its input."""

import functools
import itertools
import os
import statistics
import sys
import time

from . import clock, diagnose
from .load import CpuLoad
from .sampler import Sampler

_REPLAY_SECONDS = 1.5  # seconds of timed steps
_FEWEST_REPLAYED = 5  # steps
_MOST_REPLAYED = 400
_QUIET_SHARE = 0.25  # share of one processor below which the process counts as quiet
_QUIET_SAMPLE = 0.1  # seconds
_LONGEST_WAIT = 2.0  # seconds to wait until the pipeline has filled its buffers
_HOTTEST = 40  # maximum lines sent
_INSIDE_SECONDS = 0.7  # seconds of sampled steps


def fed(state, element):
    """Record a batch of the training, and the largest number of rows: the last batch of a pass has fewer."""
    if not state.is_passive:
        state.last_element = element
    for part in leaves(element):
        if getattr(part, "shape", None) is not None and len(part.shape):
            state.most_rows = max(state.most_rows or 0, int(part.shape[0]))
            return


def leaves(element):
    if isinstance(element, dict):
        element = tuple(element.values())
    if isinstance(element, (list, tuple)):
        return [leaf for part in element for leaf in leaves(part)]
    return [element]


class Replaying:
    """An iterator that times its elements, and repeats the last one while ``state.replaying``."""

    def __init__(self, iterator, state):
        self._iterator = iter(iterator)
        self._state = state

    def __iter__(self):
        return self

    def __next__(self):
        state = self._state
        if state.replaying:
            return state.last_element
        start = time.perf_counter()
        element = next(self._iterator)
        state.parts.add("next", time.perf_counter() - start)
        fed(state, element)
        return element


def patch_epoch_iterator(backend, state):
    """Feed ``fit`` on JAX or PyTorch through a :class:`Replaying`."""
    trainer = sys.modules[f"keras.src.backend.{backend}.trainer"]
    owner = trainer.JAXEpochIterator if backend == "jax" else trainer.TorchEpochIterator
    original = owner._get_iterator

    def get_iterator(self):
        return Replaying(original(self), state)

    state.patches.set(owner, "_get_iterator", get_iterator)


def without_input(state, leader):
    """Seconds of a ``fit`` step on one batch (TensorFlow), and the Python that runs inside it.

    On TensorFlow, ``fit`` reads its data inside a compiled function, so this calls the step directly.
    """
    made = _one_batch(state, leader)
    if made is None:
        return None
    batch, spec = made
    state.batch = batch, spec
    _until_quiet()
    load = CpuLoad()
    trained = trained_on(state, again(batch, spec))
    (seconds,) = step_seconds(trained)
    rows = state.most_rows = sys.modules["tensorflow"].nest.flatten(batch)[0].shape[0]
    return {
        "call_seconds_without_input": seconds, "one_cached_batch": True, "batch_size": rows,
        "other_load_without_input": load.of_others(), "inside_step": _inside(state, trained),
    }  # fmt: skip


def inside_loop(state, leader):
    """Python that the compiled step of a hand-written loop calls, sampled in repetitions of its last call."""
    if leader.kind != "function loop" or state.last_call is None or not diagnose.computes_in_tensorflow(state, leader):
        return None
    function, arguments = state.last_call
    _until_quiet()
    return {"inside_step": _inside(state, functools.partial(called_with, function, arguments))}


def _inside(state, call):
    """Sample Python while ``call`` runs steps whose input is already available."""
    sampler = Sampler(state.main_thread, state.parts.origins)
    sampler.start()
    end = time.perf_counter() + _INSIDE_SECONDS
    while time.perf_counter() < end:
        call()
    sampler.stop()
    return {
        "total": sampler.looks,
        "main": [[*key, count] for key, count in sampler.main.most_common(_HOTTEST)],
        "others": [[*key, count] for key, count in sampler.others.most_common(_HOTTEST)],
    }


def steps_per_call(model):
    """Number of steps in a call of the training function of ``fit``."""
    return int(getattr(model, "steps_per_execution", 1) or 1)


def trained_on(state, iterator):
    train, per_call = state.fit_model.train_function, steps_per_call(state.fit_model)
    return lambda: (wait_for_step(train(iterator)), per_call)[1]


def called_with(function, arguments):
    args, kwargs = arguments
    for part in sys.modules["tensorflow"].nest.flatten(function(*args, **kwargs)):
        if hasattr(part, "numpy"):
            part.numpy()
            break
    return 1


def _one_batch(state, leader):
    if leader.kind != "fit" or not state.recorder.facts.get("backend", "").startswith("tensorflow"):
        return None
    if getattr(state.fit_model, "train_function", None) is None:
        return None
    tf, iterator = sys.modules["tensorflow"], diagnose.training_iterator(state)
    batches, spec = clock.peeked_batches(state)
    if iterator is not None and not batches:
        # The last batch of a pass has fewer rows, and then the iterator is exhausted: begin a new pass.
        batches = list(itertools.islice(iterator, 2)) or list(itertools.islice(iter(iterator._dataset), 1))
        spec = iterator.element_spec
    if not batches:
        return None
    batch = max(batches, key=lambda batch: int(tf.shape(tf.nest.flatten(batch)[0])[0]))
    parts = tf.nest.flatten(batch)
    if not parts or not all(isinstance(part, tf.Tensor) and part.shape.rank for part in parts):
        return None
    return batch, spec


def again(batch, spec):
    """Return an iterator that repeats ``batch`` under the training's element specification, to avoid retracing."""
    tf = sys.modules["tensorflow"]

    def forgotten(*parts):
        given = parts[0] if len(parts) == 1 and not isinstance(batch, tuple) else parts
        return tf.nest.map_structure(
            lambda part, wanted: tf.raw_ops.PlaceholderWithDefault(input=part, shape=wanted.shape), given, spec
        )

    return iter(tf.data.Dataset.from_tensors(batch).map(forgotten).cache().repeat())


def wait_for_step(logs):
    """Read the results of a step, as Keras does."""
    if hasattr(logs, "get_value"):
        logs = logs.get_value()
    wait_for(logs)


def wait_for(logs):
    """Wait for the values of ``logs``, a dictionary of scalars of any framework."""
    for value in (logs or {}).values() if isinstance(logs, dict) else ():
        if hasattr(value, "numpy"):
            value.numpy()


def _until_quiet():
    """Wait until the input pipeline has filled its buffers and stops using the processor."""
    end = time.perf_counter() + _LONGEST_WAIT
    while time.perf_counter() < end:
        before, start = os.times(), time.perf_counter()
        time.sleep(_QUIET_SAMPLE)
        after = os.times()
        if (after.user + after.system - before.user - before.system) / (time.perf_counter() - start) < _QUIET_SHARE:
            return


def step_seconds(*calls, warm_up=3, timed_seconds=_REPLAY_SECONDS):
    """Median seconds per step of each of ``calls``, which return the number of steps they ran.

    They run in turn, so the load of the machine affects all equally. Each runs ``warm_up`` times before it is timed,
    then for ``timed_seconds``; slow ones run for up to four times as long.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(warm_up):
        for call in calls:
            call()
    start = time.perf_counter()
    while True:
        for series, call in zip(times, calls):
            before = time.perf_counter()
            steps = call()
            series.append((time.perf_counter() - before) / steps)
        seconds = (time.perf_counter() - start) / len(calls)
        enough = len(times[0]) >= _FEWEST_REPLAYED and seconds > timed_seconds
        if enough or len(times[0]) >= _MOST_REPLAYED or seconds > 4 * timed_seconds:
            return [statistics.median(series) for series in times]
