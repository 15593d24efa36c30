"""Seconds of the parts of a step, measured while the training runs."""

import copy
import functools
import itertools
import statistics
import sys

from . import by_dataset, clock, diagnose, larger_batch, replay, validation
from .load import CpuLoad
from .sampler import Sampler, watch_autograph

_FEWEST_WAITED = 5  # steps; with fewer, calls followed by a wait, or the blocks alone, do not count
_ENOUGH_WAITED = 0.5  # seconds of calls followed by a wait; long steps need fewer of them
_HOTTEST = 40  # maximum lines sent
_LONGEST_SAMPLING = 10.0  # seconds, in passive mode


class Parts:
    """Seconds of the parts of steps since the end of the warm-up."""

    def __init__(self, state):
        self._state = state
        self.running = False
        self.begins_epoch = False  # whether the current step is the first of an epoch, which is excluded
        self.seconds = dict.fromkeys(("call", "callbacks", "next", "predict", "fit"), 0.0)
        self._warming_up = {"call": 0.0, "callbacks": 0.0}  # used if the training ends during the warm-up
        self._warm_up_steps = 0
        self._load = CpuLoad()
        self.predictions = {}  # seconds of predict calls by (path, line) of the script
        self.sampler = None
        self.origins = {}
        self.steps = 0
        self._traces_so_far = None
        self._calls: dict[bool, list[float]] = {
            True: [],
            False: [],
        }  # seconds of calls that traced a graph, and of the other calls
        self.waits = False  # whether to wait for the device after each call
        self._waited = {"call": 0.0, "callbacks": 0.0}
        self._waited_calls = []  # seconds of the calls of each step
        self._waited_callbacks = []
        self.between_epochs = []  # seconds of callbacks between epochs
        self._at_tick = {}  # in passive mode: seconds at the end of the newest step; code after the loop is no part
        self.compiled = None  # in passive mode: compilations at that moment

    def add(self, part, seconds):
        """Add ``seconds`` to ``part``."""
        if self.running and not self.begins_epoch:
            self.seconds[part] += seconds
        elif self.waits and part in self._waited:
            self._waited[part] += seconds
        elif not self.begins_epoch and part in self._warming_up:
            self._warming_up[part] += seconds

    def called(self, seconds):
        """Record a call of a step, and whether it traced graphs."""
        self.add("call", seconds)
        if not self.running and not self.waits and not self.begins_epoch:
            self._warm_up_steps += replay.steps_per_call(self._state.fit_model)
        if not self.running or self.begins_epoch:
            return
        so_far = traces(self._state)
        self._calls[so_far != self._traces_so_far].append(seconds)
        self._traces_so_far = so_far

    def ticked(self, steps):
        """Record the end of ``steps`` steps."""
        if self.running and not self.begins_epoch:
            self.steps += steps
            if self._state.is_passive:
                self._keep()
        elif self.waits:
            self._waited_calls.append(self._waited["call"] / steps)
            self._waited_callbacks.append(self._waited["callbacks"] / steps)
            self._waited = dict.fromkeys(self._waited, 0.0)

    def _keep(self):
        self._at_tick = dict(self.seconds)
        compiled = getattr(self._state, "compiled", None)
        if compiled is not None and (self.compiled is None or self.compiled["count"] != compiled["count"]):
            self.compiled = copy.deepcopy(compiled)

    def forget_unfinished(self):
        """Drop the times since the end of the newest step, in passive mode."""
        self.seconds |= self._at_tick

    def predicted(self, place, seconds):
        """Record a call of ``predict`` between two steps."""
        self.add("predict", seconds)
        if self.running and place is not None:
            self.predictions[place] = self.predictions.get(place, 0.0) + seconds

    def forget_traces(self):
        """Exclude the graphs traced so far from the next step."""
        self._traces_so_far = traces(self._state)

    def epoch_called_back(self, seconds, *, ends):
        """Record the callbacks at the end of an epoch, or at the start of the next one."""
        if ends:
            self.between_epochs.append(seconds)
        elif self.between_epochs:
            self.between_epochs[-1] += seconds

    def per_step(self):
        """Seconds of each part per step; asynchronous calls include the wait for the device."""
        found = {name: seconds / max(1, self.steps) for name, seconds in self.seconds.items()}
        if self.is_short:
            steps = self.steps + self._warm_up_steps
            found |= {name: (self.seconds[name] + early) / steps for name, early in self._warming_up.items()}
        calls = self._waited_calls
        if len(calls) >= _FEWEST_WAITED or (len(calls) > 1 and sum(calls) >= _ENOUGH_WAITED):
            found["call"] = statistics.median(calls)
            found["callbacks"] = min(found["callbacks"], statistics.fmean(self._waited_callbacks[1:]))
        return found

    def start(self):
        """Start counting after the warm-up."""
        self._traces_so_far = traces(self._state)
        clock.forget_compiled_by_torch()
        self.running = True

    def stop(self):
        """Stop counting after the timed blocks."""
        self.running = False

    @property
    def is_short(self):
        """Whether the training ended so early that its warm-up steps count too."""
        return self.steps < _FEWEST_WAITED and self._warm_up_steps > 0

    def others_meanwhile(self):
        """Share of the machine that other programs used since the script began; None if the training is not short."""
        return self._load.of_others() if self.is_short else None

    @property
    def traced(self):
        """Number of calls that traced a graph."""
        return len(self._calls[True])

    def tracing(self):
        """Extra seconds of the calls that traced graphs, and whether every call traced one."""
        traced, others = self._calls[True], self._calls[False]
        typical = statistics.median(others) if others else 0.0
        return sum(max(0.0, seconds - typical) for seconds in traced), bool(traced) and not others


