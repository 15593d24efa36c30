"""What holds for every test, and fixtures that tests of several folders use."""

import gc
import itertools
import os

import pytest
from turns import turn

from kerascheck.interpreter.values import Arguments
from kerascheck.lint import workers

# A worker of pytest-xdist has a thread that reads its pipe, and holds no lock that a fork needs.
workers._runs_alone = lambda: True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """For ``-n auto``: one more than there are processors, since tests that run trainings wait for them half of the time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Each worker begins with slow tests and ends with quick ones, so that none has a long test left when another is done.

    pytest-xdist hands out shares of equal length in this order; those who are done steal from the ends of the others. Slow tests
    stay in their order: some share what takes long to build.
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


@pytest.fixture(autouse=True)
def take_turns(request, tmp_path_factory):
    """A test that is marked ``alone`` has the machine to itself, as far as this run of pytest goes."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    with turn(tmp_path_factory.getbasetemp().parent, request.node.get_closest_marker("alone") is not None):
        yield


def pytest_collection_finish():
    """The collector need not look at nine thousand tests again for every program that one of them parses."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def numbered_folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("each")
    return (base / str(number) for number in itertools.count())


@pytest.fixture
def tmp_path(numbered_folders):
    """A folder of its own for a test. That of pytest reads the names of all before, and links the newest: as long as a test takes."""
    folder = next(numbered_folders)
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True, scope="session")
def processes_keep_what_they_compile():
    """Dozens of processes would compile all modules again, each for half a second, where the environment says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def there_is_no_terminal():
    """Workers of pytest-xdist are started with a size of the terminal in their environment, those of CI with a wish for colors."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("COLUMNS", "LINES", "FORCE_COLOR"):
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_is_kept_where_programs_are_linted(tmp_path_factory):
    """What tests run as another process keeps its results there; in this process no run has a cache, but in tests of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERASCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("kerascheck.cli.check._run_of", lambda paths, overrides, options: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def nobody_asks_for_a_parameter_that_is_not_known():
    """An argument is asked of a callable whose signature has the parameter: in a user's program a typo would be an argument that nobody gives."""
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
    """The command line checks files in this process: to fork one for each program takes longer than to check it."""
    monkeypatch.setattr("kerascheck.lint.workers.can_fork", lambda: False)
