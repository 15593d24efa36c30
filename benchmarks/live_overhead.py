"""Overhead of the callback ``Why``: pairs of trainings with and without it, in one process each.

Run: ``python benchmarks/live_overhead.py [--pairs N]``, with KERAS_BACKEND set to the backend to measure. Prints the
ratio of the medians of step times, while the callback measures and after it has reported.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
_STEPS = 12_000
_WARM_UP = 50


def step_times(with_callback: bool) -> list[float]:
    """Seconds of each step of a small training."""
    import keras
    import numpy as np

    from kerascheck.callbacks import Why

    class Clock(keras.callbacks.Callback):
        async_safe = True

        def __init__(self) -> None:
            super().__init__()
            self.moments: list[float] = []

        def on_train_batch_end(self, batch, logs=None):
            self.moments.append(time.perf_counter())

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((256,)), keras.layers.Dense(1024), keras.layers.Dense(10)])
    model.compile("adam", "mse")
    x, y = np.random.rand(_STEPS * 32, 256).astype("float32"), np.random.rand(_STEPS * 32, 10).astype("float32")
    clock = Clock()
    callbacks = [clock, Why(verbose=0, after_seconds=5.0)] if with_callback else [clock]
    model.fit(x, y, batch_size=32, verbose=0, callbacks=callbacks)
    return [after - before for before, after in zip(clock.moments, clock.moments[1:])][_WARM_UP:]


def main() -> None:
    """Measure pairs in turn, and print the ratio of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--one", choices=["with", "without"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        times = step_times(given.one == "with")
        half = len(times) // 2
        print(statistics.median(times[:half]), statistics.median(times[half:]))
        return
    ratios = []
    for number in range(given.pairs):
        order = ("with", "without") if number % 2 else ("without", "with")
        found = {}
        for one in order:
            run = subprocess.run([sys.executable, __file__, "--one", one], capture_output=True, text=True, check=True)
            found[one] = [float(each) for each in run.stdout.split()[-2:]]
        ratios.append([a / b for a, b in zip(found["with"], found["without"])])
        print(f"pair {number + 1}: first half {ratios[-1][0]:.3f}, second half {ratios[-1][1]:.3f}", flush=True)
    for name, values in zip(("first half", "second half"), zip(*ratios)):
        print(f"{name}: median {statistics.median(values):.3f}")


if __name__ == "__main__":
    main()
