"""Seconds of each layer, the loss, the metrics and the optimizer in a step, from a trace of the framework's profiler."""

import collections
import functools
import itertools
import re
import shutil
import sys
import tempfile
import time

from . import diagnose, gpu_trace, hlo, layer_costs, profiler, torch_trace, xplane
from .intervals import seconds_of, union
from .jax_steps import jax_step_of
from .larger_batch import fit_steps
from .layer_scopes import owner_of, owners_of
from .replay import again, called_with, steps_per_call, trained_on

_SECONDS = 1.0  # seconds of traced steps
_FEWEST, _MOST = 3, 20  # traced steps
_SECONDS_ALONE = 0.5  # seconds of steps without the profiler
_WARM_UP = 2  # steps
_LONG = 3.0  # seconds of a step; one such step is traced after one other, since the parent waits at most 30 s
_MOST_ROWS = 40  # rows sent
_MOST_LAYERS = 400  # layers sent
_MANY = 0.9  # share of a fused instruction's time that one owner must have for it to count as its own

_OPERATION = re.compile(r"^[\w.>/-]+:(\w+)$")
_WAITS = (
    "IteratorGetNext", "StatefulPartitionedCall", "PartitionedCall", "XlaLaunch", "_XlaRun", "_XlaCompile", "While",
    "StatelessWhile", "If", "StatelessIf",
)  # fmt: skip
"""Operations of TensorFlow that wait for others, or for the input."""


def install(state):
    """Add this diagnostic if the plan sets ``parts``."""
    if state.run["plan"]["parts"]:
        state.recorder.late_diagnostics.append(functools.partial(diagnose.guarded, layer_trace, state))


def layer_trace(state, leader):
    """Seconds per step of each owner's operations, in a few steps on one batch."""
    step = _step(state, leader)
    if step is None or not getattr(state, "owners", None):
        return None
    begun = time.perf_counter()
    is_long = _warm_up(step)
    backend = leader.framework or state.recorder.facts["backend"]
    trace = _trace(step, state, backend, 0.0 if is_long else _SECONDS, 1 if is_long else _FEWEST)
    # Afterwards, since TensorFlow does not trace kernels that were fast in the steps before.
    steps, seconds = _repeated(step.run, 0.0 if is_long else _SECONDS_ALONE, 1)
    names = {name: hlo.names_of(each) for name, each in trace.programs.items()}
    found = attributed(trace.threads, names)
    costs, failure = _costs(state, trace, step, backend)
    total = costs.total()
    return {
        "step_trace": {
            **rows(state.owners, found, trace.steps, costs),
            "busy_seconds": seconds_of(busy(trace.threads)) / trace.steps if trace.has_starts else None,
            **layer_costs.kernels(trace.threads, trace.steps),
            "gpus": gpu_trace.views(trace.planes, trace.steps),
            "counted": backend != "torch",
            "total_flops": total[0],
            "total_bytes": total[1],
            "layers": layers(state.owners, found[0], parents_of(trace.threads, names), trace.steps, costs),
            "steps": trace.steps,
            "seconds_per_step": trace.seconds / trace.steps,
            "seconds_alone": seconds / steps,
            "overhead_seconds": time.perf_counter() - begun,
        },
        **failure,
    }


class _Trace:
    """Operations of some steps."""

    def __init__(self, steps, seconds, threads, planes=(), programs=None, has_starts=True):
        self.steps = steps
        self.seconds = seconds
        self.threads = threads  # see xplane.threads_of
        self.planes = planes  # see xplane.read_by_tensorflow
        self.programs = programs or {}
        self.has_starts = has_starts  # whether the starts of operations are known


def _warm_up(step):
    """Run steps before the trace; returns whether they are long."""
    start = time.perf_counter()
    for _ in range(_WARM_UP):
        step.run()
        if time.perf_counter() - start > _LONG:
            return True
    return False


