"""What the sampling profiler counts."""

import gc
import os
import sys
import threading
import time
import weakref

from kerascheck.verify.child.channel import Channel
from kerascheck.verify.child.sampler import Sampler


def test_waiting_for_kerascheck_is_no_time_of_the_script():
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


def test_code_of_the_script_that_a_data_adapter_calls_prepares_data(tmp_path):
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


def test_what_the_script_lets_go_of_dies_while_it_is_sampled():
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
