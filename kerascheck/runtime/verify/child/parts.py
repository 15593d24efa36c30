"""Where a step goes: how long its parts take, and how long the step takes without its input, in one and the same
process."""

import contextlib
import functools
import itertools
import os
import statistics
import sys
import time

from . import clock, diagnose, validation
from .recorder import CpuLoad
from .sampler import Sampler, watch_autograph

_REPLAY_SECONDS = 1.5
_MIN_REPLAYED = 5
_MAX_REPLAYED = 400
_TIMES_LARGER = 4
_QUIET_SHARE = 0.25
_QUIET_LOOK = 0.1
_LONGEST_WAIT = 2.0
_LARGEST_BATCH_BYTES = 1 << 28
_HOTTEST = 40
_SHORTEST_TO_CUT = 0.001
_EXPLAINED = 0.5
_CUT_SECONDS = 4.0
_INSIDE_SECONDS = 0.7


class Parts:
    """Seconds of the parts of the steps since the warm-up ended."""

    def __init__(self, state):
        self._state = state
        self.running = False
        self.begins_epoch = False  # whether the step that runs is the first of an epoch, which is counted apart
        self.seconds = dict.fromkeys(("call", "callbacks", "next", "predict", "fit"), 0.0)
        self._warming_up = {"call": 0.0, "callbacks": 0.0}  # of a training that ends before it is warm, all there is
        self._warm_up_steps = 0
        self._load = CpuLoad()
        self.predictions = {}  # (path, line) of the script: seconds of the calls of predict there
        self.sampler = None
        self.origins = {}
        self.steps = 0
        self._traces_so_far = None
        self._calls: dict[bool, list[float]] = {
            True: [],
            False: [],
        }  # seconds of calls that traced a graph, and of the others
        self.waits = False  # whether every call is waited for, where calls only start what the device does
        self._waited = {"call": 0.0, "callbacks": 0.0}
        self._waited_calls = []  # seconds of the calls of each step
        self._waited_callbacks = []
        self.between_epochs = []  # seconds of the callbacks between each two epochs

    def add(self, part, seconds):
        """Count ``seconds`` to ``part``."""
        if self.running and not self.begins_epoch:
            self.seconds[part] += seconds
        elif self.waits and part in self._waited:
            self._waited[part] += seconds
        elif not self.begins_epoch and part in self._warming_up:
            self._warming_up[part] += seconds

    def called(self, seconds):
        """Count a call of a step, and whether graphs were traced in it."""
        self.add("call", seconds)
        if not self.running and not self.waits and not self.begins_epoch:
            self._warm_up_steps += int(getattr(self._state.fit_model, "steps_per_execution", 1) or 1)
        if not self.running or self.begins_epoch:
            return
        so_far = traces(self._state)
        self._calls[so_far != self._traces_so_far].append(seconds)
        self._traces_so_far = so_far

    def ticked(self, steps):
        """``steps`` steps have ended."""
        if self.running and not self.begins_epoch:
            self.steps += steps
        elif self.waits:
            self._waited_calls.append(self._waited["call"] / steps)
            self._waited_callbacks.append(self._waited["callbacks"] / steps)
            self._waited = dict.fromkeys(self._waited, 0.0)

    def predicted(self, place, seconds):
        """A call of ``predict`` between two steps took ``seconds``."""
        self.add("predict", seconds)
        if self.running and place is not None:
            self.predictions[place] = self.predictions.get(place, 0.0) + seconds

    def forget_traces(self):
        """Graphs traced so far were not traced in a step."""
        self._traces_so_far = traces(self._state)

    def epoch_called_back(self, seconds, *, ends):
        """The callbacks for the end of an epoch, or for the beginning of the next one, took ``seconds``."""
        if ends:
            self.between_epochs.append(seconds)
        elif self.between_epochs:
            self.between_epochs[-1] += seconds

    def per_step(self):
        """Seconds of the parts of a step; of calls that only start what the device does, until it has done that."""
        found = {name: seconds / max(1, self.steps) for name, seconds in self.seconds.items()}
        if self.is_short:
            steps = self.steps + self._warm_up_steps
            found |= {name: (self.seconds[name] + early) / steps for name, early in self._warming_up.items()}
        if len(self._waited_calls) >= _MIN_REPLAYED:
            found["call"] = statistics.median(self._waited_calls)
            found["callbacks"] = min(found["callbacks"], statistics.fmean(self._waited_callbacks[1:]))
        return found

    def start(self):
        """The warm-up is over: count from here."""
        self._traces_so_far = traces(self._state)
        clock.forget_compiled_by_torch()
        self.running = True

    def stop(self):
        """The timed blocks are over: what follows does not count."""
        self.running = False

    @property
    def is_short(self):
        """Whether the training ended so early that the steps of its warm-up count, too."""
        return self.steps < _MIN_REPLAYED and self._warm_up_steps > 0

    def others_meanwhile(self):
        """The share of the machine that other programs used since the script began, where the training is short; None elsewhere."""
        return self._load.of_others() if self.is_short else None

    @property
    def traced(self):
        """How many calls traced a graph."""
        return len(self._calls[True])

    def tracing(self):
        """Seconds that calls took longer because graphs were traced in them, and whether that was so in every call."""
        traced, others = self._calls[True], self._calls[False]
        typical = statistics.median(others) if others else 0.0
        return sum(max(0.0, seconds - typical) for seconds in traced), bool(traced) and not others


