"""Setup of all tests, and fixtures shared by several folders."""

import gc
import itertools
import os
from pathlib import Path

import pytest
from turns import turn

from kerascheck.interpreter.values import Arguments
from kerascheck.lint import workers

# Forking is safe in a worker of pytest-xdist: its extra thread only reads a pipe and holds no lock that a fork needs.
workers._runs_alone = lambda: True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """The number of workers for ``-n auto``: one more than processors, since tests often wait for trainings."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Start each worker with slow tests and end with quick ones, to balance the load at the end of a run.

    pytest-xdist gives each worker an equal share in this order; idle workers steal from the ends of the others. Slow
    tests keep their order, because some share expensive fixtures.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    ordered = []
    for left in range(workers, 0, -1):
        size = (len(slow) + len(quick)) // left
        first = slow[: len(slow) // left]
        ordered += first + quick[: size - len(first)]
        del slow[: len(first)], quick[: size - len(first)]
    items[:] = ordered


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Run a test that is marked ``alone``, and the fixtures it starts, while no other test of this run is running.

    A fixture could not do this: those of a module, where most trainings run, start before those of a test.
    """
    # A pytest that a test starts inherits the variables of a worker, but is none.
    if not hasattr(item.config, "workerinput"):
        return (yield)
    # pytest-xdist gives each worker a folder in a folder of the run.
    with turn(Path(item.config.option.basetemp).parent, item.get_closest_marker("alone") is not None):
        return (yield)


def pytest_collection_finish():
    """Exclude the nine thousand collected tests from garbage collection, which parsing triggers often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def numbered_folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("each")
    return (base / str(number) for number in itertools.count())


@pytest.fixture
def tmp_path(numbered_folders):
    """An empty folder; pytest's own fixture lists all earlier ones, which takes as long as a test."""
    folder = next(numbered_folders)
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True, scope="session")
def allow_bytecode_files():
    """Let child processes write bytecode; otherwise dozens of them compile all modules again, half a second each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_terminal():
    """Remove the terminal size that pytest-xdist sets, and the colors that CI requests, from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("COLUMNS", "LINES", "FORCE_COLOR"):
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def isolated_cache(tmp_path_factory):
    """Give child processes a temporary cache, and disable the cache in this process; its own tests enable it again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERASCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("kerascheck.cli.check._run_of", lambda paths, overrides, options: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def strict_parameters():
    """Reject queries for parameters that a signature lacks; elsewhere, a typo looks like a missing argument."""
    with pytest.MonkeyPatch.context() as patch:
        for method in (Arguments.given, Arguments.written):
            patch.setattr(Arguments, method.__name__, _strict(method))
        yield


def _strict(method):
    def asked(self, signature, parameter):
        assert parameter in signature, (
            f"kerascheck/knowledge/signatures.py has no {parameter!r} where {signature.names} are known"
        )
        return method(self, signature, parameter)

    return asked


@pytest.fixture
def in_this_process(monkeypatch):
    """Check files in this process: forking for each program takes longer than checking it."""
    monkeypatch.setattr("kerascheck.lint.workers.can_fork", lambda: False)
