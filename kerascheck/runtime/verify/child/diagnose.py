"""Diagnostics: facts from TensorFlow and Keras, collected after the measured steps."""

import functools
import sys
import time
import weakref

from . import dataset_places
from .frames import is_user_code, is_user_frame

_ALONE_SECONDS = 3.0
_ALONE_BATCHES = 200
_COUNTED_SECONDS = 0.5
_CONVERSIONS = 6
"""Library frames between ``float(tensor)`` in a script and the read of the value."""


def patch_tensorflow(tf, state):
    """Count traces and host reads, and record where datasets are created (diagnosing run only)."""
    from tensorflow.python.eager.polymorphic_function import polymorphic_function
    from tensorflow.python.framework import ops

    state.functions = weakref.WeakSet()
    state.host_reads = 0
    init = polymorphic_function.Function.__init__

    @functools.wraps(init)
    def function_init(self, *args, **kwargs):
        init(self, *args, **kwargs)
        state.functions.add(self)

    state.patches.set(polymorphic_function.Function, "__init__", function_init)
    _count_traces(state)
    read = ops._EagerTensorBase._numpy

    def numpy(self):
        state.host_reads += _is_read_by_script(sys._getframe(1))
        return read(self)

    state.patches.set(ops._EagerTensorBase, "_numpy", numpy)
    dataset_places.record(state.patches, state.dataset_places)
    _watch_strategies(state)

    def on_warm():
        state.host_reads = 0
        state.steps_when_warm = sum(
            series.steps for series in state.recorder.series.values() if series.number is not None
        )

    state.recorder.when_warm.append(on_warm)


def _count_traces(state):
    """Count traced graphs, including those of functions that are destroyed before the end."""
    from tensorflow.python.eager.polymorphic_function import tracing_compilation

    create = getattr(tracing_compilation, "_create_concrete_function", None)
    if create is None:  # another version of TensorFlow: sum the counts of the functions that still exist
        return
    state.traced = 0

    @functools.wraps(create)
    def counted(*args, **kwargs):
        state.traced += 1
        return create(*args, **kwargs)

    state.patches.set(tracing_compilation, "_create_concrete_function", counted)


def _is_read_by_script(frame):
    """Whether the script's own code reads a value, possibly through TensorFlow or NumPy but not through Keras."""
    for _ in range(_CONVERSIONS):
        if frame is None:
            return False
        if is_user_frame(frame):
            return True
        if "/tensorflow/" not in frame.f_code.co_filename and "/numpy/" not in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return False


def _watch_strategies(state):
    """Record the strategy that distributes the training's data, and the dataset before distribution."""
    from tensorflow.python.distribute.distribute_lib import StrategyBase

    distribute = StrategyBase.experimental_distribute_dataset

    @functools.wraps(distribute)
    def experimental_distribute_dataset(self, dataset, *args, **kwargs):
        if not state.recorder.so_far()[1]:  # later ones feed the validation
            state.strategy, state.global_dataset = self, dataset
        return distribute(self, dataset, *args, **kwargs)

    state.patches.set(StrategyBase, "experimental_distribute_dataset", experimental_distribute_dataset)


def distribution(state, leader):
    """Number of replicas that compute each step together."""
    strategy = getattr(state, "strategy", None) or getattr(state.fit_model, "distribute_strategy", None)
    return None if strategy is None else {"replicas": int(strategy.num_replicas_in_sync)}


def facts(state, leader):
    """Facts that every run reports: backend and versions, element specification, steps per epoch, devices."""
    found = dict(state.recorder.facts)
    if leader.framework is not None:
        found["backend"] = leader.framework
    found["epoch_lengths"] = state.epoch_lengths
    found["chain"] = leader.chain
    found["first_iterator"] = max(0, leader.first_iterator)
    if leader.element_spec is not None:
        found["element_spec"] = leader.element_spec
    found["gpus"] = accelerators(state, found.get("backend"))
    return found


def accelerators(state, backend):
    """Names of the accelerators that this process holds."""
    if backend == "jax":
        return [device.device_kind for device in sys.modules["jax"].devices() if device.platform != "cpu"]
    if backend == "torch" and sys.modules["torch"].cuda.is_available():
        return [sys.modules["torch"].cuda.get_device_name(0)]
    if hasattr(state, "uses_gpu") and state.uses_gpu():
        config = sys.modules["tensorflow"].config
        devices = config.list_physical_devices("GPU")
        return [config.experimental.get_device_details(device).get("device_name", device.name) for device in devices]
    return []


def flat_spec(spec):
    """[shape (a list, None if unknown), dtype name] of every component of an element."""
    flat = []
    for part in sys.modules["tensorflow"].nest.flatten(spec):
        shape = getattr(part, "shape", None)
        known = getattr(shape, "rank", None) is not None
        flat.append(
            [
                shape.as_list() if shape is not None and known else None,
                getattr(getattr(part, "dtype", None), "name", "?"),
            ]
        )
    return flat