def install(state):
    """Count parts and sample, if the plan asks for it."""
    state.parts = Parts(state)
    state.replaying = False
    state.last_element = None
    state.last_call = None
    state.most_rows = state.final_dataset = state.validation = None
    if not state.run["plan"]["parts"]:
        return
    recorder = state.recorder
    state.validation = validation.Validation(state)
    recorder.when_warm.append(state.parts.start)
    # Sampling slows Python down, most of all where processors are few: it has a time of its own.
    recorder.phases = [
        ("sampled", functools.partial(start_sampling, state)),
        ("replayed", functools.partial(start_replay, state)),
    ]
    recorder.on_tick = state.parts.ticked
    recorder.at_end.append(functools.partial(found, state))
    recorder.last_looks.append(functools.partial(diagnose.guarded, without_input, state))


def install_last(state):
    """Add the looks that may take longest, and may fail, behind all others."""
    if state.run["plan"]["parts"]:
        for look in (inside_loop, by_dataset, larger_batch):
            state.recorder.last_looks.append(functools.partial(diagnose.guarded, look, state))


def by_dataset(state, leader):
    """Seconds of a batch's rows in each dataset that the training's data is made of, source first, where TensorFlow's
    model of the pipeline does not show where its time goes: it knows nothing of what lies behind some stages, such as
    ``unbatch``."""
    final = state.final_dataset
    alone = state.recorder.facts.get("alone_seconds_per_batch")
    if final is None or alone is None:
        return None
    if not _ends_at_shuffle(state) and (alone < _SHORTEST_TO_CUT or _explained(state) > _EXPLAINED * alone):
        return None
    datasets = [final]
    while len(datasets[-1]._inputs()) == 1:
        datasets.append(datasets[-1]._inputs()[0])
    found: list[dict] = []
    end = time.perf_counter() + _CUT_SECONDS
    for dataset in reversed(datasets):
        place = getattr(dataset, "_kerascheck_place", None)
        limit = (end - time.perf_counter()) / max(1, len(datasets) - len(found))
        with contextlib.suppress(Exception):  # rows of different shapes cannot be batched: the next dataset tells
            seconds = _seconds_per_batch(dataset, state.most_rows or 1, limit)
            if seconds is not None and place is not None:
                found.append({"name": diagnose.name_of(dataset), "place": place, "seconds_per_batch": seconds})
    return {"by_dataset": found}


