"""``%load_ext kerascheck`` in a real kernel."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel import Kernel  # noqa: E402

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = "import sys\nimport tensorflow as tf"
SLOW = """\
def train(files):
    features = {"a": tf.io.FixedLenFeature([], tf.float32)}
    parsed = tf.data.TFRecordDataset(files).map(lambda x: tf.io.parse_single_example(x, features)).batch(32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(parsed, epochs=3)"""
# The linter cannot know that the condition is false.
TRAINING = "if not sys.argv:\n    train(['a'])"
LINTER = "list(__import__('kerascheck.notebook.extension').notebook.extension._loaded.values())[0].linter._process.pid"
LOCATED = "list(__import__('kerascheck.notebook.extension').notebook.extension._loaded.values())[0].cells"


@pytest.fixture(scope="module")
def search_path(tmp_path_factory):
    """The search path of kernels: an empty module stands in for TensorFlow, whose import takes seconds."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "tensorflow.py").touch()
    return f"{ROOT}{os.pathsep}{folder}"


@pytest.fixture
def kernel(tmp_path, monkeypatch, search_path):
    for name in ("JPY_SESSION_NAME", "IPYKERNEL_CELL_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", search_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    started = Kernel(tmp_path)
    yield started
    started.close()


def load(kernel, *codes):
    assert kernel.run("%load_ext kerascheck").text == ""
    for code in codes:
        assert not kernel.run(code).error


def test_cells_before_and_after_loading_are_linted(kernel):
    kernel.run(IMPORTS)
    kernel.run(SLOW)
    kernel.run("%load_ext kerascheck")
    kernel.run(TRAINING)
    text = kernel.run("%kerascheck").text
    assert "notebook.ipynb:cell 2:3:" in text and "KC104" in text
    assert "[%kerascheck fix KC104]" in text
    assert "'%kerascheck fix' writes" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_cell_that_runs_again_replaces_its_run(kernel):
    kernel.run("%load_ext kerascheck")
    kernel.run(TRAINING + "\nb = 1", "c")
    kernel.run(IMPORTS, "a")
    kernel.run(SLOW, "b")
    kernel.run(TRAINING, "c")
    assert "cell 4:3:" in kernel.run("%kerascheck", "d").text
    assert kernel.run(f"[run.number for run in {LOCATED}._all()]", "e").text == "[1, 3, 4, 5, 6, 7]"
    kernel.run(SLOW + "\n# as before", "b")
    kernel.run(TRAINING, "c")
    text = kernel.run("%kerascheck", "d").text
    assert "cell 8:3:" in text and "cell 4:3:" not in text


def test_code_that_does_not_compile_is_left_out_and_code_that_fails_counts(kernel):
    kernel.run("%load_ext kerascheck")
    kernel.run(IMPORTS)
    kernel.run(SLOW, "b")
    assert kernel.run("def broken(:", "b").error == "SyntaxError"
    assert kernel.run(TRAINING + "\n1 / 0").error == "ZeroDivisionError"
    text = kernel.run("%kerascheck").text
    assert "cell 3:3:" in text and "KC002" not in text


def test_magics_are_ignored(kernel):
    load(kernel, "%matplotlib --list", IMPORTS, "!true\n" + SLOW, TRAINING)
    assert "cell 4:4:" in kernel.run("%kerascheck").text


def test_on_reports_only_new_findings(kernel):
    load(kernel, "%kerascheck on", IMPORTS)
    first = kernel.run(SLOW).text
    assert "KC104" in first and "Found" not in first
    assert kernel.run("a = 1").text == ""
    assert "KC104" not in kernel.run(TRAINING).text
    assert kernel.run(SLOW).text == ""
    kernel.run("%kerascheck off")
    kernel.run(SLOW.replace("train", "others"))
    assert kernel.run(TRAINING.replace("train", "others")).text == ""


def test_the_fixed_cell_is_the_next_one_and_replaces_the_cell(kernel):
    load(kernel, IMPORTS, SLOW, TRAINING)
    ran = kernel.run("%kerascheck fix")
    head, fixed = ran.next_input.split("\n", 1)
    assert head == "# kerascheck: replaces cell 3" and "replaces cell 3" in ran.text
    assert "parse_example(" in fixed
    ast.parse(fixed)
    kernel.run(ran.next_input)
    assert "KC104" not in kernel.run("%kerascheck").text
    assert "set_next_input" not in str(kernel.run("%kerascheck fix KC104").payload)


def test_only_the_rules_asked_for_are_fixed(kernel):
    load(kernel, IMPORTS, SLOW, TRAINING)
    assert kernel.run("%kerascheck fix KC201").payload == []
    assert "parse_example(" in kernel.run("%kerascheck fix KC104").next_input


@pytest.mark.parametrize(
    "line, said",
    [
        ("--selekt KC1", "No such option"),
        ("--select nonsense", "no rule matches 'nonsense'"),
        ("--fix", "not of %kerascheck"),
        ("fox", "no command 'fox'"),
        ("off now", "takes no options"),
        ("'", "No closing quotation"),
        ("fix --watch", "not of %kerascheck"),
    ],
)
def test_bad_input_gives_one_line(shared_kernel, line, said):
    ran = shared_kernel.run(f"%kerascheck {line}")
    assert said in ran.text and len(ran.text.splitlines()) == 1 and not ran.error


@pytest.fixture(scope="module")
def shared_kernel(tmp_path_factory, search_path):
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", search_path)
    started = Kernel(tmp_path_factory.mktemp("shared"))
    patch.undo()
    started.run("%load_ext kerascheck")
    yield started
    started.close()


def test_help(shared_kernel):
    (page,) = shared_kernel.run("%kerascheck?").payload
    assert "%kerascheck fix" in page["data"]["text/plain"]


def test_the_configuration_of_the_folder_holds(kernel, tmp_path):
    load(kernel, IMPORTS, SLOW, TRAINING)
    assert "KC104" in kernel.run("%kerascheck").text
    (tmp_path / "pyproject.toml").write_text('[tool.kerascheck]\nignore = ["KC104"]\n')
    assert "KC104" not in kernel.run("%kerascheck").text
    kernel.run("__session__ = 'mine.ipynb'")
    assert "mine.ipynb" in kernel.run("%kerascheck --isolated").text


def test_the_kernel_imports_no_linter_and_keeps_its_settings(kernel):
    state = (
        "import sys, random, signal, warnings, threading, faulthandler\n"
        "print(sys.getrecursionlimit(), hash(random.getstate()), signal.getsignal(signal.SIGALRM), "
        "signal.getsignal(signal.SIGINT), len(warnings.filters), threading.active_count(), faulthandler.is_enabled())"
    )
    before = kernel.run(state).text
    load(kernel, IMPORTS, SLOW, TRAINING, "%kerascheck", "%kerascheck fix", "%kerascheck on", "b = 2")
    assert kernel.run(state).text.startswith(before)
    imported = "[name for name in ('libcst', 'click', 'kerascheck.lint', 'kerascheck.meaning') if name in sys.modules]"
    assert kernel.run(imported).text == "[]"


def test_unloading_leaves_nothing(kernel):
    registered = (
        "shell = get_ipython()\n"
        "print({name: len(each) for name, each in shell.events.callbacks.items()}, "
        "'kerascheck' in shell.magics_manager.magics['line'])"
    )
    before = kernel.run(registered).text
    load(kernel, IMPORTS, "%kerascheck on")
    process = int(kernel.run(LINTER).text)
    assert os.path.exists(f"/proc/{process}")
    kernel.run("%unload_ext kerascheck")
    assert kernel.run(registered).text == before
    assert not os.path.exists(f"/proc/{process}")
    # Again, without a trace of the first time.
    kernel.run("%load_ext kerascheck")
    assert "No problems" in kernel.run("%kerascheck").text


def test_after_an_interrupt_both_sides_work(kernel):
    load(kernel, IMPORTS, SLOW, TRAINING)
    process = int(kernel.run(LINTER).text)
    os.kill(process, 19)
    sent = kernel.send("%kerascheck")
    time.sleep(1)
    kernel.manager.interrupt_kernel()
    assert kernel.wait(sent).error == "KeyboardInterrupt"
    assert "KC104" in kernel.run("%kerascheck").text


def test_a_killed_process_is_started_again(kernel):
    load(kernel, IMPORTS, SLOW, TRAINING)
    os.kill(int(kernel.run(LINTER).text), 9)
    time.sleep(0.3)
    assert "KC104" in kernel.run("%kerascheck").text


def test_the_process_ends_with_the_kernel(kernel):
    load(kernel)
    process = int(kernel.run(LINTER).text)
    assert os.path.exists(f"/proc/{process}")
    kernel.manager.shutdown_kernel(now=True)
    for _ in range(100):
        if not os.path.exists(f"/proc/{process}"):
            break
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{process}")


def test_frames_are_located_in_the_cells(kernel):
    load(kernel, "a = 1", "\n\n!echo \\\n  x\ndef f():\n    pass\n    import sys; return sys._getframe()")
    frame = f"cells = {LOCATED}\nframe = f()\nline = cells.locate(frame.f_code.co_filename, frame.f_lineno)\n"
    shown = "source = cells.source()\nsource.line_text(source.line_starts[line - 1])"
    assert "return sys._getframe()" in kernel.run(frame + shown).text
    assert kernel.run("cells.locate('train.py', 3), cells.locate('<string>', 1)").text == "(None, None)"


def test_frames_are_located_in_a_terminal(tmp_path, search_path):
    typed = [
        "%load_ext kerascheck",
        "import sys; f = lambda: sys._getframe()",
        f"cells = {LOCATED}",
        "print('found', cells.locate(f().f_code.co_filename, 1), cells.source().lines_above(1) + 1)",
    ]
    command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
    environment = {**os.environ, "PYTHONPATH": search_path, "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, input="\n".join(typed), capture_output=True, text=True, timeout=60
    )
    assert "found 2 2" in done.stdout, done.stdout + done.stderr


def test_doctor_reports_on_this_machine(shared_kernel):
    assert "CPU core" in shared_kernel.run("%kerascheck doctor").text


def test_a_notebook_runs_from_the_command_line(tmp_path, search_path):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(code)
        for code in ("%load_ext kerascheck", IMPORTS, SLOW, TRAINING, "%kerascheck", "%kerascheck fix")
    ]
    nbformat.write(notebook, tmp_path / "train.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "train.ipynb"]
    environment = {**os.environ, "PYTHONPATH": search_path, "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    executed = nbformat.read(tmp_path / "train.ipynb", as_version=4)
    assert "cell 3:3:" in executed.cells[4].outputs[0].text
