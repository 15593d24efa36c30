"""Profiles of TensorFlow and JAX: planes, their threads and the events on them."""

import re
import sys

from . import hlo

_DEVICE = "/device:GPU"
_HOST = "/host:CPU"
_METADATA = "/host:metadata"
_COPY = re.compile(r"^(?:Memcpy|Memset)|\[CUDA mem", re.IGNORECASE)
_UNNAMED = "kernel:Kernel"  # has the form of an operation's name
_UNUSED = re.compile(r"^\$(?!trainer\.py:)|^ThreadpoolListener::")
"""Functions of Python outside of Keras's trainer, and work of idle threads: often most of the events."""
_USED_STATS = frozenset(
    "allocator_name bytes_allocated bytes_available bytes_reserved hlo_module hlo_op memcpy_details parallelism "
    "peak_bytes_in_use run_id step_num tf_function_call tf_op".split()
)
"""Others are left out: dictionaries take most of the memory."""
_COMPLETED = "ThunkExecutor::Execute (wait for completion)"
_NO_STATS: dict = {}


class Event:
    """An event of a thread; times are in nanoseconds."""

    __slots__ = ("end", "name", "start", "stats")

    def __init__(self, start, end, name, stats):
        self.start = start
        self.end = end
        self.name = name
        self.stats = stats  # dictionary

    @property
    def operation(self):
        """(Name of the operation, instruction of XLA or None, program or None)."""
        return self.stats.get("tf_op") or self.name, self.stats.get("hlo_op"), self.stats.get("hlo_module")


def reader():
    """(:func:`read_by_tensorflow` or :func:`planes_by_jax`, whether it reads programs); raises ImportError without both."""
    try:
        import tensorflow.compiler.xla.service.hlo_pb2
        import tensorflow.tsl.profiler.protobuf.xplane_pb2  # noqa: F401
    except ImportError:
        from jax.profiler import ProfileData  # noqa: F401

        return lambda path: (planes_by_jax(path), {}), False
    return read_by_tensorflow, True


def read_by_tensorflow(path):
    """Planes of a file, (name, [(name of a thread, events)]), and the computations of each program that XLA compiled.

    Needs the protocol buffers of TensorFlow; raises google.protobuf's DecodeError.
    """
    from tensorflow.compiler.xla.service import hlo_pb2
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with open(path, "rb") as stream:
        space = xplane_pb2.XSpace.FromString(stream.read())
    planes, programs = [], {}
    for plane in space.planes:
        names = {key: each.name for key, each in plane.event_metadata.items() if not _UNUSED.match(each.name)}
        # Values refer to texts by the same numbers.
        texts = {key: each.name for key, each in plane.stat_metadata.items()}
        used = {key: text for key, text in texts.items() if text in _USED_STATS}
        threads = [
            (
                line.name,
                [
                    _event(each, line.timestamp_ns, names[each.metadata_id], _stats(each, used, texts))
                    for each in line.events
                    if each.metadata_id in names
                ],
            )
            for line in plane.lines
        ]
        planes.append((plane.name, threads))
        for each in plane.event_metadata.values() if plane.name == _METADATA else ():
            for stat in each.stats:
                module = hlo_pb2.HloProto.FromString(stat.bytes_value).hlo_module
                programs[module.name] = hlo.of_proto(module)
    return planes, programs


def _event(event, origin, name, stats):
    start = origin + event.offset_ps / 1000
    return Event(start, start + event.duration_ps / 1000, name, stats)


def _stats(event, used, texts):
    found = {used[each.metadata_id]: _value(each, texts) for each in event.stats if each.metadata_id in used}
    return found or _NO_STATS


def _value(stat, texts):
    kind = stat.WhichOneof("value")
    return texts.get(stat.ref_value, "") if kind == "ref_value" else getattr(stat, kind) if kind else None


def planes_by_jax(path):
    """The planes, see :func:`read_by_tensorflow`; JAX does not show the programs in a file."""
    from jax.profiler import ProfileData

    return [
        (
            plane.name,
            [
                (line.name, [_by_jax(event) for event in line.events if not _UNUSED.match(event.name)])
                for line in plane.lines
            ],
        )
        for plane in ProfileData.from_file(path).planes
    ]


def read_by_jax(path):
    """Like :func:`read_by_tensorflow` in the process that computed: JAX knows the programs that it has compiled."""
    planes = planes_by_jax(path)
    used = {event.stats.get("hlo_module") for _, threads in planes for _, events in threads for event in events}
    modules = [
        module
        for executable in sys.modules["jax"].devices()[0].client.live_executables()
        for module in executable.hlo_modules()
        if module.name in used
    ]
    # A training may have compiled its step for other shapes before; the newest program comes last.
    return planes, {module.name: hlo.of_text(module.to_string()) for module in modules}


def _by_jax(event):
    stats = {key: value for key, value in event.stats if key in _USED_STATS}
    return Event(event.start_ns, event.start_ns + event.duration_ns, event.name, stats or _NO_STATS)


def computing(planes):
    """The planes of the accelerators, or else that of the processor."""
    devices = [plane for plane in planes if plane[0].startswith(_DEVICE)]
    return devices or [plane for plane in planes if plane[0] == _HOST]


def threads_of(planes):
    """(Name, events) of the threads that compute; an event is (start, end, name, instruction of XLA, program).

    The last two are None without XLA.
    """
    return [
        (name, events)
        for plane, threads in computing(planes)
        for name, events in (_of_processor(threads) if plane == _HOST else _of_device(threads))
    ]


def _of_device(threads):
    for name, events in threads:
        if is_stream(name):
            yield name, [_kernel(event) for event in events if not is_copy(event.name)]


def _of_processor(threads):
    """The operations; one of XLA lasts until the next one of its run begins, or the run has ended.

    Its event ends when the call returns, but tasks of other threads may still compute parts of it, and the next operation
    waits for them (ThunkExecutor::TracedExecute in xla/backends/cpu/runtime/thunk_executor.cc).
    """
    runs: dict = {}
    completed: dict = {}  # ends of runs
    for _, events in threads:
        for event in events:
            run = event.stats.get("run_id")
            if run is not None and "hlo_op" in event.stats:
                runs.setdefault(run, []).append(event)
            elif run is not None and event.name == _COMPLETED:
                completed[run] = event.end
    ends: dict = {}
    for run, operations in runs.items():
        last, *others = sorted(operations, key=lambda event: event.start)
        for event in others:
            if event.start > last.end:
                ends[id(last)] = event.start
            if event.end >= last.end:
                last = event
        ends[id(last)] = max(last.end, completed.get(run, last.end))
    for name, events in threads:
        yield name, [(event.start, ends.get(id(event), event.end), *event.operation) for event in events]


def _kernel(event):
    """A kernel without the name of an operation is one of no layer."""
    name, instruction, program = event.operation
    return event.start, event.end, name if "tf_op" in event.stats else _UNNAMED, instruction, program


def is_copy(name):
    """Whether an event of a stream copies or fills memory."""
    return _COPY.search(name) is not None


def is_stream(name):
    """Whether a thread of a GPU's plane is a stream; the others repeat its kernels by module, operation and scope."""
    return name.startswith("Stream")