def _ends_at_shuffle(state):
    """Whether the model of the pipeline knows of nothing slower than a shuffle, for which it counts what fills its buffer."""
    slowest = max(state.longest_pass[1:], key=lambda node: node["seconds"], default={"name": ""})
    return slowest["name"].startswith("Shuffle")


def _explained(state):
    """Seconds of a batch in the slowest stage that the model of the pipeline shows."""
    nodes = state.longest_pass[1:]
    return max(
        (node["seconds"] / max(1, nodes[0]["elements"]) / max(1.0, node["parallelism"]) for node in nodes), default=0.0
    )


def _seconds_per_batch(dataset, batch, limit):
    """Seconds of ``batch`` rows, however many an element has; None where nothing comes in time. Elements are batches
    where their first dimension is not fixed, or is ``batch``; others are batched here, because Python takes longer
    for a row than most pipelines."""
    spec = getattr(_leaves(dataset.element_spec)[0], "shape", None)
    if spec is None or not spec.rank or spec[0] not in (None, batch):
        dataset = dataset.batch(batch)
    rows, start, first = 0, time.perf_counter(), None
    for element in dataset:
        now = time.perf_counter()
        if first is None:
            first = now
        else:
            rows += int(_leaves(element)[0].shape[0])
        if now - start > limit:
            break
    return (time.perf_counter() - first) / rows * batch if first is not None and rows else None


def patch_tensorflow(tf, state):
    """Let lines of functions that AutoGraph rewrote be told by those of the script."""
    watch_autograph(state.parts.origins)


def traces(state):
    """How many graphs were traced so far; None where that cannot be told."""
    if getattr(state, "traced", None) is not None:
        return state.traced
    functions = list(getattr(state, "functions", ()))
    return sum(function.experimental_get_tracing_count() or 0 for function in functions) if functions else None


def start_sampling(state, leader):
    """Look at Python's threads from here on; always so."""
    state.parts.stop()
    # On TensorFlow, Keras and loops read what a step returns; elsewhere, to wait shows what a step takes but undoes
    # its overlap.
    state.parts.waits = not _computes_in_tensorflow(state, leader)
    # The step of a hand-written loop on PyTorch begins with the first forward pass, and runs in lines of the script.
    in_step = (lambda: state.step_began is not None) if leader.framework == "torch" else None
    state.parts.sampler = Sampler(state.main_thread, state.parts.origins, in_step=in_step)
    state.parts.sampler.start()
    return True


def start_replay(state, leader):
    """Feed the last batch again from here on, where the loop gets its batches from Python; whether that is so."""
    state.parts.sampler.stop()
    state.parts.waits = False
    if state.last_element is None:
        return False
    state.replaying = True
    return True


def found(state, leader):
    """What was counted and sampled."""
    parts = state.parts
    parts.stop()
    # Later looks make iterators of their own.
    state.final_dataset = getattr(diagnose.training_iterator(state), "_dataset", None)
    steps = max(1, parts.steps)
    counted = parts.per_step()
    tracing, always = parts.tracing()
    sampler = parts.sampler or Sampler(state.main_thread)
    sampler.stop()
    latest = list(sampler.latest)
    return {
        "parts": {**counted, "tracing": tracing / steps},
        "predictions": [[*place, seconds / steps] for place, seconds in parts.predictions.items()],
        "callbacks_between_epochs": parts.between_epochs,
        "validation": state.validation.found(),
        **state.clock.found(),
        "compiled": getattr(state, "compiled", None) or clock.compiled_by_torch(),
        "other_load": parts.others_meanwhile(),
        "new_traces": parts.traced,
        "traces_always": always,
        "functions_run_eagerly": functions_run_eagerly(),
        "measured_steps": steps,
        "samples": {
            "total": sampler.looks,
            "main": [[*key, count] for key, count in sampler.main.most_common(_HOTTEST)],
            "others": [[*key, count] for key, count in sampler.others.most_common(_HOTTEST)],
        },
        "timeline": {
            "main": _segments(latest),
            "steps": [moment for moment in leader.moments if latest and moment >= latest[0][0]],
        },
        "batch_size": state.most_rows,
    }


