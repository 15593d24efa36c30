"""The most that the framework does on this processor: a large product in float32, and a pass over a large array."""

import functools
import os
import sys
import time

from . import diagnose
from .batch_sizes import available_bytes
from .load import CpuLoad

_PRODUCT_SECONDS, _PASS_SECONDS = 0.3, 0.2
_TYPE = "float32"
_SIZE = 1024 if (os.cpu_count() or 1) <= 8 else 2048
"""Rows and columns of the product: a short one finds moments without other programs, many cores need a large one."""
_FEWEST = 2  # runs of each after a warm-up
_SMALLEST, _LARGEST = 64 << 20, 512 << 20  # bytes of the array
_TIMES_THE_CACHE = 4
_SHARE_OF_MEMORY = 1 / 8  # of what is free
_CACHE = "/sys/devices/system/cpu/cpu0/cache/index3/size"


def install(state):
    """Add this diagnostic if the plan sets ``parts``."""
    if state.run["plan"]["parts"]:
        state.recorder.late_diagnostics.append(functools.partial(diagnose.guarded, cpu_peaks, state))


def cpu_peaks(state, leader):
    """Operations and bytes per second; None with a GPU, or if the plan knows them for this framework."""
    facts = state.recorder.facts
    backend = facts.get("backend")
    if leader.kind != "fit" or facts.get("gpus") or backend not in ("tensorflow", "jax"):
        return None
    framework = f"{backend} {facts['versions'].get(backend)}"
    if framework in state.run["plan"]["known_peaks"]:
        return {"peaks_of": framework}
    load = CpuLoad()
    product, change, size = _on_tensorflow() if backend == "tensorflow" else _on_jax()
    seconds = _shortest(product, _PRODUCT_SECONDS)
    changing = _shortest(change, _PASS_SECONDS)
    return {
        "peaks_of": framework,
        "peaks": {
            "hardware": "",  # the parent names it
            "flops": {_TYPE: 2 * _SIZE**3 / seconds},
            "bytes": size / changing,
            "measured": True,
            "source": "",
            "busy_others": load.of_others(),
        },
    }


def _on_tensorflow():
    """Functions that multiply, and that change an array in place; the bytes that the second one reads and writes."""
    tf = sys.modules["tensorflow"]
    square = tf.random.uniform((_SIZE, _SIZE))
    ones = tf.ones(_array_bytes() // 8)
    numbers = tf.Variable(ones)
    multiply = tf.function(lambda: tf.reduce_max(tf.matmul(square, square)), autograph=False)
    return lambda: multiply().numpy(), lambda: numbers.assign_add(ones, read_value=False), 3 * 4 * int(tf.size(ones))


def _on_jax():
    """Like :func:`_on_tensorflow`."""
    jax = sys.modules["jax"]
    square = jax.numpy.ones((_SIZE, _SIZE), "float32")
    held = [jax.numpy.zeros(_array_bytes() // 4, "float32")]
    multiply = jax.jit(lambda left, right: left @ right)
    add = jax.jit(lambda numbers: numbers + 1, donate_argnums=0)

    def change():
        held[0] = add(held[0]).block_until_ready()

    return lambda: multiply(square, square).block_until_ready(), change, 2 * held[0].nbytes


def _array_bytes():
    """Size of an array that no cache holds, as far as the memory allows."""
    try:
        with open(_CACHE) as stream:
            cache = int(stream.read().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        cache = _SMALLEST
    wanted = max(_SMALLEST, min(_TIMES_THE_CACHE * cache, _LARGEST))
    free = available_bytes()
    return wanted if free is None else min(wanted, int(free * _SHARE_OF_MEMORY))


def _shortest(call, longest):
    """Seconds of the fastest call in about ``longest`` seconds, after a warm-up."""
    call()
    times: list = []
    while len(times) < _FEWEST or sum(times) < longest:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