def training_iterator(state):
    """The newest live ``tf.data`` iterator, which feeds the training; None if there is none."""
    for reference in reversed(state.iterators):
        iterator = reference()
        if iterator is not None:
            return iterator
    return None


def chain(dataset, places):
    """``dataset``, followed by the datasets that it is built from.

    ``places``: :class:`Notes` of the places that create datasets.
    """
    found: list[dict] = []
    pending = [dataset]
    while pending and len(found) < 200:
        current = pending.pop(0)
        found.append(
            {
                "name": name_of(current),
                "place": places.get(current),
                "function": _function_lines(current),
            }
        )
        pending.extend(current._inputs())
    return found


def name_of(dataset):
    """Name such as "ParallelMap"; "FromGenerator" for the stage around a Python generator."""
    function = getattr(getattr(dataset, "_map_func", None), "_func", None)
    if getattr(getattr(function, "__code__", None), "co_filename", "").endswith("from_generator_op.py"):
        return "FromGenerator"
    return type(dataset).__name__.strip("_").removesuffix("Dataset").removesuffix("V2").removesuffix("Dataset")


def _function_lines(dataset):
    """[path, first line, last line] of the script's function that a dataset applies; None if it applies none."""
    wrapper = getattr(dataset, "_map_func", None) or getattr(dataset, "_predicate", None)
    function = getattr(wrapper, "_func", None)
    function = getattr(function, "func", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or not is_user_code(code):
        return None
    return [code.co_filename, code.co_firstlineno, max(line for _, _, line in code.co_lines() if line)]


def lines_of(dataset, places):
    """[path, first line, last line] of the creation of a dataset, and of the functions that it applies."""
    try:
        made = chain(dataset, places)
    except Exception:  # unusual dataset: its lines stay unknown
        return []
    found = [[path, line, line] for path, line in (stage["place"] for stage in made if stage["place"])]
    return found + [stage["function"] for stage in made if stage["function"]]


def fed_by(state, series):
    """Record the element specification of a new series, because the iterator is gone at the end of its data."""
    iterator = training_iterator(state)
    if iterator is not None:
        series.element_spec = flat_spec(iterator.element_spec)


def note_datasets(state, series):
    """Record where the dataset of a new series is created: these lines belong to the training too."""
    iterator = training_iterator(state)
    if iterator is None or getattr(iterator, "_dataset", None) is None:
        return
    try:
        series.chain = chain(iterator._dataset, state.dataset_places)
    except Exception:  # unusual dataset: its lines stay unknown
        return
    for stage in series.chain:
        if stage["place"] is not None:
            path, line = stage["place"]
            series.data_places.append([path, line, line])


def computes_in_tensorflow(state, leader=None):
    """Whether TensorFlow computes the steps of the series ``leader``; without it, the steps of Keras."""
    framework = None if leader is None else leader.framework
    return (framework or state.recorder.facts.get("backend", "tensorflow")).startswith("tensorflow")


def tracing(state, leader):
    """Number of traced graphs, and the functions with more than two."""
    if not computes_in_tensorflow(state):
        return None
    counts: dict[str, int] = {}
    for function in list(getattr(state, "functions", ())):
        name = getattr(function, "__name__", "?")
        counts[name] = counts.get(name, 0) + (function.experimental_get_tracing_count() or 0)
    return {"traces": sum(counts.values()), "traces_by_function": {k: v for k, v in counts.items() if v > 2}}


def host_reads(state, leader):
    """Reads of device values by the script's own Python, per step."""
    steps = leader.steps - getattr(state, "steps_when_warm", leader.steps)
    if not hasattr(state, "functions") or steps <= 0 or not computes_in_tensorflow(state):
        return None
    return {"host_reads_per_step": state.host_reads / steps}


def model(state, leader):
    """Compilation and dtypes of the fitted model."""
    found = state.fit_model
    if found is None:
        return None
    layers = list(found._flatten_layers()) if hasattr(found, "_flatten_layers") else []
    policy = getattr(found, "dtype_policy", None)
    facts = {
        "jit_compile": bool(getattr(found, "jit_compile", False) or getattr(found, "_jit_compile", False)),
        "jit_blocked_by": sorted({layer.name for layer in layers if getattr(layer, "supports_jit", True) is False}),
        "compute_dtypes": sorted(
            {str(layer.compute_dtype) for layer in layers if getattr(layer, "compute_dtype", None)}
        ),
        "dtype_policy": getattr(policy, "name", None),
        "run_eagerly": bool(getattr(found, "run_eagerly", False)),
        "recurrent": sorted({type(layer).__name__ for layer in layers if _is_recurrent(layer)}),
        "parameters": int(found.count_params()) if getattr(found, "built", False) else None,
    }
    return {"model": facts}


def _is_recurrent(layer):
    """Whether a layer computes its time steps sequentially."""
    names = {cls.__name__ for cls in type(layer).__mro__}
    return bool(names & {"RNN", "LSTM", "GRU", "SimpleRNN", "ConvLSTM", "Bidirectional"})


def device_memory(state, leader):
    """Peak memory of the first GPU in bytes."""
    tf = sys.modules.get("tensorflow")
    if tf is None or not getattr(state, "uses_gpu", lambda: False)():
        return None
    return {"device_peak_bytes": tf.config.experimental.get_memory_info("GPU:0")["peak"]}


def runtime_model(state, leader):
    """Nodes of the pipeline in the performance model of ``tf.data``, from the longest pass over the data.

    A pass that has just begun shows its start-up, such as a shuffle buffer being filled.
    """
    note_pass(state)
    return {"runtime_nodes": state.longest_pass} if state.longest_pass else None


def note_pass(state):
    """Keep the nodes of the newest pass over the data if it is the longest; raises if TensorFlow has no model of it."""
    iterator = training_iterator(state)
    nodes = nodes_of(iterator) if iterator is not None else []
    if len(nodes) > 1 and nodes[1]["elements"] >= (state.longest_pass[1]["elements"] if state.longest_pass else 0):
        state.longest_pass = nodes


def nodes_of(iterator):
    proto = sys.modules["tensorflow"].data.experimental.get_model_proto(iterator)
    nodes = []
    pending: list[tuple[int, int | None]] = [(proto.output, None)]
    while pending:
        key, reader = pending.pop(0)
        node = proto.nodes[key]
        parallelism = next((p.value for p in node.parameters if p.name == "parallelism"), 1.0) or 1.0
        nodes.append(
            {
                "name": node.name.partition("(")[0],
                "elements": node.num_elements,
                "seconds": node.processing_time / 1e9,
                "parallelism": parallelism,
                "reader": reader,  # index of the node that consumes its elements
            }
        )
        pending.extend((source, len(nodes) - 1) for source in node.inputs)
    return nodes


def pipeline_alone(state, leader):
    """Seconds per batch of the training's dataset without a model, and the bytes of a batch."""
    iterator = training_iterator(state)
    dataset = getattr(iterator, "_dataset", None)
    if dataset is None:
        return None
    tf = sys.modules["tensorflow"]
    first = None
    size = 0
    start = time.perf_counter()
    count = 0
    for element in dataset:
        parts = tf.nest.flatten(element)
        if first is None:
            # Start-up (filling buffers, loading functions) belongs to the epoch, not to the batch.
            first = time.perf_counter()
            size = sum(int(part.dtype.size * tf.size(part)) for part in parts if isinstance(part, tf.Tensor))
        else:
            count += 1
        if count >= _ALONE_BATCHES or time.perf_counter() - start > _ALONE_SECONDS:
            break
    if first is None:
        return None
    seconds = time.perf_counter() - first
    per_batch = state.recorder.facts["alone_seconds_per_batch"] = seconds / count if count else first - start
    return {
        "alone_seconds_per_batch": per_batch,
        "alone_first_batch_seconds": first - start,
        "bytes_per_step": size,
    }


def rows(state, leader):
    """Number of samples in the first batches of the training's data, and whether these were all batches."""
    # With distributed data, count the global batch of all replicas.
    dataset = getattr(state, "global_dataset", None) or getattr(training_iterator(state), "_dataset", None)
    if dataset is None:
        return None
    tf = sys.modules["tensorflow"]
    counted = []
    end = time.perf_counter() + _COUNTED_SECONDS
    for element in dataset:
        shape = next((part.shape for part in tf.nest.flatten(element) if hasattr(part, "shape")), None)
        if not shape:
            return None
        counted.append(int(shape[0]))
        if len(counted) >= _ALONE_BATCHES or time.perf_counter() > end:
            return {"rows": counted, "all_rows": False}
    return {"rows": counted, "all_rows": True}


def install(state):
    """Add the diagnostics that the plan requests."""
    state.recorder.at_first_tick.append(functools.partial(fed_by, state))
    state.longest_pass = []
    if state.run["plan"]["rows"]:
        state.recorder.late_diagnostics.append(functools.partial(guarded, rows, state))
    if not state.run["plan"]["diagnose"]:
        return
    state.recorder.at_first_tick.append(functools.partial(note_datasets, state))
    for diagnostic in (tracing, host_reads, model, device_memory, runtime_model, distribution):
        state.recorder.at_end.append(functools.partial(guarded, diagnostic, state))
    state.recorder.late_diagnostics.append(functools.partial(guarded, pipeline_alone, state))


def guarded(diagnostic, state, leader):
    """Run a diagnostic and return its facts; if it raises, returns the error under the key ``NAME_failed``."""
    try:
        return diagnostic(state, leader)
    except Exception as error:
        return {f"{diagnostic.__name__}_failed": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