def _computes_in_tensorflow(state, leader):
    backend = leader.framework or state.recorder.facts.get("backend", "tensorflow")
    return backend.startswith("tensorflow")


def functions_run_eagerly():
    """Whether ``tf.config.run_functions_eagerly(True)`` is in force."""
    tf = sys.modules.get("tensorflow")
    return tf is not None and tf.config.functions_run_eagerly()


def fed(state, element):
    """``element`` was fed to the training: the last batch of a pass has fewer rows than the others."""
    state.last_element = element
    for part in _leaves(element):
        if getattr(part, "shape", None) is not None and len(part.shape):
            state.most_rows = max(state.most_rows or 0, int(part.shape[0]))
            return


def _leaves(element):
    if isinstance(element, dict):
        element = tuple(element.values())
    if isinstance(element, (list, tuple)):
        return [leaf for part in element for leaf in _leaves(part)]
    return [element]


def _segments(looks):
    """[start, end, kind] of runs of equal looks, in seconds of the process's clock."""
    found: list[list] = []
    for kind, group in itertools.groupby(looks, key=lambda look: look[1]):
        moments = [moment for moment, _ in group]
        if found:
            found[-1][1] = moments[0]
        found.append([moments[0], moments[-1], kind])
    return found


# fit on TensorFlow: its data is read inside a compiled function, so that its step is called by hand
# -----------------------


def without_input(state, leader):
    """Seconds of a step of ``fit`` on one batch that is fed again and again."""
    made = _one_batch(state, leader)
    if made is None:
        return None
    batch, spec = made
    state.batch = batch, spec
    _until_quiet()
    load = CpuLoad()
    trained = _trained(state, again(batch, spec))
    (seconds,) = _step_seconds(trained)
    rows = state.most_rows = sys.modules["tensorflow"].nest.flatten(batch)[0].shape[0]
    return {
        "call_seconds_without_input": seconds, "one_cached_batch": True, "batch_size": rows,
        "other_load_without_input": load.of_others(), "inside_step": _inside(state, trained),
    }  # fmt: skip


def inside_loop(state, leader):
    """Python that the compiled step of a hand-written loop calls, from its last call made again."""
    if leader.kind != "function loop" or state.last_call is None or not _computes_in_tensorflow(state, leader):
        return None
    function, arguments = state.last_call
    _until_quiet()
    return {"inside_step": _inside(state, functools.partial(_called, function, arguments))}


def _inside(state, call):
    """What Python runs while ``call`` makes steps whose input is there already."""
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


def larger_batch(state, leader):
    """Seconds of such a step with several times the batch: whether the device has more to give."""
    batch, spec = getattr(state, "batch", (None, None))
    if batch is not None:
        tf = sys.modules["tensorflow"]
        if _bytes(batch) * _TIMES_LARGER > _LARGEST_BATCH_BYTES:
            return None
        # Where the number of rows is fixed, the step is traced once more, for both sizes.
        spec = tf.nest.map_structure(lambda part: tf.TensorSpec([None, *part.shape[1:]], part.dtype), spec)
        once, several = _step_seconds(*(_trained(state, again(rows, spec)) for rows in (batch, _repeated(batch))))
    elif leader.kind == "function loop" and state.last_call is not None:
        function, arguments = state.last_call
        larger = _repeated(arguments, rows=state.most_rows)
        if larger is None or _bytes(larger) > _LARGEST_BATCH_BYTES:
            return None
        once, several = _step_seconds(*(functools.partial(_called, function, given) for given in (arguments, larger)))
    elif leader.kind == "fit" and state.last_element is not None and not _computes_in_tensorflow(state, leader):
        larger = _stacked(state.last_element)
        if larger is None:
            return None
        once, several = _step_seconds(*_fit_steps(state, (state.last_element, larger)))
    else:
        return None
    return {"times_as_long": several / once, "times_larger": _TIMES_LARGER}


