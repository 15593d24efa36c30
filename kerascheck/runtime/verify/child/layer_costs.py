"""Floating-point operations and bytes of each layer in a step, and the activity of the device."""

import collections
import inspect
import re

from . import graph_costs, hlo_costs
from .intervals import seconds_of, union
from .layer_scopes import owner_of
from .xplane import is_stream

_IN_LOOP = re.compile(r"/body/_\d+/")


class Costs:
    """Work in a step by owner; ``found``: the :class:`hlo_costs.Cost` of its operations, of ``times`` steps."""

    def __init__(self, found, times=1.0):
        self._by_owner: dict = {}
        for cost in found:
            owner = owner_of(cost.name)
            row = self._by_owner.setdefault(None if owner is None else owner[0], [0.0, 0.0, collections.Counter()])
            for at, amount in enumerate((cost.flops, cost.bytes)):
                row[at] = None if amount is None or row[at] is None else row[at] + amount / times
            if cost.dtype:
                row[2][cost.dtype] += cost.products

    def of(self, owners):
        """Operations, bytes and type of the products of these owners together; None if one is unknown."""
        rows = [self._by_owner[owner] for owner in owners if owner in self._by_owner]
        dtypes: collections.Counter = sum((row[2] for row in rows), collections.Counter())
        return [
            *(None if not rows or None in (column := [row[at] for row in rows]) else sum(column) for at in (0, 1)),
            dtypes.most_common(1)[0][0] if dtypes else "",
        ]

    def total(self):
        """Like :meth:`of`, for all operations."""
        return self.of(self._by_owner)


def costs(threads, programs, steps, trace_all, step):
    """The :class:`Costs` of a step.

    Args:
        threads: events of the trace by thread.
        programs: computations by program that XLA compiled.
        steps: number of traced steps.
        trace_all: traces some steps with all of their operations; returns their number and the threads.
        step: :class:`layer_trace._Step`.
    """
    if programs:
        events = [event for _, each in threads for event in each]
        return Costs(_of_programs(programs, events), steps)
    if step.graph is None:
        return Costs(())
    concrete, sizes = step.graph()
    return Costs(_of_graph(concrete, sizes, step.per_call, trace_all), step.per_call)


def _of_programs(programs, events):
    """Costs of all traced steps; a program that several threads compute counts as often as it runs."""
    for name, computations in programs.items():
        *_, entry = computations.values()
        known = {instruction.name for instruction in entry}
        runs = collections.Counter(event[3] for event in events if event[4] == name and event[3] in known)
        if not runs:
            continue
        times = min(runs.values())
        for cost in hlo_costs.costs_of(computations):
            for kind in ("flops", "bytes", "products"):
                amount = getattr(cost, kind)
                setattr(cost, kind, None if amount is None else amount * times)
            yield cost


def compiled_step(model):
    """The function of TensorFlow that ``fit`` has compiled, which Keras may wrap; None if there is none."""
    train = model.train_function
    held = [train, *inspect.getclosurevars(inspect.unwrap(train)).nonlocals.values()]
    return next((each for each in held if hasattr(each, "get_concrete_function")), None)


def _of_graph(concrete, sizes, per_call, trace_all):
    """Costs of a call of a function of TensorFlow."""
    runs = _runs_of_loops(trace_all, per_call) if graph_costs.has_loops(concrete.graph) else {}

    def runs_of(loop):
        return next((count for name, count in runs.items() if f"/{name}".endswith(f"/{loop}")), None)

    return graph_costs.costs_of(concrete, sizes, runs_of)


def _runs_of_loops(trace_all, per_call):
    """Number of times that the body of each loop runs in a call: as often as the operation that is seen most often.

    That of a loop inside another one includes all runs of the outer one.
    """
    steps, threads = trace_all()
    counted: dict = collections.defaultdict(collections.Counter)
    for _, events in threads:
        for event in events:
            inside = [found.start() for found in _IN_LOOP.finditer(event[2])]
            if inside:
                counted[_IN_LOOP.sub("/", event[2][: inside[-1]])][event[2]] += 1
    return {loop: max(names.values()) * per_call / steps for loop, names in counted.items()}


def kernels(threads, steps):
    """Facts about a GPU: kernels of a step, and the seconds in which one runs; empty without a GPU."""
    spans = [event[:2] for name, events in threads if is_stream(name) for event in events]
    return {"kernels": len(spans) / steps, "busy_seconds": seconds_of(union(spans)) / steps} if spans else {}
