"""What the steps of a recorded profile did, as facts for the parent.

``python child/__main__.py --profile FILE`` prints them as one JSON object (:class:`RecordedProfile`); nothing of the
user runs.
"""

import collections
import contextlib
import json
import os
import re

from . import gpu_trace, hlo, input_stages, xplane
from .intervals import covered, minus, seconds_of, union
from .layer_trace import attributed, busy

_FEWEST_STEPS = 2  # beginnings of steps
_MOST_NAMES = 400
_CALL = re.compile(r"^PjitFunction\((.*)\)$")  # JAX calls a compiled function
_WAIT = re.compile(r"^(?:IteratorGetNextOp::DoCompute|Iterator::Root|EagerLocalExecute: IteratorGetNext\w*)$")
_COMPILE = re.compile(r"Client::Compile$|^XlaCompile|CompilationCache::Compile")
_MODULES = "XLA Modules"  # thread of a GPU's plane
_OF_FIT = ("multi_step_on_iterator", "one_step_on_iterator", "compiled_train_step")  # functions that Keras compiles
_OF_FIT_ON_JAX = ("train_step", "<lambda>")  # Keras compiles them, but their names are common
_STEP_OF_FIT = re.compile(r"^\$trainer\.py:\d+ iterator_step$")  # a function of Python that JAX records
_LOSS_OF_FIT = "compile_loss"  # a scope that fit opens
_MOST_BYTES = 4 << 30
_TRANSFORMS = re.compile(r"(?:transpose|jvp|vmap|checkpoint|remat|custom_vjp_call|pjit|jit)\(([^()]*)\)")
_NO_SCOPES = frozenset(
    "StatefulPartitionedCall PartitionedCall gradient_tape while cond body then else multi_step_on_iterator "
    "one_step_on_iterator train_step".split()
)


def main(path):
    """Print the facts of a profile, or {"failure": one line}."""
    try:
        read, sees_programs = xplane.reader()
    except ImportError:
        print(json.dumps({"failure": "no reader"}))
        return
    begun = _virtual_memory()
    most = _bound_memory(begun)
    too_much = f"reading it takes more than {most / (1 << 30):.1f} GiB of memory: record fewer steps, ten are enough"
    try:
        planes, programs = read(path)
        facts = facts_of(planes, programs)
        if not sees_programs and facts.get("backend") == "jax":
            facts["lacks_programs"] = True
    except MemoryError:
        facts = {"failure": too_much}
    except Exception as error:  # a damaged message; each version of protobuf has its own classes
        # Protocol buffers fail in the same way without memory; they ask for twice as much each time.
        needs_much = 2 * (_virtual_memory() - begun) > most
        facts = {
            "failure": f"it is cut or is no profile ({type(error).__name__}){', or ' * needs_much}{too_much * needs_much}"
        }
    print(json.dumps(facts))


def _virtual_memory():
    """Largest virtual memory of this process so far in bytes; 0 if the system does not tell."""
    with contextlib.suppress(OSError), open("/proc/self/status") as stream:
        return next((int(line.split()[1]) << 10 for line in stream if line.startswith("VmPeak:")), 0)
    return 0