def _bytes(batch):
    tf = sys.modules["tensorflow"]
    return sum(int(tf.size(part)) * part.dtype.size for part in tf.nest.flatten(batch) if isinstance(part, tf.Tensor))


def _repeated(batch, rows=None):
    """``batch`` with several times the rows in its tensors (in those of ``rows`` rows); None where there is none to
    repeat."""
    tf = sys.modules["tensorflow"]
    found = []

    def repeated(part):
        if not isinstance(part, tf.Tensor) or not part.shape.rank or (rows is not None and part.shape[0] != rows):
            return part
        found.append(part)
        return tf.concat([part] * _TIMES_LARGER, 0)

    larger = tf.nest.map_structure(repeated, batch)
    return larger if found else None


def _trained(state, iterator):
    train, per_call = state.fit_model.train_function, int(getattr(state.fit_model, "steps_per_execution", 1) or 1)
    return lambda: (wait_for_step(train(iterator)), per_call)[1]


def _called(function, arguments):
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
        # The last batch of a pass has fewer rows, and after it the iterator has none: the data is begun again.
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
    """An iterator that gives ``batch`` for ever, with the element specification of the training's data: nothing is
    traced again."""
    tf = sys.modules["tensorflow"]

    def forgotten(*parts):
        given = parts[0] if len(parts) == 1 and not isinstance(batch, tuple) else parts
        return tf.nest.map_structure(
            lambda part, wanted: tf.raw_ops.PlaceholderWithDefault(input=part, shape=wanted.shape), given, spec
        )

    return iter(tf.data.Dataset.from_tensors(batch).map(forgotten).cache().repeat())


