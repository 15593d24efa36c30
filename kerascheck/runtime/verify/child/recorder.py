"""Counts and times the steps of a training in blocks, and stops the process when the plan is fulfilled.

A *tick* is the end of one or more training steps, reported by a probe. Ticks of different origins count separately.
Origins are the ``fit`` of a model, an optimizer used by hand, or a dataset loop. The first origin that fulfils the plan
is "the training".
"""

import collections
import os
import resource
import sys
import time

from .frames import user_stack
from .load import CpuLoad

_TICKS_TO_WATCH_LOSS = 20
_TICKS_BEFORE_PHASE = 4
PREDICTION = "prediction loop"
WEAK_KINDS = {"gradient loop": 1, PREDICTION: 2, "dataset loop": 2}
"""Bare loops, which may be an inspection before the training. A loop counts after this multiple of ``weak_after``."""
_NO_TRAINING = ("dataset loop", PREDICTION)
_FEWEST_IN_BLOCK = 3  # steps of a block that the end of a notebook's cell cuts short


class Series:
    """The steps of one origin."""

    def __init__(self, kind, name):
        self.kind = kind
        self.name = name
        self.framework = None  # framework of a hand-written loop if it is not the backend of Keras
        self.number = None  # among all trainings, in order; None for bare loops
        self.order = 0  # position among the bare loops of its kind
        self.stack = []  # [path, line, first line of the function or 0] at its first step, innermost first
        self.data_places = []  # lines that create the datasets that feed it
        self.element_spec = None  # of the tf.data iterator that fed its first step
        self.chain = []  # the datasets that build its data, output first
        self.first_iterator = 0
        self.steps = 0
        self.first = None  # time of the first tick
        self.last = None  # time of the last tick
        self.start_seconds = None  # processor time until the end of the warm-up
        self.durations = []  # (seconds, steps, starts_epoch) of every tick before and between blocks
        self.blocks = []
        self.block = None
        self.losses = []
        self.loss_steps = []  # step counts at which the losses were read
        self.unread = []  # (steps, scalar) of losses that the device may not have computed yet
        self.epoch_starts = []  # step counts at which an epoch began
        self.passes = 0  # completed passes over the tf.data iterators that fed it
        self.moments: collections.deque = collections.deque(maxlen=400)  # times of the newest ticks
        self.phase = None  # phase after the timed blocks, such as "sampled"
        self.phase_ticks = 0


class Block:
    """Consecutive steps that are timed together."""

    def __init__(self):
        self.load = CpuLoad()
        self.start = time.perf_counter()
        self.steps = 0
        self.inner_seconds = 0.0
        self.inner_steps = 0
        self.epochs = 0  # number of epochs that began in the block
        self.ticks = []