def _bound_memory(taken):
    """Let this process take at most a quarter of the machine's memory beyond ``taken``; returns that number of bytes.

    The bound does not hold where the system does not tell ``taken``, or has no such bound.
    """
    most = _MOST_BYTES
    with contextlib.suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        most = min(most, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
        if taken:
            resource.setrlimit(resource.RLIMIT_AS, (taken + most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return most


def facts_of(planes, programs):
    """The facts, see :class:`kerascheck.runtime.why.recorded.RecordedProfile`."""
    host = [thread for name, threads in planes if name == "/host:CPU" for thread in threads]
    devices = gpu_trace.devices_of(planes)
    peaks = gpu_trace.memory_peaks(host)
    function, calls, runs = _calls(host, planes)
    marks = sorted((e.start, e.end) for _, events in host for e in events if "step_num" in e.stats)
    steps_seen = runs or (marks if len(marks) >= _FEWEST_STEPS else calls)
    if len(steps_seen) < _FEWEST_STEPS:
        return {"failure": "it shows no steps"}
    window = (steps_seen[0][0], steps_seen[-1][0])
    steps = (len(steps_seen) - 1) * _steps_per_call(host, window, len(steps_seen) - 1)
    threads = _computing_threads(planes, window)
    parts, waiting, alone = _parts(host, threads, window, calls if not runs else [])
    return {
        "steps": steps,
        "seconds_per_step": (window[1] - window[0]) / 1e9 / steps,
        "backend": "jax" if any(_CALL.match(e.name) for _, events in host for e in events) else "tensorflow",
        "function": function,
        "fits": function in _OF_FIT or _fits_on_jax(function, host, programs),
        "parts": {part: seconds / steps for part, seconds in parts.items()},
        **_names(threads, programs, steps),
        **input_stages.stages(host, alone, steps),
        "gpus": [gpu_trace.view(each, waiting, window, steps) | peaks.get(each[0], {}) for each in devices],
    }


def _calls(host, planes):
    """(Name of the function that makes the steps, times of its calls, spans of its runs if JAX compiled it)."""
    called: dict = collections.defaultdict(list)
    for _, events in host:
        for event in events:
            jitted = _CALL.match(event.name)
            if jitted or "tf_function_call" in event.stats:
                called[jitted[1] if jitted else event.name].append((event.start, event.end))
    ran = _runs(planes)
    runs = {name: ran[f"jit_{name}"] for name in called if f"jit_{name}" in ran}
    # JAX calls many small functions, and computes after a call has returned.
    longest = max(runs or called, key=lambda name: seconds_of(union((runs or called)[name])), default=None)
    return longest, union(called.get(longest, ())), runs.get(longest, [])


def _fits_on_jax(function, host, programs):
    """Whether ``fit`` of Keras calls a function of JAX, by the Python around it or the scopes in it."""
    if function not in _OF_FIT_ON_JAX:
        return False
    if any(_STEP_OF_FIT.match(event.name) for _, events in host for event in events):
        return True
    return any(
        _LOSS_OF_FIT in instruction.op_name
        for instructions in programs.get(f"jit_{function}", {}).values()
        for instruction in instructions
    )


def _runs(planes):
    """(Start, end) of the runs of each program of JAX, by its name."""
    numbered: dict = collections.defaultdict(dict)
    modules: dict = collections.defaultdict(list)
    for _, threads in planes:
        for name, events in threads:
            for event in events:
                if name == _MODULES:
                    modules[event.name.partition("(")[0]].append((event.start, event.end))
                if "hlo_module" in event.stats and "run_id" in event.stats:
                    found, number = numbered[event.stats["hlo_module"]], event.stats["run_id"]
                    start, end = found.get(number, (event.start, event.end))
                    found[number] = (min(start, event.start), max(end, event.end))
    # On a GPU, kernels have no number of their run, but a thread has the runs themselves.
    spans = {program: found.values() for program, found in numbered.items()} | modules
    return {program: sorted(found) for program, found in spans.items()}


def _steps_per_call(host, window, calls):
    """A function of Keras may make several steps, each of which takes an element."""
    taken = sum(
        event.name == "IteratorGetNextOp::DoCompute" and window[0] <= event.start < window[1]
        for _, events in host
        for event in events
    )
    return max(1, round(taken / calls))


def _computing_threads(planes, window):
    """The threads that compute, see :func:`xplane.threads_of`, in the window."""
    return [
        (name, [event for event in events if window[0] <= event[0] < window[1]])
        for name, events in xplane.threads_of(planes)
    ]


def _parts(host, threads, window, calls):
    """(Seconds of each part of the steps together, times in which the host waits for data, those of them that count)."""
    waiting = _union_of(host, _WAIT)
    parts, rest, alone = {}, [window], []
    for part, times in (
        ("computing", busy(threads)), ("compiling", _union_of(host, _COMPILE)), ("tracing", _tracing(host)),
        ("waiting", waiting), ("inside", calls),
    ):  # fmt: skip
        counted = covered(rest, times)
        parts[part] = seconds_of(counted)
        if part == "waiting":
            alone = counted
        rest = minus(rest, times)
    parts["between"] = seconds_of(rest)
    return parts, waiting, alone


def _union_of(host, pattern):
    return union((e.start, e.end) for _, events in host for e in events if pattern.search(e.name))


def _tracing(host):
    return union(
        (e.start, e.end)
        for _, events in host
        for e in events
        if str(e.stats.get("tf_function_call", "")).startswith("traced")
    )


def scope_of(name):
    """(Scopes of an operation without its own name, 1 if backward else 0) by its name; None without a scope."""
    backward = "gradient_tape/" in name or "transpose(" in name
    before = None
    while before != name:
        before, name = name, _TRANSFORMS.sub(r"\1", name)
    parts = [part for part in name.partition(":")[0].split("/")[:-1] if part and part not in _NO_SCOPES]
    return ("/".join(parts), int(backward)) if parts else None


def _names(threads, programs, steps):
    """Seconds of operations per step by their scopes."""
    shares = {program: hlo.names_of(computations) for program, computations in programs.items()}
    found, fused = attributed(threads, shares, scope_of)
    grouped: dict = collections.defaultdict(lambda: [0.0, 0.0])
    for key, nanoseconds in found.items():
        if key is not None:
            grouped[key[0]][key[1]] += nanoseconds / 1e9 / steps
    longest = sorted(grouped.items(), key=lambda each: -sum(each[1]))
    left_out = sum(sum(spent) for _, spent in longest[_MOST_NAMES:])
    return {
        "scopes": [[scope, *spent] for scope, spent in longest[:_MOST_NAMES]],
        "unattributed_seconds": found.get(None, 0.0) / 1e9 / steps + left_out,
        "fused_seconds": fused / 1e9 / steps,
        "total_seconds": sum(found.values()) / 1e9 / steps,
    }
