"""Times of ``fit`` calls: their arguments, their start, and the gaps between the calls of a loop."""

import functools
import logging
import os
import sys
import time
import types

from .frames import is_user_code, user_place
from .sampler import Sampler

_SHORTEST_START = 0.5
"""Seconds; shorter starts are not examined."""
_MOST_LINES = 40


class FitClock:
    """Time of ``fit`` calls outside of their steps."""

    def __init__(self, state):
        self._state = state
        self._called = 0.0
        self._sampler: Sampler | None = None
        self.asked: dict = {}  # arguments of the planned call, or of the first call in a loop
        self.start: dict = {}
        self.in_loop = False

    def fit_called(self, arguments, in_loop):
        """Record the start of ``fit`` with these arguments by name, without defaults."""
        self.in_loop = in_loop
        if self.asked:
            return
        first = arguments.get("initial_epoch") or 0
        self.asked = {
            "epochs": max(0, int((arguments.get("epochs") or 1) - first)),
            "validation_freq": _whole(arguments.get("validation_freq") or 1),
            **_fed(arguments.get("x"), arguments.get("steps_per_epoch")),
        }
        self._called = time.perf_counter()
        self._sampler = Sampler(self._state.main_thread, self._state.parts.origins, innermost=True)
        self._sampler.start()

    def planned(self, params):
        """Record the number of steps per epoch from Keras; None if only the end of the data shows it."""
        if self.asked and "steps_per_epoch" not in self.asked and params.get("steps") is not None:
            self.asked["steps_per_epoch"] = int(params["steps"])

    def step_ended(self):
        """Record the end of a step; the first one ends the start."""
        if self._sampler is None:
            return
        seconds = time.perf_counter() - self._called
        self._sampler.stop()
        looks = self._sampler.main.most_common(_MOST_LINES)
        self.start = {"seconds": seconds, "total": self._sampler.looks}
        if seconds >= _SHORTEST_START:
            self.start["main"] = [[*key, count] for key, count in looks]
        self._sampler = None

    def found(self):
        """Facts for the parent."""
        return {"fit_arguments": self.asked, "fit_start": self.start, "fit_in_loop": self.in_loop}


def _whole(value):
    """Convert a number to int, or several numbers to a list of them."""
    return [int(each) for each in value] if hasattr(value, "__iter__") else int(value)


def _fed(x, steps_per_epoch):
    """Facts about the data passed to ``fit``: its producer and its contents."""
    found: dict = {} if steps_per_epoch is None else {"steps_per_epoch": int(steps_per_epoch), "steps_given": True}
    frame = getattr(x, "gi_frame", None)
    if frame is not None:
        found["held_rows"] = {name: len(value) for name, value in frame.f_locals.items() if _is_table(value)}
    elif kind_of_data(x) == "pydataset" and hasattr(x, "__len__"):
        found["batches_of_a_pass"] = len(x)
    return found


def feeder(x):
    """The kind of data passed to ``fit``, unless it is a dataset of the script, and the code that makes batches.

    ``[kind, name, path, line]``; the last three are None for arrays, and for iterators of a library.
    """
    kind = kind_of_data(x)
    makes = getattr(x, "gi_code", None) if kind == "generator" else getattr(type(x), "__getitem__", None)
    code = getattr(makes, "__code__", makes)
    if kind in ("dataset", "arrays") or not isinstance(code, types.CodeType) or not is_user_code(code):
        return [kind, None, None, None]
    name = code.co_name if kind == "generator" else type(x).__name__
    return [kind, name, code.co_filename, code.co_firstlineno]


def keep_first_batches(state):
    """Keep the batches that Keras reads from a generator before the training: a generator cannot produce them again."""
    adapter = sys.modules["keras.src.trainers.data_adapters.generator_data_adapter"].GeneratorDataAdapter
    original = adapter.get_tf_dataset

    @functools.wraps(original)
    def get_tf_dataset(self):
        dataset = original(self)
        # In one call of fit, the first generator feeds the training and the next one the validation.
        state.peeked = state.peeked or (self._first_batches, self._output_signature)
        return dataset

    state.patches.set(adapter, "get_tf_dataset", get_tf_dataset)


def peeked_batches(state):
    """(batches as tensors, their specification) of :func:`keep_first_batches`; ([], None) for other data."""
    batches, spec = state.peeked or ((), None)
    tf = sys.modules["tensorflow"]
    # None parts of a batch stay None, since tf.nest skips them in the specification.
    return [tf.nest.map_structure(lambda kind, part: tf.cast(part, kind.dtype), spec, batch) for batch in batches], spec


def kind_of_data(x):
    """Kind of the data passed to ``fit``: "dataset", "pydataset", "generator" or "arrays"."""
    names = {cls.__name__ for cls in type(x).__mro__}
    if names & {"PyDataset", "Sequence", "Iterator"} and hasattr(x, "__getitem__"):
        return "pydataset"
    if names & {"DatasetV2", "DistributedDataset"}:
        return "dataset"
    return "generator" if hasattr(x, "__next__") or "DataLoader" in names else "arrays"


def gives_its_data_once(x):
    """Whether ``x`` is a generator. ``ImageDataGenerator.flow`` also returns an iterator, but one that restarts."""
    return hasattr(x, "__next__") and kind_of_data(x) != "pydataset"


def _is_table(value):
    """Whether a value may hold rows for a generator: an array with at least one dimension, or a list."""
    return isinstance(value, (list, tuple)) or len(getattr(value, "shape", ())) > 0 and hasattr(value, "__len__")


