"""Runs one script like ``python script.py``, with probes, and reports to the parent how it ended."""

import builtins
import contextlib
import ctypes
import json
import os
import signal
import sys
import traceback
import types

from . import probes, sources
from .channel import Channel
from .frames import claim
from .recorder import Recorder, flush

_PR_SET_PDEATHSIG = 1


def read(run_file):
    """Read the description of the run, a dictionary."""
    with open(run_file, encoding="utf-8") as stream:
        return json.load(stream)


def serve_sources(run):
    """Install the loader that serves the sources of ``run`` from memory."""
    sources.serve({os.path.realpath(path): text for path, text in run["sources"].items()})
    claim(run["sources"])


def main(run_file):
    """Run the script and exit. Every kind of end sends a message to the parent."""
    run = read(run_file)
    _die_with_parent(run["parent"])
    channel = Channel(run["events"], run["orders"])
    recorder = Recorder(run["plan"], channel)
    os.register_at_fork(after_in_child=recorder.disable)
    serve_sources(run)
    _serve_in_spawned_processes(run_file)
    probes.install(run, recorder)
    channel.send(event="started")
    end = _run_script(run["script"], run["sources"], run["argv"])
    flush()
    if recorder.disabled:  # a process forked by the script: its end says nothing about the script
        os._exit(0)
    recorder.finish(**end)


def _die_with_parent(parent):
    """End this process when kerascheck ends, even if kerascheck is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if hasattr(os, "getppid") and os.getppid() != parent:
        os._exit(1)


def _run_script(path, served, argv):
    """Execute the script as ``__main__``; returns the fields of the closing message."""
    text = served[path]
    module = types.ModuleType("__main__")
    module.__file__ = path
    given: dict = {"__builtins__": builtins}
    module.__spec__ = None
    module.__annotations__ = {}
    sys.modules["__main__"] = module
    sys.argv = [path, *argv]
    sys.path[0] = os.path.dirname(path)
    if path.endswith(".ipynb"):
        # IPython defines these names in every cell; its own commands are skipped.
        given |= {"display": lambda *values, **options: None, "get_ipython": lambda: None, "_": None}
    vars(module).update(given)
    try:
        code = compile(text, path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except SystemExit as stop:
        return {"reason": "exit", "detail": "" if stop.code is None else str(stop.code)[:500]}
    except KeyboardInterrupt:
        return {"reason": "interrupted", "detail": ""}
    except BaseException as error:
        return {"reason": "exception", **_describe(error, set(served))}
    return {"reason": "end", "detail": ""}


def _describe(error, served):
    """One line about an exception, its place in the script, and its traceback without kerascheck's frames."""
    # The exception's own traceback starts in this file.
    entries = traceback.extract_tb(error.__traceback__)[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    entries = [entry for entry in entries if not entry.filename.startswith(here)]
    own = [entry for entry in entries if os.path.realpath(entry.filename) in served]
    raised = own or entries
    place = raised[-1] if raised else None
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    # The message of a SyntaxError begins with the file and the line.
    headline = message.splitlines()[-1 if isinstance(error, SyntaxError) else 0] if message else type(error).__name__
    text = "Traceback (most recent call last):\n" + "".join(traceback.format_list(entries)) + message
    flush()
    # Avoid sys.stderr, which the script may have replaced.
    with contextlib.suppress(OSError):
        os.write(2, (text + "\n").encode("utf-8", "backslashreplace"))
    return {
        "detail": headline[:500],
        "exception": type(error).__name__,
        "stdin": isinstance(error, EOFError) and "reading a line" in str(error),
        "line": place.lineno if place else None,
    }


def _serve_in_spawned_processes(run_file):
    """Serve the same fixed sources in workers that multiprocessing spawns."""
    from multiprocessing import spawn

    get_command_line = spawn.get_command_line
    prologue = (
        "import importlib.util as u; "
        f"s = u.spec_from_file_location('_kerascheck_start', {os.path.join(os.path.dirname(os.path.abspath(__file__)), '__main__.py')!r}); "
        f"m = u.module_from_spec(s); s.loader.exec_module(m); m.serve_only({os.path.abspath(run_file)!r}); "
    )

    def command_line(**options):
        command = get_command_line(**options)
        if "-c" in command:
            command[command.index("-c") + 1] = prologue + command[command.index("-c") + 1]
        return command

    spawn.get_command_line = command_line