def install(state):
    """Measure parts and sample if the plan sets ``parts``."""
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
    # Sampling slows Python down, so it has a separate phase.
    recorder.phases = [("sampled", functools.partial(start_sampling, state))]
    if not state.is_passive:
        recorder.phases.append(("replayed", functools.partial(start_replay, state)))
    recorder.on_tick = state.parts.ticked
    recorder.at_end.append(functools.partial(found, state))
    recorder.late_diagnostics.append(functools.partial(diagnose.guarded, replay.without_input, state))


def install_last(state):
    """Add the slowest diagnostics after all others."""
    if state.run["plan"]["parts"]:
        for look in (replay.inside_loop, by_dataset.by_dataset, larger_batch.larger_batch):
            state.recorder.late_diagnostics.append(functools.partial(diagnose.guarded, look, state))


def patch_tensorflow(tf, state):
    """Map lines of AutoGraph's generated functions back to those of the script."""
    watch_autograph(state.parts.origins, state.patches)


def traces(state):
    """Number of graphs traced so far; None if unknown."""
    if getattr(state, "traced", None) is not None:
        return state.traced
    functions = list(getattr(state, "functions", ()))
    return sum(function.experimental_get_tracing_count() or 0 for function in functions) if functions else None


def start_sampling(state, leader):
    """Begin the phase "sampled"; always returns True."""
    state.parts.stop()
    # On TensorFlow, Keras and hand-written loops read the results of each step. On other backends, waiting shows the
    # time of a step but removes the overlap of steps.
    state.parts.waits = not diagnose.computes_in_tensorflow(state, leader)
    # A step of a hand-written PyTorch loop begins with the first forward pass, in lines of the script.
    in_step = (lambda: state.step_began is not None) if leader.framework == "torch" else None
    # In a notebook, the loop may end before the next step.
    seconds = _LONGEST_SAMPLING if state.is_passive else None
    state.parts.sampler = Sampler(state.main_thread, state.parts.origins, in_step=in_step, seconds=seconds)
    state.parts.sampler.start()
    return True


def start_replay(state, leader):
    """Begin the phase "replayed", which repeats the last batch; returns whether Python feeds the loop."""
    state.parts.sampler.stop()
    state.parts.waits = False
    if state.last_element is None:
        return False
    state.replaying = True
    return True


def found(state, leader):
    """Return the counted and sampled facts."""
    parts = state.parts
    parts.stop()
    parts.forget_unfinished()
    # Late diagnostics create their own iterators.
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
        "compiled": (parts.compiled if state.is_passive else getattr(state, "compiled", None))
        or clock.compiled_by_torch(),
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
            "main": segments(latest),
            "steps": [moment for moment in leader.moments if latest and moment >= latest[0][0]],
        },
        "batch_size": state.most_rows,
    }


def functions_run_eagerly():
    """Whether ``tf.config.run_functions_eagerly(True)`` is active."""
    tf = sys.modules.get("tensorflow")
    return tf is not None and tf.config.functions_run_eagerly()


def segments(looks):
    """[start, end, kind] of runs of equal samples, in seconds of the process clock."""
    found: list[list] = []
    for kind, group in itertools.groupby(looks, key=lambda look: look[1]):
        moments = [moment for moment, _ in group]
        if found:
            found[-1][1] = moments[0]
        found.append([moments[0], moments[-1], kind])
    return found
