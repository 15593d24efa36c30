"""The stages of the ``tf.data`` pipelines in a recorded profile, and how long steps wait for each.

TensorFlow names the events of an iterator by its path from the output, such as
"Iterator::Root::Prefetch::FlatMap[0]::Generator". A stage that runs ahead calls its input on another thread.
"""

import collections
import re

from .intervals import covered, minus, seconds_of, union

_EVENT = "Iterator::Root"
_NUMBER = re.compile(r"\[\d+\]")  # of an input, or of the pass over it
_ROOT = ("Root",)
_ONLY_WAIT = ("Root", "Prefetch")  # they compute nothing
_SATURATED = 0.8  # share of the waiting time; a stage that runs ahead waits for an input that runs as long
_MOSTLY = 0.5  # the same share for an input of stages that compute nothing


def stages(host, waiting, steps):
    """The stages that steps wait for, and the names of all stages.

    Args:
        host: (name, events) of each thread.
        waiting: times in which steps wait for data, and do nothing else.
        steps: number of steps.
    """
    threads = _Threads(host)
    return {
        "stages": [
            [path[-1], seconds / steps, threads.parallelism[path]] for path, seconds in _waited_for(threads, waiting)
        ],
        "stage_names": [path[-1] for path in threads.spans],
    }


class _Threads:
    """Times of each stage, by its path."""

    def __init__(self, host):
        self.spans: dict = collections.defaultdict(list)
        self.own: dict = collections.defaultdict(list)  # without the stages nested in it on its thread
        self.parallelism: dict = collections.defaultdict(lambda: 1.0)
        self._outermost: dict = collections.Counter()  # number of events that are nested in no stage
        for _, events in host:
            self._add(sorted((e for e in events if e.name.startswith(_EVENT)), key=lambda e: (e.start, -e.end)))
        self.heads = {path for path, spans in self.spans.items() if 2 * self._outermost[path] > len(spans)}

    def _add(self, events):
        open_: list = []  # (event, path, spans nested in it)
        for event in [*events, None]:
            while open_ and (event is None or open_[-1][0].end <= event.start):
                done, path, nested = open_.pop()
                self.own[path] += minus([(done.start, done.end)], union(nested))
            if event is None:
                return
            path = tuple(_NUMBER.sub("", event.name).split("::")[1:])
            self.spans[path].append((event.start, event.end))
            given = event.stats.get("parallelism")
            if isinstance(given, (int, float)):
                self.parallelism[path] = max(self.parallelism[path], float(given))
            if open_:
                open_[-1][2].append((event.start, event.end))
            else:
                self._outermost[path] += 1
            open_.append((event, path, []))

    def head(self, path):
        """The outermost stage on the thread that runs a stage."""
        while path not in self.heads and len(path) > 1:
            path = path[:-1]
        return path


def _waited_for(threads, waiting):
    """(Path, seconds) of the stages on the thread that all others wait for, longest first."""
    whole = seconds_of(waiting)
    head = _ROOT
    while True:
        own = {
            path: seconds_of(covered(union(spans), waiting))
            for path, spans in threads.own.items()
            if threads.head(path) == head
        }
        slowest = max(own, key=own.__getitem__, default=_ROOT)
        inputs = {
            path: seconds_of(covered(union(threads.spans[path]), waiting))
            for path in threads.heads
            if path != head and threads.head(path[:-1]) == head
        }
        busiest = max(inputs, key=inputs.__getitem__, default=None)
        limit = _MOSTLY if slowest[-1] in _ONLY_WAIT else _SATURATED
        if busiest is None or not whole or inputs[busiest] < limit * whole:
            break
        head = busiest
    if slowest[-1] in _ONLY_WAIT:
        return []
    found = [(path, spent) for path, spent in own.items() if spent and path[-1] not in _ONLY_WAIT]
    return sorted(found, key=lambda each: -each[1])
