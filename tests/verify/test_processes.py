"""Start and end of scripts; none of them trains, so none imports a framework."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from verify.made_up import gone, with_torch

from kerascheck.runtime.verify.process import Ended, Plan, Script, ScriptProcess, TooLate
from kerascheck.runtime.verify.rounds import run_alone
from kerascheck.runtime.verify.scouting import unusable_reason

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def run(tmp_path):
    """Run a script text (with further modules) and return the finished run."""

    def run(text, *arguments, served=None, start_limit=60, **modules):
        script = tmp_path / "train.py"
        script.write_text(text)
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(source)
        sources = {str(script): text} | {
            str(tmp_path / f"{name}.py"): source for name, source in (served or {}).items()
        }
        description = Script(str(script), sources, arguments, directory=str(tmp_path))
        return run_alone(description, Plan(), start_limit=start_limit, block_limit=5)

    return run


def test_arguments_name_file_and_folder_are_those_of_a_script(run, tmp_path):
    result = run("import sys, os\nprint(sys.argv, __name__, __file__, os.getcwd(), sys.path[0])", "--epochs", "3")
    path = str(tmp_path / "train.py")
    assert result.output.strip() == f"{[path, '--epochs', '3']} __main__ {path} {tmp_path} {tmp_path}"
    assert unusable_reason(result) == "the script ended without a training step"


def test_imports_are_served_from_memory_without_changes_on_disk(run, tmp_path):
    result = run(
        "import data\nprint(data.size())", data="def size(): return 1\n", served={"data": "def size(): return 2\n"}
    )
    assert result.output.strip() == "2"
    assert (tmp_path / "data.py").read_text() == "def size(): return 1\n"
    assert not list(tmp_path.glob("**/__pycache__"))


def test_stale_bytecode_of_the_original_is_not_used(run, tmp_path):
    import py_compile

    (tmp_path / "data.py").write_text("def size(): return 1\n")
    py_compile.compile(str(tmp_path / "data.py"))
    before = {p: p.read_bytes() for p in tmp_path.glob("**/*.pyc")}
    result = run(
        "import data\nprint(data.size())", data="def size(): return 1\n", served={"data": "def size(): return 2\n"}
    )
    assert result.output.strip() == "2"
    assert {p: p.read_bytes() for p in tmp_path.glob("**/*.pyc")} == before


def test_tracebacks_and_inspect_show_the_text_that_runs(run, tmp_path):
    text = "import inspect, data\nprint(inspect.getsource(data.fail))\ndata.fail()\n"
    result = run(text, data="", served={"data": "# moved\n\ndef fail():\n    raise ValueError('here')\n"})
    assert "raise ValueError('here')" in result.output.split("Traceback")[0]
    assert 'data.py", line 4, in fail' in result.output
    assert "_kerascheck_child" not in result.output and "launch.py" not in result.output
    assert "ValueError: here at line 4" in unusable_reason(result)


def test_source_is_served_again_after_the_cache_is_cleared(run):
    text = "import inspect, linecache, data\nlinecache.clearcache()\nprint(inspect.getsource(data.size))\n"
    result = run(text, data="def size(): return 1\n", served={"data": "def size(): return 2\n"})
    assert "return 2" in result.output and "return 1" not in result.output


def test_spawned_workers_are_served_too(run):
    text = (
        "import multiprocessing, data\n"
        "def work(x):\n    return x + data.size()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [40]))\n"
    )
    result = run(text, data="def size(): return 1\n", served={"data": "def size(): return 2\n"})
    # On a busy machine Python may also warn that the pool was not cleaned up in time.
    assert result.output.splitlines()[0] == "[42]"


def test_standard_input_is_closed(run):
    result = run("name = input('name? ')\n")
    assert unusable_reason(result) == "the script reads standard input at line 1, which is closed here"


@pytest.mark.parametrize(
    "text, words",
    [
        ("import sys; sys.exit(3)", "sys.exit() with '3' before any training step"),
        ("import os; os._exit(4)", "status 4"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise RuntimeError('broken')", "RuntimeError: broken at line 1"),
        ("def f(:", "SyntaxError"),
        ("import os\nif os.fork() == 0:\n    raise SystemExit\nos.wait()", "without a training step"),
        ("raise KeyboardInterrupt", "without a training step"),
    ],
)
def test_every_end_has_a_reason(run, text, words):
    assert words in unusable_reason(run(text))


def test_a_hanging_script_is_killed(run):
    result = run("import time\nwhile True: time.sleep(1)", start_limit=1)
    assert "no progress" in unusable_reason(result)


@pytest.mark.parametrize(
    "text",
    [
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)'])",
        "import os, time\nos.closerange(3, 1000)\ntime.sleep(600)",
    ],
    ids=["exec", "close"],
)
def test_a_script_that_leaves_its_group_is_killed(run, text, monkeypatch):
    monkeypatch.setattr("kerascheck.runtime.verify.process._LAST_SECONDS", 0.2)
    assert "replaced its process" in unusable_reason(run(text))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="states of processes are read from /proc")
def test_an_interrupt_with_suspended_processes_leaves_nothing(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import os, time\nfrom torch.optim.optimizer import SGD\n"
        "open(f'{os.getpid()}.pid', 'w').close()\n"
        "while True:\n    time.sleep(0.01)\n    SGD().step()\n"
    )
    with_torch(tmp_path)
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from kerascheck.runtime.verify.process import *\nfrom kerascheck.runtime.verify.rounds import measure_in_turn\n"
        f"script = Script({str(script)!r}, {{{str(script)!r}: open({str(script)!r}).read()}}, directory={str(tmp_path)!r})\n"
        "plan = Plan(warmup_seconds=0, block_steps=1, blocks=10**9, in_turn=True)\n"
        "measure_in_turn({'a': script, 'b': script}, plan, start_limit=600, block_limit=600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2], stderr=subprocess.PIPE)
    pids = []
    deadline = time.monotonic() + 60
    while not (len(pids) == 2 and any(map(frozen, pids))) and time.monotonic() < deadline:
        pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
        time.sleep(0.01)
    parent.send_signal(signal.SIGINT)
    _, errors = parent.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert len(pids) == 2 and all(gone(pid) for pid in pids)


def frozen(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.slow
def test_processes_that_the_script_started_end_with_it(run, tmp_path):
    text = (
        "import subprocess, sys, time\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "pids = [subprocess.Popen(sleep).pid, subprocess.Popen(sleep, start_new_session=True).pid]\n"
        "open('pids', 'w').write(' '.join(map(str, pids)))\n"
        "time.sleep(600)\n"
    )
    run(text, start_limit=3)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    if sys.platform != "linux":
        pids = pids[:1]
    assert all(gone(pid) for pid in pids)


def test_temporary_files_of_the_script_go_with_it(run):
    result = run("import tempfile; print(tempfile.mkdtemp())")
    assert not Path(result.output.strip()).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="parent death signals are Linux's")
def test_nothing_survives_a_killed_kerascheck(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    program = (
        "from kerascheck.runtime.verify.process import *\nfrom kerascheck.runtime.verify.rounds import run_alone\n"
        f"run_alone(Script({str(script)!r}, {{{str(script)!r}: open({str(script)!r}).read()}}, directory={str(tmp_path)!r}),"
        " Plan(), start_limit=600, block_limit=1)"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=root)
    pid_file = tmp_path / "pid"
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert gone(int(pid_file.read_text()))


def test_messages_end_with_the_process(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("")
    with ScriptProcess(Script(str(script), {str(script): "import os; os._exit(0)"}), Plan()) as process:
        with pytest.raises(Ended):
            while True:
                process.next_message(time.monotonic() + 60)
    with ScriptProcess(Script(str(script), {str(script): "import time; time.sleep(60)"}), Plan()) as process:
        with pytest.raises(TooLate):
            while True:
                process.next_message(time.monotonic() + 1)
