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

from . import diagnose, hlo, layer_costs
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
    steps, seconds, threads, programs = _trace(step, on_jax)
    names = {name: hlo.names_of(each) for name, each in programs.items()}
    found = attributed(threads, names)
    costs, failure = _costs(state, threads, programs, steps, step, on_jax)
    total = costs.total()
    return {
        "step_trace": {
            **rows(state.owners, found, steps, costs),
            **layer_costs.kernels(threads, steps),
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
    """Number of traced steps, their seconds, the events by thread, and the programs that XLA compiled."""
    folder = tempfile.mkdtemp(prefix="kerascheck-trace-")
    try:
        steps, taken = _traced(step, folder, on_jax, seconds, level)
        (path,) = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)[:1]
        return steps, taken, *(_read_by_jax(path) if on_jax else _read_by_tensorflow(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _costs(state, threads, programs, steps, step, on_jax):
    """The work of each layer, and why it is unknown as a fact."""

    def trace_all():
        steps, _, threads, _ = _trace(step, on_jax, 0.0, level=3)
        return steps, threads

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


def _read_by_tensorflow(path):
    """Events by thread, and the computations of each program that XLA compiled.

    An event is (start, end, name, instruction of XLA or None, program or None), in nanoseconds.
    """
    from tensorflow.compiler.xla.service import hlo_pb2
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with open(path, "rb") as stream:
        space = xplane_pb2.XSpace.FromString(stream.read())
    threads, programs = [], {}
    for plane in _planes(space.planes):
        names = {key: each.name for key, each in plane.event_metadata.items()}
        wanted = {key: each.name for key, each in plane.stat_metadata.items()}
        for line in plane.lines:
            events = []
            for event in line.events:
                stats = {
                    wanted[stat.metadata_id]: stat.str_value or wanted.get(stat.ref_value, "")
                    for stat in event.stats
                    if wanted[stat.metadata_id] in ("hlo_op", "hlo_module", "tf_op")
                }
                start = event.offset_ps / 1000
                events.append(_event(start, start + event.duration_ps / 1000, names[event.metadata_id], stats))
            threads.append((line.name, events))
    for plane in space.planes:
        for each in plane.event_metadata.values() if plane.name == "/host:metadata" else ():
            for stat in each.stats:
                module = hlo_pb2.HloProto.FromString(stat.bytes_value).hlo_module
                programs[module.name] = hlo.of_proto(module)
    return threads, programs


def _read_by_jax(path):
    """Like :func:`_read_by_tensorflow`; JAX knows the programs that it has compiled."""
    jax = sys.modules["jax"]
    threads = []
    for plane in _planes(list(jax.profiler.ProfileData.from_file(path).planes)):
        for line in plane.lines:
            events = [
                _event(each.start_ns, each.start_ns + each.duration_ns, each.name, dict(each.stats))
                for each in line.events
            ]
            threads.append((line.name, events))
    used = {event[4] for _, events in threads for event in events}
    modules = [
        module
        for executable in jax.devices()[0].client.live_executables()
        for module in executable.hlo_modules()
        if module.name in used
    ]
    # A training may have compiled its step for other shapes before; the newest program comes last.
    return threads, {module.name: hlo.of_text(module.to_string()) for module in modules}


def _planes(planes):
    """The planes of the accelerators, or else that of the processor."""
    devices = [plane for plane in planes if plane.name.startswith("/device:GPU")]
    return devices or [plane for plane in planes if plane.name == "/host:CPU"]


def _event(start, end, name, stats):
    return start, end, stats.get("tf_op") or name, stats.get("hlo_op"), stats.get("hlo_module")


def attributed(threads, programs):
    """Nanoseconds by (position of the owner, 1 if backward else 0), or None for operations without one.

    Returns:
        A dictionary of these, and the nanoseconds of fused instructions that several owners share.
    """
    found: dict = collections.defaultdict(float)
    fused = 0.0
    for name, events in threads:
        if name.startswith("tf_data_"):
            continue
        for seconds, (_, _, operation, instruction, program) in _alone(events):
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


def _alone(events):
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
