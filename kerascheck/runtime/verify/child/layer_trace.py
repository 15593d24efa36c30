"""Seconds of each layer, the loss, the metrics and the optimizer in a step, from a trace of the framework's profiler."""

import collections
import functools
import glob
import inspect
import itertools
import os
import re
import shutil
import sys
import tempfile
import time

from . import diagnose, gpu_trace, hlo, layer_costs, xplane
from .larger_batch import fit_steps
from .layer_scopes import owner_of, owners_of
from .replay import again, trained_on

_SECONDS = 1.0  # seconds of traced steps
_FEWEST, _MOST = 3, 20  # traced steps
_WARM_UP = 2  # steps
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
    """Add this diagnostic if the plan sets ``parts``; it comes last."""
    if state.run["plan"]["parts"]:
        state.recorder.late_diagnostics.append(functools.partial(diagnose.guarded, layer_trace, state))


def layer_trace(state, leader):
    """Seconds per step of each owner's operations, in a few steps of ``fit`` on one batch."""
    step = _step(state, leader)
    if step is None or not getattr(state, "owners", None):
        return None
    begun = time.perf_counter()
    for _ in range(_WARM_UP):
        step()
    on_jax = state.recorder.facts["backend"] == "jax"
    steps, seconds, planes, programs = _trace(step, on_jax)
    threads = xplane.threads_of(planes)
    names = {name: hlo.names_of(each) for name, each in programs.items()}
    found = attributed(threads, names)
    costs, failure = _costs(state, threads, programs, steps, step, on_jax)
    total = costs.total()
    return {
        "step_trace": {
            **rows(state.owners, found, steps, costs),
            **layer_costs.kernels(threads, steps),
            "gpus": gpu_trace.views(planes, steps),
            "total_flops": total[0],
            "total_bytes": total[1],
            "layers": layers(state.owners, found[0], parents_of(threads, names), steps, costs),
            "steps": steps,
            "seconds_per_step": seconds / steps,
            "overhead_seconds": time.perf_counter() - begun,
        },
        **failure,
    }


def _trace(step, on_jax, seconds=_SECONDS, level=2):
    """Number of traced steps, their seconds, the planes of the trace, and the programs that XLA compiled."""
    folder = tempfile.mkdtemp(prefix="kerascheck-trace-")
    try:
        steps, taken = _traced(step, folder, on_jax, seconds, level)
        (path,) = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)[:1]
        return steps, taken, *(xplane.read_by_jax(path) if on_jax else xplane.read_by_tensorflow(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _costs(state, threads, programs, steps, step, on_jax):
    """The work of each layer, and why it is unknown as a fact."""

    def trace_all():
        steps, _, planes, _ = _trace(step, on_jax, 0.0, level=3)
        return steps, xplane.threads_of(planes)

    try:
        return layer_costs.costs(state, threads, programs, steps, trace_all), {}
    except Exception as error:  # an unusual model: its times are known all the same
        why = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return layer_costs.Costs(()), {f"{layer_costs.costs.__name__}_failed": why}


def _step(state, leader):
    """A function that runs a ``fit`` step on one batch, and returns the number of steps; None if there is none."""
    if leader.kind != "fit":
        return None
    batch, spec = getattr(state, "batch", (None, None))
    if batch is not None:
        return _with_fresh_kernels(state.fit_model, again(batch, spec)) or trained_on(state, again(batch, spec))
    if state.recorder.facts.get("backend") != "jax" or state.last_element is None:
        return None
    return fit_steps(state, (state.last_element,))[0] if state.fit_model.jit_compile else None


def _with_fresh_kernels(model, iterator):
    """A function that runs a step of TensorFlow with new kernels, without tracing Python; None under XLA.

    TensorFlow does not trace kernels that were fast in the steps before.
    """
    tf, train = sys.modules["tensorflow"], model.train_function
    held = [train, *inspect.getclosurevars(inspect.unwrap(train)).nonlocals.values()]
    compiled = next((each for each in held if hasattr(each, "get_concrete_function")), None)
    if compiled is None or model.jit_compile:
        return None
    fresh = tf.function(lambda batches: tf.nest.map_structure(tf.identity, _values(compiled(batches))), autograph=False)
    per_call = int(getattr(model, "steps_per_execution", 1) or 1)
    return lambda: ([part.numpy() for part in tf.nest.flatten(fresh(iterator))[:1]], per_call)[1]


def _values(results):
    """The results of a step, which may be an optional value of TensorFlow."""
    return results.get_value() if hasattr(results, "get_value") else results


def _traced(step, folder, on_jax, longest, level):
    """Number of steps and seconds of the steps that the profiler records in ``folder``.

    Args:
        step: runs a step.
        folder: of the trace.
        on_jax: whether JAX computes.
        longest: seconds after which no further step begins.
        level: detail of TensorFlow's trace; 3 includes operations that take almost no time.
    """
    if on_jax:
        profiler = sys.modules["jax"].profiler
        options = profiler.ProfileOptions()
        options.python_tracer_level = 0
        profiler.start_trace(folder, profiler_options=options)
        stop = profiler.stop_trace
    else:
        profiler = sys.modules["tensorflow"].profiler.experimental
        profiler.start(folder, options=profiler.ProfilerOptions(host_tracer_level=level, python_tracer_level=0))
        stop = profiler.stop
    steps, start = 0, time.perf_counter()
    try:
        while steps < _FEWEST or (steps < _MOST and time.perf_counter() - start < longest):
            steps += step()
        return steps, time.perf_counter() - start
    finally:
        stop()


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
    wanted = [event for event in events if event[3] is not None or is_operation(event[2])]
    stack: list = []
    for event in sorted(wanted, key=lambda each: (each[0], -each[1])):
        while stack and stack[-1][1][1] <= event[0]:
            yield tuple(stack.pop())
        if stack:
            stack[-1][0] -= min(event[1], stack[-1][1][1]) - event[0]
        stack.append([event[1] - event[0], event])
    while stack:
        yield tuple(stack.pop())


def is_operation(name):
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
