"""Runs scripts that share one import of TensorFlow, which takes longer than most of them.

A server imports it without starting anything. Each script runs in a fork with separate modules, globals and threads.
"""

import functools
import hashlib
import itertools
import json
import multiprocessing
import numbers
import os
import re
import runpy
import subprocess
import sys
import time
import traceback
from unittest import mock

_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
# These scripts need a new process: modules that are already imported ignore the environment, and child processes may
# need the script's file.
_ALONE = re.compile(r"\b(?:os\.environ|multiprocessing|subprocess)\b")


class Running:
    """A running script, with its output in files of ``folder``.

    Args:
        repeatable: run it in its own folder with fixed seeds and clocks, and record its final :attr:`state`. Settings
            before its imports, such as environment variables, have no effect.
    """

    def __init__(self, path, folder, *, repeatable=False):
        self._path, self._outputs = path, [folder / f"{path.stem}.{name}" for name in ("out", "err")]
        self._state = folder / f"{path.stem}.json" if repeatable else None
        if not repeatable and _ALONE.search(path.read_text(encoding="utf-8")):
            with open(self._outputs[0], "wb") as out, open(self._outputs[1], "wb") as err:
                environment = {**os.environ, **_ENVIRONMENT}
                self._process = subprocess.Popen([sys.executable, str(path)], env=environment, stdout=out, stderr=err)
        else:
            run = _run_repeatable if repeatable else _run
            files = [*self._outputs, self._state] if repeatable else self._outputs
            self._process = _server().Process(target=run, args=(str(path), *map(str, files)))
            self._process.start()

    @property
    def state(self):
        """The final global variables of a repeatable script: a digest of their numbers, by name."""
        return json.loads(self._state.read_text()) if self._state.exists() else None

    def result(self, timeout=600):
        """Wait for the end of the script, at most ``timeout`` seconds; raises :class:`TimeoutExpired`."""
        forked = not isinstance(self._process, subprocess.Popen)
        try:
            self._process.join(timeout) if forked else self._process.wait(timeout)
            code = self._process.exitcode if forked else self._process.returncode
            if code is None:
                raise subprocess.TimeoutExpired(str(self._path), timeout)
        finally:
            self._process.kill()
        out, err = (path.read_text("utf-8", "replace") for path in self._outputs)
        return subprocess.CompletedProcess(str(self._path), code, out, err)


@functools.cache
def _server():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tensorflow", "keras"])
    with mock.patch.dict(os.environ, _ENVIRONMENT):
        multiprocessing.forkserver.ensure_running()
    return context


def _run(path, out, err):
    """Run a script like ``python path``; the script sees no difference."""
    for number, name in ((1, out), (2, err)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv, sys.path[0] = [path], os.path.dirname(path)
    try:
        return runpy.run_path(path, run_name="__main__")
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def _run_repeatable(path, out, err, state):
    import keras

    os.chdir(os.path.dirname(path))
    keras.utils.set_random_seed(0)
    # Progress bars show times, so each call of a clock returns one second more than the last.
    ticks = itertools.count(1)
    for name in ("time", "perf_counter", "monotonic"):
        setattr(time, name, lambda: float(next(ticks)))
        setattr(time, f"{name}_ns", lambda: next(ticks) * 10**9)
    left = _run(path, out, err)
    # Only numbers count: names of temporary folders differ in each run.
    digests = {
        name: digest
        for name, value in left.items()
        if not name.startswith("__") and (digest := _digest(value)) is not None
    }
    with open(state, "w", encoding="utf-8") as file:
        json.dump(digests, file)


def _digest(value, depth=3):
    """A text that is equal for two values if all their numbers are equal; None for values without numbers."""
    import keras
    import numpy as np
    import tensorflow as tf

    if isinstance(value, keras.callbacks.History):
        value = value.history
    elif isinstance(value, (keras.layers.Layer, keras.optimizers.Optimizer)):
        # Names of variables contain counters of objects, so compare variables by their order.
        value = [np.asarray(each) for each in value.variables]
    if isinstance(value, numbers.Number):
        return repr(value)
    if isinstance(value, (np.ndarray, np.generic, tf.Variable, keras.Variable)) or tf.is_tensor(value):
        if isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
            return repr(value)
        array = np.asarray(value)
        content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        return f"{array.dtype}{array.shape}:{hashlib.sha256(content).hexdigest()}"
    if depth and isinstance(value, (list, tuple)):
        return repr([_digest(each, depth - 1) for each in value])
    if depth and isinstance(value, dict):
        return repr([(str(key), _digest(each, depth - 1)) for key, each in value.items()])
    return None
