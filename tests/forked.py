"""Scripts that share one import of TensorFlow, which takes longer than most of them.

A server imports it and starts nothing; each script runs in a fork of it, with modules, globals and threads of its own.
"""

import functools
import multiprocessing
import os
import re
import runpy
import subprocess
import sys
import traceback
from unittest import mock

_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# What a script sets before its imports is lost on modules that are there, and a process of its own may want its file.
_ALONE = re.compile(r"\b(?:os\.environ|multiprocessing|subprocess)\b")


class Running:
    """A script that was started, with its output in files of ``folder``."""

    def __init__(self, path, folder):
        self._path, self._outputs = path, [folder / f"{path.stem}.{name}" for name in ("out", "err")]
        if _ALONE.search(path.read_text(encoding="utf-8")):
            with open(self._outputs[0], "wb") as out, open(self._outputs[1], "wb") as err:
                environment = {**os.environ, **_ENVIRONMENT}
                self._process = subprocess.Popen([sys.executable, str(path)], env=environment, stdout=out, stderr=err)
        else:
            self._process = _server().Process(target=_run, args=(str(path), *map(str, self._outputs)))
            self._process.start()

    def result(self, timeout=600):
        """Wait for its end, ``timeout`` seconds at most; raises :class:`TimeoutExpired`."""
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
    """Run a script as ``python path`` does, as far as it can tell."""
    for number, name in ((1, out), (2, err)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv, sys.path[0] = [path], os.path.dirname(path)
    try:
        runpy.run_path(path, run_name="__main__")
    except Exception:
        traceback.print_exc()
        sys.exit(1)
