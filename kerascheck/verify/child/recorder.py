"""Counts and times the steps of a training, in blocks, and stops the process when the plan is done.

A *tick* is the end of one or more training steps, told by a probe. Ticks of different origin (a model's ``fit``, an
optimizer used by hand, a dataset loop) are counted apart, and the first origin that fills the plan is "the training".
"""

import os
import resource
import sys
import time

_TICKS_TO_WATCH_LOSS = 20
WEAK_KINDS = ("dataset loop", "gradient loop")


class Series:
    """The steps of one origin."""

    def __init__(self, kind, name):
        self.kind = kind
        self.name = name
        self.steps = 0
        self.first = None  # time of the first tick
        self.last = None  # time of the last tick
        self.durations = []  # (seconds, steps, starts_epoch) of every tick before and between blocks
        self.blocks = []
        self.block = None
        self.losses = []
        self.epoch_starts = []  # step counts at which an epoch began


class Block:
    """Consecutive steps that are timed together."""

    def __init__(self):
        self.load = CpuLoad()
        self.start = time.perf_counter()
        self.steps = 0
        self.inner_seconds = 0.0
        self.inner_steps = 0
        self.ticks = []


class CpuLoad:
    """How much of the machine other programs use, from a first look to a second one (Linux; None elsewhere)."""

    def __init__(self):
        self._start = self._look()

    @staticmethod
    def _look():
        try:
            with open("/proc/stat", "rb") as stream:
                user, nice, system, idle, iowait, *rest = map(int, stream.readline().split()[1:])
        except (OSError, ValueError):
            return None
        used = os.times()
        return user + nice + system + sum(rest[:3]), idle + iowait, (used.user + used.system) * os.sysconf("SC_CLK_TCK")

    def of_others(self):
        """The share of all processors' time that went to others, 0 to 1."""
        now = self._look()
        if self._start is None or now is None:
            return None
        busy, idle, own = (b - a for a, b in zip(self._start, now))
        return max(0.0, min(1.0, (busy - own) / (busy + idle))) if busy + idle else None


class Recorder:
    """Receives ticks; knows the plan; ends the process.

    ``plan`` has the keys ``warmup_steps``, ``warmup_seconds`` (whichever comes last ends the warm-up),
    ``warmup_limit`` (seconds after which two steps suffice), ``block_steps`` (0: as many as fill ``block_seconds``),
    ``block_seconds``, ``blocks``, ``in_turn`` (wait for the parent's order before every block), ``kind`` (the
    origin expected; None: any but bare dataset loops) and ``diagnose``.
    """

    def __init__(self, plan, channel):
        self._plan = plan
        self._channel = channel
        self.disabled = False
        self.series = {}
        self.at_end = []  # diagnostics: functions of the leading series that return a dictionary
        self.facts = {}  # what probes noticed about the training
        self.notes = []  # what was done to the script's run: redirections, muted validation
        self.sync = lambda value: None
        self.depth = 0  # of training calls that tick by themselves
        self.epoch_began = True
        self.origin = time.perf_counter()

    def disable(self):
        """Measure nothing any more (in a process that the script forked)."""
        self.disabled = True

    def note(self, text):
        """Remember, once, what was changed about the script's run."""
        if text not in self.notes:
            self.notes.append(text)

    def wants_loss(self, key):
        """Whether the loss of the next tick of ``key`` is still to be written down."""
        series = self.series.get(key)
        return not self.disabled and (series is None or len(series.losses) < _TICKS_TO_WATCH_LOSS)

    def tick(self, key, kind, name="", steps=1, value=None, loss=None, epoch=None):
        """``steps`` steps of the origin ``key`` have ended.

        ``value`` is what to wait for at the end of a block, ``loss`` a number or None, ``epoch`` whether an epoch
        began before these steps (None: as told by ``epoch_began``).
        """
        if self.disabled:
            return
        now = time.perf_counter()
        series = self.series.get(key)
        if series is None:
            series = self.series[key] = Series(kind, name)
            self._channel.send(event="training", kind=kind)
        starts_epoch = self.epoch_began if epoch is None else epoch
        self.epoch_began = False
        if starts_epoch:
            series.epoch_starts.append(series.steps)
        series.steps += steps
        if loss is not None and len(series.losses) < _TICKS_TO_WATCH_LOSS:
            series.losses.append(loss)
        if series.first is None:
            series.first = now
        block = series.block
        if block is None:
            if series.last is not None:
                series.durations.append((now - series.last, steps, starts_epoch))
            series.last = now
            if self._may_lead(series) and self._is_warm(series, now):
                self.sync(value)
                series.last = time.perf_counter()
                if self._plan["diagnose"]:
                    self._on_warm()
                series.block = self._next_block(series)
            return
        duration = now - series.last
        series.last = now
        block.steps += steps
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

    def _may_lead(self, series):
        expected = self._plan["kind"]
        if expected is not None:
            return series.kind == expected
        # A bare loop over a dataset may be an inspection before the training.
        return series.kind not in WEAK_KINDS

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
            self._channel.send(event="ready", blocks=len(series.blocks))
            self._channel.wait()
        block = Block()
        series.last = block.start
        return block

    def _close(self, series, end):
        block = series.block
        closed = {
            "steps": block.steps,
            "seconds": end - block.start,
            "inner_steps": block.inner_steps,
            "inner_seconds": block.inner_seconds,
            "ticks": block.ticks,
            "others": block.load.of_others(),
        }
        series.blocks.append(closed)
        self._channel.send(event="block", index=len(series.blocks) - 1, **closed)
        if len(series.blocks) >= self._plan["blocks"]:
            self.finish(reason="done", detail="", leader=series)
        series.block = self._next_block(series)

    def _on_warm(self):
        for start in self.facts.pop("on_warm", ()):
            start()

    def leader(self):
        """The series that is "the training": the most steps, bare dataset loops last; None without a step."""
        ranked = sorted(self.series.values(), key=lambda s: (s.kind not in WEAK_KINDS, s.steps))
        return ranked[-1] if ranked else None

    def finish(self, reason, leader=None, **end):
        """Tell the parent all there is to know, and end the process at once.

        Nothing of the script runs after this: no ``finally`` block, no exit handler, no callback's
        ``on_train_end``, each of which could write files that the script would not have written by now.
        """
        seconds = time.perf_counter() - self.origin
        leader = leader or self.leader()
        message = {"event": "end", "reason": reason, "seconds": seconds, "notes": self.notes, **end}
        if leader is not None:
            message |= {
                "kind": leader.kind,
                "name": leader.name,
                "steps": leader.steps,
                "first_step_at": leader.first - self.origin,
                "training_seconds": leader.last - leader.first,
                "durations": leader.durations[:2000],
                "losses": leader.losses,
                "epoch_starts": leader.epoch_starts[:200],
            }
            facts = {}
            for look in self.at_end:
                try:
                    facts |= look(leader) or {}
                except Exception as error:  # a diagnosis that fails must not take the measurement with it
                    facts.setdefault("failed", []).append(f"{look.__name__}: {type(error).__name__}: {error}"[:300])
            message["facts"] = facts
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        message["host_peak_bytes"] = peak if sys.platform == "darwin" else peak * 1024
        self._channel.send(**message)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
