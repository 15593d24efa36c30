"""Counts of the sampling profiler."""

import gc
import os
import sys
import threading
import time
import weakref

from kerascheck.runtime.verify.child.channel import Channel
from kerascheck.runtime.verify.child.sampler import Sampler


def test_waiting_for_kerascheck_does_not_count():
    orders, order = os.pipe()
    waiting = threading.Thread(target=Channel(os.dup(order), orders).wait)
    waiting.start()
    try:
        while sys._current_frames()[waiting.ident].f_code is not Channel.wait.__code__:
            time.sleep(0.001)
        sampler = Sampler(waiting.ident)
        sampler.look()
        assert (sampler.looks, sum(sampler.main.values()), sum(sampler.others.values())) == (0, 0, 0)
    finally:
        os.write(order, b"g")
        waiting.join()
    sampler.look()
    assert sampler.looks == 1


def test_script_code_called_by_a_data_adapter_counts_as_input(tmp_path):
    adapter, script = tmp_path / "trainers" / "data_adapters" / "adapter.py", tmp_path / "train.py"
    seen = []
    namespace = {}
    exec(compile("def next_batch(get):\n    return get()\n", str(adapter), "exec"), namespace)
    sampler = Sampler(threading.get_ident())
    given = {"look": lambda: seen.append(sampler._look_at_main(sys._getframe(1)))}
    exec(compile("def get():\n    look()\n", str(script), "exec"), given)
    namespace["next_batch"](given["get"])
    ((kind, (path, line, _, library)),) = seen
    assert (kind, path, line, library) == ("input", str(script), 2, None)


def looked_through(sampler, *frames):
    """Classify a main thread whose stack has these (file, function) frames, outermost first."""
    seen = []

    def call():
        seen.append(sampler._look_at_main(sys._getframe(1)))

    for path, name in reversed(frames):
        namespace = {"inner": call}
        exec(compile(f"def {name}():\n    inner()\n", str(path), "exec"), namespace)
        call = namespace[name]
    call()
    return seen[0]


def test_script_lines_inside_a_step_count_as_computing(tmp_path):
    inside = []
    sampler = Sampler(threading.get_ident(), in_step=lambda: bool(inside))
    assert looked_through(sampler, (tmp_path / "train.py", "run"))[0] == "python"
    inside.append(True)
    assert looked_through(sampler, (tmp_path / "train.py", "run"))[0] == "executing"


def test_tracing_is_located_at_the_call(tmp_path):
    graphs = tmp_path / "site-packages/tensorflow/python/framework/func_graph.py"
    script = tmp_path / "train.py"
    frames = (script, "train"), (graphs, "func_graph_from_py_func"), (script, "step")
    kind, (path, line, function, _) = looked_through(Sampler(threading.get_ident()), *frames)
    assert (kind, path, line, function) == ("tracing", str(script), 2, "train")


def test_work_triggered_by_a_callback_counts_as_its_time(tmp_path):
    callbacks = tmp_path / "site-packages/keras/src/callbacks/callback_list.py"
    adapter, script = tmp_path / "site-packages/trainers/data_adapters/adapter.py", tmp_path / "train.py"
    for name, expected in ("on_epoch_end", "between epochs"), ("on_train_batch_end", "callback"):
        frames = (callbacks, name), (script, name), (adapter, "rows")
        kind, (path, line, *_) = looked_through(Sampler(threading.get_ident()), *frames)
        assert (kind, path, line) == (expected, str(script), 2)


def test_objects_dropped_by_the_script_are_freed_during_sampling():
    class Iterator:
        pass

    def steps():
        held = Iterator()
        sampler.look()
        return weakref.ref(held)

    sampler = Sampler(0)
    gc.disable()
    try:
        assert steps()() is None
    finally:
        gc.enable()