def _trace(step, state, backend, seconds, fewest, level=2):
    """Trace at least ``fewest`` steps, and further ones for ``seconds``; see :func:`profiler.start` for ``level``."""
    if backend == "torch":
        steps, taken, threads, lacks_starts = torch_trace.traced(lambda: _repeated(step.run, seconds, fewest), state)
        return _Trace(steps, taken, threads, has_starts=not lacks_starts)
    folder = tempfile.mkdtemp(prefix="kerascheck-trace-")
    try:
        stop = profiler.start(backend, folder, level)
        try:
            steps, taken = _repeated(step.run, seconds, fewest)
        finally:
            stop()
        path = profiler.written(folder)
        planes, programs = xplane.read_by_jax(path) if backend == "jax" else xplane.read_by_tensorflow(path)
        return _Trace(steps, taken, xplane.threads_of(planes), planes, programs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _costs(state, trace, step, backend):
    """The work of each layer, and why it is unknown as a fact."""
    if backend == "torch":
        return layer_costs.Costs(()), {}

    def trace_all():
        whole = _trace(step, state, backend, 0.0, 1, level=3)
        return whole.steps, whole.threads

    try:
        return layer_costs.costs(trace.threads, trace.programs, trace.steps, trace_all, step), {}
    except Exception as error:  # an unusual model: its times are known all the same
        why = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return layer_costs.Costs(()), {f"{layer_costs.costs.__name__}_failed": why}


class _Step:
    """A step of the training that can be repeated.

    Args:
        call: runs it.
        per_call: number of steps that a call makes.
        graph: returns the concrete function of TensorFlow that a call runs, and the (dtype, shape) of each tensor of the
            batch; None if another framework computes.
    """

    def __init__(self, call, per_call=1, graph=None):
        self._call = call
        self.per_call = per_call
        self.graph = graph

    def run(self):
        """Run it; returns the number of steps."""
        self._call()
        return self.per_call


def _step(state, leader):
    """The step as a :class:`_Step`; None if it cannot be repeated."""
    if leader.kind == "function loop":
        return _of_jax_loop(state, leader) if leader.framework == "jax" else _of_function(state, leader)
    if leader.kind != "fit":
        return None
    batch, spec = getattr(state, "batch", (None, None))
    if batch is not None:
        return _of_fit(state, batch, spec)
    backend = state.recorder.facts.get("backend")
    if backend not in ("jax", "torch") or state.last_element is None:
        return None
    # XLA's programs name the operations of JAX; torch.compile's kernels name none.
    if bool(state.fit_model.jit_compile) != (backend == "jax"):
        return None
    return _Step(fit_steps(state, (state.last_element,))[0], steps_per_call(state.fit_model))


def _of_jax_loop(state, leader):
    """A step of a hand-written loop on JAX."""
    step = jax_step_of(state, leader)
    return _Step(lambda: step.call({})) if step is not None and step.is_complete else None


def _of_function(state, leader):
    """A step of a hand-written loop: a call of its ``tf.function``."""
    if state.last_call is None or not diagnose.computes_in_tensorflow(state, leader):
        return None
    function, (args, kwargs) = state.last_call
    tf = sys.modules["tensorflow"]
    parts = tf.nest.flatten((args, kwargs), expand_composites=True)
    batch = [part for part in parts if isinstance(part, tf.Tensor)]
    repeated = function if getattr(function, "_jit_compile", None) else _with_fresh_kernels(function)
    return _Step(
        functools.partial(called_with, repeated, (args, kwargs)),
        state.calls[state.function_keys.get(function)][-1],
        lambda: (function.get_concrete_function(*args, **kwargs), _sizes(batch)),
    )


def _of_fit(state, batch, spec):
    """A step of ``fit`` on TensorFlow."""
    model, tf = state.fit_model, sys.modules["tensorflow"]
    per_call = steps_per_call(model)
    compiled = layer_costs.compiled_step(model)
    if compiled is None or getattr(model, "jit_compile", None) or getattr(model, "_jit_compile", None):
        call = trained_on(state, again(batch, spec))
    else:
        call = functools.partial(called_with, _with_fresh_kernels(compiled), ((again(batch, spec),), {}))
    if compiled is None:
        return _Step(call, per_call)
    sizes = _sizes(tf.nest.flatten(batch, expand_composites=True))
    return _Step(call, per_call, lambda: (compiled.get_concrete_function(again(batch, spec)), sizes))


def _sizes(parts):
    return [(part.dtype, part.shape) for part in parts]


def _with_fresh_kernels(function):
    """A function of TensorFlow that runs ``function`` with new kernels, without tracing Python; returns its tensors.

    TensorFlow does not trace kernels that were fast in the steps before.
    """
    tf = sys.modules["tensorflow"]

    def again(*args, **kwargs):
        results = function(*args, **kwargs)
        results = results.get_value() if hasattr(results, "get_value") else results  # an optional value
        parts = tf.nest.flatten(results, expand_composites=True)
        return [tf.identity(part) for part in parts if isinstance(part, tf.Tensor)]

    return tf.function(again, autograph=False)


def _repeated(step, longest, fewest):
    """Run steps; returns their number and seconds."""
    steps, start = 0, time.perf_counter()
    while steps < fewest or (steps < _MOST and time.perf_counter() - start < longest):
        steps += step()
    return steps, time.perf_counter() - start


def attributed(threads, programs, owner_of=owner_of):
    """Nanoseconds by (position of the owner, 1 if backward else 0), or None for operations without one.

    Args:
        threads: (name, events) pairs, see :func:`xplane.read_by_tensorflow`.
        programs: shares of operations by program and instruction, see :func:`hlo.names_of`.
        owner_of: returns the key of an operation by its name.

    Returns:
        A dictionary of these, and the nanoseconds of fused instructions that several owners share.
    """
    found: dict = collections.defaultdict(float)
    fused = 0.0
    for name, events in threads:
        if name.startswith("tf_data_"):
            continue
        for seconds, (_, _, operation, instruction, program) in alone(events):
            shares: dict = collections.defaultdict(float)
            if instruction is not None:
                for part, weight in programs.get(program, {}).get(instruction) or [("", 1.0)]:
                    shares[owner_of(part)] += weight
            else:
                shares[owner_of(operation)] += 1.0
            for owner, weight in shares.items():
                found[owner] += seconds * weight
            fused += seconds * (max(shares.values()) < _MANY)
    return found, fused


def alone(events):
    """(Nanoseconds without the operations inside it, event) of each operation of a thread."""
    wanted = [event for event in events if event[3] is not None or _is_operation(event[2])]
    stack: list = []
    for event in sorted(wanted, key=lambda each: (each[0], -each[1])):
        while stack and stack[-1][1][1] <= event[0]:
            yield tuple(stack.pop())
        if stack:
            stack[-1][0] -= min(event[1], stack[-1][1][1]) - event[0]
        stack.append([event[1] - event[0], event])
    while stack:
        yield tuple(stack.pop())


def busy(threads):
    """Times in which at least one operation runs on any thread."""
    return union(
        (start, end)
        for name, events in threads
        if not name.startswith("tf_data_")
        for start, end, operation, instruction, _ in events
        if instruction is not None or _is_operation(operation)
    )


def _is_operation(name):
    found = _OPERATION.match(name)
    return found is not None and found[1] not in _WAITS


def parents_of(threads, programs):
    """Position of the owner around each owner, by the names of all operations; None for an outermost one."""
    names = {event[2] for _, events in threads for event in events}
    names.update(name for program in programs.values() for shares in program.values() for name, _ in shares)
    found: dict = {}
    for name in names:
        chain = [None, *owners_of(name)]
        for outer, inner in itertools.pairwise(chain):
            found.setdefault(inner, outer)
    return found


def layers(owners, nanoseconds, parents, steps, costs):
    """Columns of ``LayerTime`` for the parent: the longest owners and those around them, in order of creation.

    Args:
        owners: list of ``Owner``.
        nanoseconds: the first result of :func:`attributed`.
        parents: from :func:`parents_of`.
        steps: number of traced steps.
        costs: :class:`layer_costs.Costs`.
    """
    spent: dict = collections.defaultdict(float)
    for key, each in nanoseconds.items():
        if key is not None:
            spent[key[0]] += each
    kept = set()
    for owner in sorted(spent, key=spent.__getitem__, reverse=True)[:_MOST_LAYERS]:
        while owner is not None and owner not in kept:
            kept.add(owner)
            owner = parents.get(owner)
    position = {owner: at for at, owner in enumerate(sorted(kept))}
    return [
        [
            owners[each].role, owners[each].name, owners[each].kind, position.get(parents.get(each)),
            *(nanoseconds.get((each, direction), 0.0) / 1e9 / steps for direction in (0, 1)),
            owners[each].place, *costs.of([each]),
        ]
        for each in position
    ]  # fmt: skip


def rows(owners, found, steps, costs):
    """Facts for the parent: the owners of one class, role and line together, the longest first."""
    nanoseconds, fused = found
    grouped: dict = {}
    for key, spent in nanoseconds.items():
        if key is None:
            continue
        owner = owners[key[0]]
        row = grouped.setdefault((owner.role, owner.kind, owner.place, owner.maker), [owner, set(), [0.0, 0.0]])
        row[1].add(key[0])
        row[2][key[1]] += spent / 1e9 / steps
    longest = sorted(grouped.values(), key=lambda row: -sum(row[2]))
    return {
        "rows": [
            [owner.role, owner.name, owner.kind, len(members), *spent, owner.place, owner.maker, *costs.of(members)]
            for owner, members, spent in longest[:_MOST_ROWS]
        ],
        "unattributed_seconds": nanoseconds.get(None, 0.0) / 1e9 / steps,
        "fused_seconds": fused / 1e9 / steps,
        "total_seconds": sum(nanoseconds.values()) / 1e9 / steps,
    }
