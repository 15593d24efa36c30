"""The profilers of TensorFlow and JAX, which write a profile (XPlane) into a folder."""

import glob
import os
import sys


def start(backend, folder, level=2):
    """Start the profiler; returns the function that stops it and writes the profile.

    Args:
        backend: "tensorflow" or "jax".
        folder: of the profile.
        level: detail of TensorFlow's profile; 3 includes kernels that were fast in the steps before.
    """
    if backend == "jax":
        profiler = sys.modules["jax"].profiler
        options = profiler.ProfileOptions()
        options.python_tracer_level = 0
        profiler.start_trace(folder, profiler_options=options)
        return profiler.stop_trace
    profiler = sys.modules["tensorflow"].profiler.experimental
    profiler.start(folder, options=profiler.ProfilerOptions(host_tracer_level=level, python_tracer_level=0))
    return profiler.stop


def written(folder):
    """Path of a profile in a folder; None if there is none."""
    return next(iter(glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)), None)