def flush():
    """Flush the standard streams, or their replacements by the script."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed, None, or an object of the script
            continue


class _Inside:
    """A part of the script whose events belong to another origin, or to no training."""

    def __init__(self, recorder):
        self._recorder = recorder

    def __enter__(self):
        self._recorder.depth += 1

    def __exit__(self, *_):
        self._recorder.depth -= 1


class Recorder:
    """Receives ticks, follows the plan, and ends the process.

    The keys of ``plan`` are the fields of ``Plan`` (``kerascheck/runtime/verify/process.py``).
    """

    def __init__(self, plan, channel):
        self._plan = plan
        self._channel = channel
        self.disabled = False
        self.failure = None  # error of a probe in passive mode, for display
        self.on_end = lambda: None  # called at the end of the measurement in passive mode
        self._chosen = None  # the training that is measured in passive mode
        self.series = {}
        self._strong = 0  # number of trainings so far, without bare loops
        self.when_warm = []  # functions to call after the warm-up of a diagnosed run
        self.at_first_tick = []  # functions that take a new series while its data and stack exist
        self.at_end = []  # diagnostics: functions that take the leading series and return a dictionary
        self.late_diagnostics = []  # diagnostics that disturb the training or may hang
        self.facts = {}  # facts from the probes; keys as in TrainingFacts (kerascheck/runtime/verify/messages.py)
        self.notes = []  # changes to the script's run: redirections, skipped validation
        self.sync = lambda value: None
        self.on_tick = lambda steps: None  # called with the number of timed steps
        self.phases = []  # (name, function of the series that starts it and returns success), after the timed blocks
        self.number = lambda scalar: scalar  # converts a scalar to its value, and waits for it
        self.iterators_so_far = lambda: 0  # number of tf.data iterators created in Python so far
        self.depth = 0  # nesting depth of parts that are ``inside``
        self.inside = _Inside(self)
        self.epoch_began = True
        self.origin = time.perf_counter()

    def found_version(self, name, version):
        """Record the version of an imported framework."""
        self.facts.setdefault("versions", {})[name] = str(version)

    def disable(self):
        """Stop measuring, in a process that the script forked."""
        self.disabled = True

    def note(self, text):
        """Record a change to the script's run, once."""
        if text not in self.notes:
            self.notes.append(text)

    def wants_loss(self, key):
        """Whether to record the loss of the next tick of ``key``."""
        series = self.series.get(key)
        if self._plan["passive"]:
            return False
        return not self.disabled and (series is None or len(series.losses) + len(series.unread) < _TICKS_TO_WATCH_LOSS)

    def tick(self, key, kind, name="", steps=1, value=None, loss=None, epoch=None, framework=None):
        """Record that ``steps`` steps of the origin ``key`` have ended.

        Args:
            value: waited for at the end of a block.
            loss: a scalar of the framework, or None.
            epoch: whether an epoch began before these steps (None: use ``epoch_began``).
            framework: the framework that computes a hand-written step.
        """
        if self.disabled:
            return
        if self._strong and kind in WEAK_KINDS and self._plan["kind"] is None and key in self.series:
            # Once a training has been seen, a bare loop cannot be the training.
            self.epoch_began = self.epoch_began and kind == PREDICTION
            return
        now = time.perf_counter()
        try:
            self._tick(now, key, kind, name, steps, value, loss, epoch, framework)
        except Exception as error:  # must not look like an error of the script
            self.fault(f"{type(error).__name__}: {error}")

    def fault(self, detail):
        """End the process because of an error in a probe; in passive mode only the measurement."""
        self.disabled = True
        if self._plan["passive"]:
            self.failure = self.failure or detail[:500]
            self.on_end()
            return
        self._channel.send(event="end", reason="fault", detail=detail[:500])
        os._exit(0)

    def _tick(self, now, key, kind, name, steps, value, loss, epoch, framework):
        series = self.series.get(key) or self._new_series(key, kind, name, framework)
        starts_epoch = self.epoch_began if epoch is None else epoch
        self.epoch_began = self.epoch_began and kind == PREDICTION
        if starts_epoch:
            series.epoch_starts.append(series.steps)
        series.steps += steps
        series.moments.append(now)
        if loss is not None and len(series.losses) + len(series.unread) < _TICKS_TO_WATCH_LOSS:
            series.unread.append((series.steps, loss))
        if series.first is None:
            series.first = now
        if series.phase is not None:
            series.phase_ticks += 1
            if series.phase_ticks < _TICKS_BEFORE_PHASE:
                return
        if series.start_seconds is None and series.steps >= self._plan["warmup_steps"]:
            used = os.times()
            series.start_seconds = used.user + used.system
        if series.block is None:
            self._tick_before_blocks(series, now, steps, value, starts_epoch)
        else:
            self._tick_in_block(series, now, steps, value, starts_epoch)

    def _new_series(self, key, kind, name, framework):
        series = Series(kind, name)
        series.framework = framework
        series.order = sum(other.kind == kind for other in self.series.values())
        self.series[key] = series
        if kind not in WEAK_KINDS:
            series.number = self._strong
            self._strong += 1
        series.stack = user_stack()
        series.first_iterator = self.iterators_so_far() - 1
        for look in self.at_first_tick:
            look(series)
        self._channel.send(
            event="training",
            kind=kind,
            number=series.number,
            order=series.order,
            stack=series.stack,
            data_places=series.data_places,
        )
        return series

    def _tick_before_blocks(self, series, now, steps, value, starts_epoch):
        if series.last is not None:
            series.durations.append((now - series.last, steps, starts_epoch))
        series.last = now
        if self._may_lead(series) and self._is_warm(series, now):
            self._chosen = series
            self.sync(value)
            series.last = time.perf_counter()
            if self._plan["diagnose"]:
                self._on_warm()
            series.block = self._next_block(series)

    def _tick_in_block(self, series, now, steps, value, starts_epoch):
        self.on_tick(steps)
        block = series.block
        duration = now - series.last
        series.last = now
        block.steps += steps
        block.epochs += bool(starts_epoch)
        if not starts_epoch:
            block.inner_seconds += duration
            block.inner_steps += steps
        block.ticks.append(duration / steps)
        if self._is_full(block, now):
            self.sync(value)
            end = time.perf_counter()
            if not starts_epoch:
                block.inner_seconds += end - now
            self._close(series, end)

    def leave_out(self, seconds):
        """Exclude the last ``seconds`` from all trainings."""
        for series in self.series.values():
            if series.last is not None:
                series.last += seconds
            if series.block is not None:
                series.block.start += seconds

    def _read_losses(self, series):
        """Read the deferred losses. Reading each in its own step would wait for the device every time."""
        for steps, scalar in series.unread:
            number = self.number(scalar)
            if number is not None:
                series.losses.append(number)
                series.loss_steps.append(steps)
        series.unread.clear()

    def _may_lead(self, series):
        if self._plan["passive"] and (self._chosen is not None or series.kind in _NO_TRAINING):
            return series is self._chosen
        if self._plan["kind"] is None and series.kind in WEAK_KINDS:
            return not self._strong and series.last - series.first > self._plan["weak_after"] * WEAK_KINDS[series.kind]
        return self._is_meant(series)

    def _is_meant(self, series):
        if self._plan["passive"]:
            # The first training that is long enough counts, not the first one.
            return series.kind not in WEAK_KINDS
        if self._plan["kind"] is not None:
            return series.kind == self._plan["kind"] and series.order == self._plan["training"]
        return series.number == self._plan["training"]

    def so_far(self):
        """The current training, or None, and the number of its steps."""
        leader = self.leader()
        return leader, 0 if leader is None else leader.steps

    def pass_ended(self, before):
        """Whether to restart a ``tf.data`` iterator that has ended; ``before`` is :meth:`so_far` at its start."""
        leader, steps = self.so_far()
        if self.disabled or leader is None or steps <= (before[1] if before[0] is leader else 0):
            return False  # validation, an inspection, or a source that can be read only once
        leader.passes += 1
        if (
            self._plan["passive"]
            or self._plan["passes"] is None
            or leader.passes < self._plan["passes"]
            or not self._is_meant(leader)
        ):
            return False
        self.note("the loop over the data was fed from the start again where the measurement needed more steps")
        self.epoch_began = True
        return True

    def is_next(self):
        """Whether the plan is about the next origin that ticks."""
        return self._plan["kind"] is None and self._strong == self._plan["training"]

    def comes_before(self, key):
        """Whether the plan is about a later training than that of ``key``, which may be about to begin."""
        series = self.series.get(key)
        number = self._strong if series is None else series.number
        return self._plan["kind"] is None and number is not None and number < self._plan["training"]

    def is_on_the_way(self):
        """Whether the plan is about predictions and none have run yet."""
        return self._plan["kind"] == PREDICTION and all(series.kind != PREDICTION for series in self.series.values())

    def _is_warm(self, series, now):
        since = now - series.first
        enough = series.steps >= self._plan["warmup_steps"] and since >= self._plan["warmup_seconds"]
        return enough or (series.steps >= 2 and since >= self._plan["warmup_limit"])

    def _is_full(self, block, now):
        if self._plan["block_steps"]:
            return block.steps >= self._plan["block_steps"]
        return now - block.start >= self._plan["block_seconds"]

    def _next_block(self, series):
        if self._plan["in_turn"]:
            self._channel.send(event="ready")
            if not self._channel.wait():
                self.finish(reason="done", detail="", leader=series)
        block = Block()
        series.last = block.start
        return block

    def _close(self, series, end):
        self._report_block(series, end)
        if len(series.blocks) >= self._plan["blocks"] or self._is_late(series):
            self._next_phase(series)
            return
        series.block = self._next_block(series)

    def _report_block(self, series, end):
        block = series.block
        closed = {
            "steps": block.steps,
            "seconds": end - block.start,
            "inner_steps": block.inner_steps,
            "inner_seconds": block.inner_seconds,
            "epochs": block.epochs,
            "ticks": block.ticks,
            "other_load": block.load.of_others(),
            "phase": series.phase,
        }
        series.blocks.append(closed)
        self._read_losses(series)
        self._channel.send(event="block", **closed)

    def _next_phase(self, series):
        while self.phases:
            series.phase, begin = self.phases.pop(0)
            if begin(series):
                series.phase_ticks, series.block = 0, None
                return
        self.finish(reason="done", detail="", leader=series)

    def _is_late(self, series):
        if self._plan["seconds"] is None or self._plan["in_turn"] or len(series.blocks) < 2:
            return False
        return sum(block["seconds"] for block in series.blocks) > self._plan["seconds"]

    def _on_warm(self):
        while self.when_warm:
            self.when_warm.pop(0)()

    def leader(self):
        """The series that is "the training", or None; a bare loop only if there is no other series."""
        if self._plan["passive"]:
            return self._leader_of_passive()
        meant = next(filter(self._is_meant, self.series.values()), None)
        if meant is not None or self._strong or self._plan["kind"] == PREDICTION:
            return meant
        return max(self.series.values(), key=lambda series: (series.kind != "dataset loop", series.steps), default=None)

    def _leader_of_passive(self):
        """The training that is measured, or else the one with most steps; loops over data are none."""
        loops = [series for series in self.series.values() if series.kind not in _NO_TRAINING]
        return self._chosen or max(loops, key=lambda series: (self._is_meant(series), series.steps), default=None)

    def finish(self, reason, leader=None, **end):
        """Send the report and end the process immediately; in passive mode end only the measurement.

        Nothing of the script runs afterwards: no ``finally`` block, no exit handler, no ``on_train_end``. Each could
        write files too early.
        """
        try:
            self._finish(reason, leader, end)
        except Exception as error:  # must not look like an error of the script
            self.fault(f"{type(error).__name__}: {error}")

    def _finish(self, reason, leader, end):
        seconds = time.perf_counter() - self.origin
        leader = leader or self.leader()
        message = {"event": "end", "reason": reason, "seconds": seconds, "notes": self.notes, **end}
        message["trainings"] = self._strong or int(leader is not None)
        if leader is not None:
            if self._plan["passive"] and leader.block is not None and leader.block.steps >= _FEWEST_IN_BLOCK:
                self._report_block(leader, leader.last)
            self._read_losses(leader)
            facts: dict = {}
            for look in self.at_end:
                facts |= look(leader) or {}
            message["facts"] = facts
            message |= {
                "kind": leader.kind,
                "name": leader.name,
                "order": leader.order if leader.number is None else leader.number,
                "steps": leader.steps,
                "passes": leader.passes,
                "first_step_at": leader.first - self.origin,
                "start_seconds": leader.start_seconds,
                "durations": leader.durations[:2000],
                "losses": leader.losses,
                "loss_steps": leader.loss_steps,
                "epoch_starts": leader.epoch_starts[:200],
                "stack": leader.stack,
                "data_places": leader.data_places,
            }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        message["host_peak_bytes"] = peak if sys.platform == "darwin" else peak * 1024
        if self._plan["passive"]:
            self.disabled = True
            self._channel.send(**message, pending=[])
            self.on_end()
            return
        late_diagnostics = self.late_diagnostics if leader is not None else []
        self._channel.send(**message, pending=[_name(look) for look in late_diagnostics])
        if late_diagnostics:
            # Late diagnostics may hang, for example on data that cannot restart; the report is already sent. Their
            # loops over data do not count as training.
            self.disabled = True
            for done, look in enumerate(late_diagnostics, 1):
                facts = look(leader) or {}
                self._channel.send(event="more", facts=facts, pending=[_name(each) for each in late_diagnostics[done:]])
        flush()
        os._exit(0)


def _name(look):
    """Name of a diagnostic, also of one inside ``functools.partial``."""
    found = (*getattr(look, "args", ()), getattr(look, "func", look))
    return next(each.__name__ for each in found if hasattr(each, "__name__"))