def batches_of_a_pass(dataset):
    """Batches per pass over a repeated dataset; None if it is not repeated or the number is unknown."""
    current = dataset
    for _ in range(20):
        if type(current).__name__.strip("_").startswith("Repeat"):
            count = int(current._inputs()[0].cardinality())
            return count if count >= 0 else None
        if len(current._inputs()) != 1 or not _keeps_count(current):
            return None
        current = current._inputs()[0]
    return None


def _keeps_count(dataset):
    return type(dataset).__name__.strip("_").startswith(("Prefetch", "Options", "Map", "ParallelMap", "Model"))


def install(state):
    """Watch calls of ``fit`` if the plan asks for parts, and settings that hide devices."""
    state.clock = FitClock(state) if state.run["plan"]["parts"] else None
    state.peeked = None
    if state.clock is not None:
        watch_environment(state)


def watch_environment(state):
    """Record the line where the script restricts its GPUs through the environment."""
    set_item = os._Environ.__setitem__

    @functools.wraps(set_item)
    def noted(self, key, value):
        set_item(self, key, value)
        if key == "CUDA_VISIBLE_DEVICES":
            state.recorder.facts["visible_devices"] = [value, *(user_place() or (None, None))]

    state.patches.set(os._Environ, "__setitem__", noted)


def patch_tensorflow(tf, state):
    """Record the line where the script hides GPUs from TensorFlow."""
    original = tf.config.set_visible_devices

    @functools.wraps(original)
    def set_visible_devices(devices, device_type=None):
        original(devices, device_type)
        if not devices and device_type in (None, "GPU"):
            state.recorder.facts["visible_devices"] = ["", *(user_place() or (None, None))]

    state.patches.set(tf.config, "set_visible_devices", set_visible_devices)


def patch_jax(jax, state):
    """Count JAX compilations during measured steps."""
    compiled = state.compiled = {"count": 0, "seconds": 0.0, "functions": {}, "places": {}, "shapes": {}}

    def timed(event, seconds, **details):
        if state.parts.running and event.startswith("/jax/core/compile/"):
            compiled["seconds"] += seconds
            if event.endswith("backend_compile_duration"):
                compiled["count"] += 1
                name = str(details.get("fun_name", "?")).removeprefix("jit(").removesuffix(")")
                compiled["functions"][name] = compiled["functions"].get(name, 0) + 1
                # JAX compiles in the calling thread, so the script's line is on its stack.
                compiled["places"].setdefault(name, list(user_place() or (None, None)))

    jax.monitoring.register_event_duration_secs_listener(timed)
    state.patches.on_undo(functools.partial(_stop_listening, jax, timed))
    _watch_shapes_of_jax(state, compiled["shapes"])


def _stop_listening(jax, listener):
    """Remove a listener of JAX; older versions have a private function for that only."""
    remove = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    if remove is None:
        remove = sys.modules["jax._src.monitoring"]._unregister_event_duration_listener_by_callback
    remove(listener)


def _watch_shapes_of_jax(state, shapes):
    """Record the shapes that JAX compiles for.

    They are in its own log (jax/_src/interpreters/pxla.py, ``jax_log_compiles``).
    """
    logger = logging.getLogger("jax._src.interpreters.pxla")
    shown = logger.getEffectiveLevel()

    def note(record):
        if state.parts.running and str(record.msg).startswith("Compiling %s") and len(record.args or ()) > 1:
            name = str(record.args[0]).removeprefix("jit_").removeprefix("jit(").removesuffix(")")
            shapes.setdefault(name, []).append([[str(each.dtype), *each.shape] for each in record.args[1]])
        return record.levelno >= shown

    level = logger.level
    logger.addFilter(note)
    logger.setLevel(logging.DEBUG)
    state.patches.on_undo(functools.partial(logger.removeFilter, note))
    state.patches.on_undo(functools.partial(logger.setLevel, level))


def forget_compiled_by_torch():
    """Reset the counts of ``torch.compile`` compilations."""
    if (dynamo := sys.modules.get("torch._dynamo.utils")) is not None:
        dynamo.clear_compilation_metrics()


def compiled_by_torch():
    """Compilations by ``torch.compile`` since the reset, in the form of :func:`patch_jax`, with reasons; None if
    unused.

    Read from Dynamo's metrics of the last 64 compilations (torch/_dynamo/utils.py, ``CompilationMetrics``).
    """
    dynamo = sys.modules.get("torch._dynamo.utils")
    seen = [each for each in dynamo.get_compilation_metrics() if each.co_name] if dynamo is not None else []
    if not seen:
        return None
    names = [each.co_name for each in seen]
    return {
        "count": len(seen),
        "seconds": sum(each.entire_frame_compile_time_s or 0.0 for each in seen),
        "functions": {name: names.count(name) for name in names},
        "places": {each.co_name: [each.co_filename, each.co_firstlineno] for each in seen},
        "reasons": [each.recompile_reason for each in seen if each.recompile_reason],
    }


def of_validation(model, arguments):
    """Batches that a validation reads, and batches in one pass over its data; None if unknown."""
    iterator = getattr(model, "_eval_epoch_iterator", None)
    steps = arguments.get("steps") or getattr(iterator, "num_batches", None)
    given = arguments.get("x")
    dataset = given if hasattr(given, "_inputs") else None
    of_a_pass = batches_of_a_pass(dataset) if dataset is not None and "tensorflow" in sys.modules else None
    return {"batches": None if steps is None else int(steps), "batches_of_a_pass": of_a_pass}