def _step_seconds(*calls):
    """Median seconds of a step of each of ``calls``, which return how many steps they made; in turn: the load of the
    machine hits all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(3):
        for call in calls:
            call()
    start = time.perf_counter()
    while True:
        for series, call in zip(times, calls):
            before = time.perf_counter()
            steps = call()
            series.append((time.perf_counter() - before) / steps)
        seconds = (time.perf_counter() - start) / len(calls)
        enough = len(times[0]) >= _MIN_REPLAYED and seconds > _REPLAY_SECONDS
        if enough or len(times[0]) >= _MAX_REPLAYED or seconds > 4 * _REPLAY_SECONDS:
            return [statistics.median(series) for series in times]


def wait_for_step(logs):
    """Read what a step returns, as Keras does after every step."""
    if hasattr(logs, "get_value"):
        logs = logs.get_value()
    wait_for(logs)


def wait_for(logs):
    """Wait until the values of ``logs`` (a dictionary of scalars, of any framework) are there."""
    for value in (logs or {}).values() if isinstance(logs, dict) else ():
        if hasattr(value, "numpy"):
            value.numpy()


def _until_quiet():
    """Wait until the input pipeline has filled its buffers: it would take processor time from the steps that follow."""
    end = time.perf_counter() + _LONGEST_WAIT
    while time.perf_counter() < end:
        before, start = os.times(), time.perf_counter()
        time.sleep(_QUIET_LOOK)
        after = os.times()
        if (after.user + after.system - before.user - before.system) / (time.perf_counter() - start) < _QUIET_SHARE:
            return


# Other ways to get a batch from Python
# ------------------------------------------------------------------------------------


class Replaying:
    """An iterator that can be told to give its last element again and again, and that counts how long its elements
    take."""

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
    """Let ``fit`` on JAX or PyTorch be fed by a :class:`Replaying`."""
    trainer = sys.modules[f"keras.src.backend.{backend}.trainer"]
    owner = trainer.JAXEpochIterator if backend == "jax" else trainer.TorchEpochIterator
    original = owner._get_iterator

    def get_iterator(self):
        return Replaying(original(self), state)

    owner._get_iterator = get_iterator


def _stacked(element):
    """A batch of JAX or PyTorch several times over; None where it has none, or gets too large."""
    leaves = [leaf for leaf in _leaves(element) if leaf is not None]
    if not leaves or not all(len(getattr(leaf, "shape", ())) and hasattr(leaf, "nbytes") for leaf in leaves):
        return None
    if sum(leaf.nbytes for leaf in leaves) * _TIMES_LARGER > _LARGEST_BATCH_BYTES:
        return None
    torch, numpy = sys.modules.get("torch"), sys.modules["numpy"]

    def stacked(part):
        if isinstance(part, dict):
            return {name: stacked(value) for name, value in part.items()}
        if isinstance(part, (list, tuple)):
            return type(part)(map(stacked, part))
        if part is None:
            return None
        return (
            torch.cat([part] * _TIMES_LARGER)
            if torch and isinstance(part, torch.Tensor)
            else numpy.concatenate([part] * _TIMES_LARGER)
        )

    return stacked(element)


def _fit_steps(state, batches):
    """Functions that make a step of ``fit`` on each of ``batches``, by the compiled functions that JAX and PyTorch
    train with."""
    model, sync = state.fit_model, state.recorder.sync
    if state.recorder.facts["backend"] == "torch":

        def trained_in_torch(batch):
            sync(model.train_function([batch]))
            return 1

        return [functools.partial(trained_in_torch, batch) for batch in batches]
    names = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")
    now = [tuple(list(model._jax_state[name]) for name in names)]

    def trained(batch):
        # A step takes the arrays of the state that it is given: they are gone afterwards.
        logs, now[0] = model.train_function(now[0], itertools.repeat(batch))
        sync(logs)
        return int(getattr(model, "steps_per_execution", 1) or 1)

    return [functools.partial(trained, batch) for batch in batches]


# Hand-written loops on PyTorch
# --------------------------------------------------------------------------------------------


def patch_torch(torch, state):
    """Count what a loop waits for its ``DataLoader``, feed its last batch again, and see where its computing begins."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    state.step_began = state.newest_batch = state.feeding = None
    recorder = state.recorder
    original = _BaseDataLoaderIter.__next__

    @functools.wraps(original)
    def next_batch(self):
        if not state.counts_here() or recorder.disabled:
            return original(self)
        if state.replaying and self is state.feeding:
            return state.last_element
        state.parts.begins_epoch = not hasattr(self, "_kerascheck_began")
        recorder.epoch_began = recorder.epoch_began or state.parts.begins_epoch
        self._kerascheck_began = True
        start = time.perf_counter()
        batch = original(self)
        state.parts.add("next", time.perf_counter() - start)
        state.newest_batch = self, batch
        return batch

    _BaseDataLoaderIter.__next__ = next_batch

    def forward(module, arguments):
        if state.step_began is None and state.counts_here():
            state.step_began = time.perf_counter()

    register_module_forward_pre_hook(forward)


def torch_stepped(key, state):
    """The optimizer of ``key`` has stepped: what began with the first forward pass since its last step is one step's
    computing."""
    leader = state.recorder.leader()
    if leader is not None and leader is not state.recorder.series.get(key):
        return
    if state.step_began is not None:
        if state.parts.waits:
            state.recorder.sync(None)
        state.parts.called(time.perf_counter() - state.step_began)
    state.step_began = None
    if state.newest_batch is not None and not state.replaying:
        # What does not feed the training, such as a validation, must not be fed to it.
        state.feeding, batch = state.newest_batch
        fed(state, batch)
        state.recorder.facts["feeder"] = ["dataloader", None, None, None]
