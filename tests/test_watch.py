"""``--watch`` lints again whenever a dependency of the findings changes."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.cli import watch
from kerascheck.lint import pipeline
from kerascheck.lint.analyze_file import Analysis
from kerascheck.source import dependencies

HELPER = "import tensorflow as tf\n\n\ndef load(number):\n    return tf.data.Dataset.range(number).map(lambda x: {})\n"
DRAWS = "x + tf.random.uniform([], maxval=9, dtype=tf.int64)"
TRAIN = "from data import load\nimport tensorflow as tf\n\nmodel = tf.keras.Sequential()\nmodel.fit(load(10).batch(2).prefetch(2))\n"
ONLY = ("--select", "serial-map", "--watch", "--output-format", "concise")
NONE, ONE = "No problems found in 1 file.", "Found 1 problem (1 warning) in 1 file"


@pytest.fixture
def folder(tmp_path, monkeypatch, in_this_process):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    (project / ".git").mkdir()
    (project / "data.py").write_text(HELPER.format("x"))
    (project / "train.py").write_text(TRAIN)
    return project


@pytest.fixture
def watching(folder, monkeypatch):
    """Runs the command line; each pause performs one step, then the user interrupts."""

    def run(*steps, arguments=("data.py",), options=ONLY):
        pending = list(steps)

        def sleep(seconds):
            if seconds == watch._SETTLING:
                return
            if not pending:
                raise KeyboardInterrupt
            pending.pop(0)()

        monkeypatch.setattr("time.sleep", sleep)
        ran = kerascheck(*options, *arguments)
        assert not pending
        return ran

    return run


def write(name, text):
    return lambda: Path(name).write_text(text)


def nothing():
    pass


def summaries(ran):
    return [line.split("; ")[0] for line in ran.out.splitlines() if line.startswith(("No ", "Found "))]


def test_change_is_linted_and_interrupt_exits_with_0(watching):
    ran = watching(nothing, write("data.py", HELPER.format(DRAWS)), nothing, write("data.py", HELPER.format("x + 1")))
    assert (ran.code, summaries(ran)) == (0, [NONE, ONE, NONE])
    said = "Watching for changes. Ctrl-C ends.\n"
    assert re.fullmatch(rf"{said}(?:\d\d:\d\d:\d\d data.py has changed.\n{said}){{2}}", ran.err)
    assert watching(options=(*ONLY, "-q")).err == ""


def test_every_dependency_triggers_a_run(watching, folder):
    (folder / "data.py").write_text(HELPER.format(DRAWS))
    (folder.parent / "known.json").write_text('{"kerascheck-baseline": 1, "findings": []}')
    settings = 'baseline = "../known.json"\n'
    steps = {
        "pyproject.toml": write("pyproject.toml", '[tool.kerascheck]\nmin-severity = "error"\n'),
        "kerascheck.toml": write("kerascheck.toml", settings),
        "../known.json": lambda: kerascheck("data.py", "--select", "KC101", "--write-baseline", "../known.json"),
        "data.py": write("data.py", HELPER.format(DRAWS).replace("maxval=9", "maxval=8")),
        "train.py": write("train.py", TRAIN.replace("model.fit", "model.evaluate")),
    }
    ran = watching(*steps.values())
    reported = re.findall(r"\d\d:\d\d:\d\d (\S+) (?:has|and)", ran.err)
    assert [os.path.basename(each) for each in reported] == [os.path.basename(each) for each in steps]
    words = [each.split()[0] for each in summaries(ran)]
    assert words == ["Found", "No", "Found", "No", "Found", "Found"]


def test_new_and_deleted_files_trigger_a_run(watching, folder):
    ran = watching(
        write("more.py", HELPER.format(DRAWS)),
        lambda: os.mkdir("deep"),
        write("deep/more.py", HELPER.format(DRAWS)),
        lambda: os.remove("more.py"),
        arguments=(".",),
    )
    counts = [int(each.split(" in ")[1].split()[0]) for each in summaries(ran)]
    assert counts[0] == 2 and counts[-1] == 3 and max(counts) == 4
    reported = re.findall(r"\d\d:\d\d:\d\d (.+) changed", ran.err)
    assert reported[0] == f"the folder {folder} has" and reported[-2:] == ["the folder deep has", "more.py has"]


def test_irrelevant_changes_are_ignored(watching, folder, monkeypatch):
    (folder / "logs").mkdir()
    asked = []
    recheck = dependencies.Recheck
    monkeypatch.setattr(dependencies, "Recheck", lambda: asked.append(1) or recheck())
    ran = watching(
        lambda: os.utime("data.py", (1, 1)),
        nothing,
        nothing,
        write("data.py", HELPER.format("x")),
        nothing,
        write("logs/events", "1"),
        nothing,
    )
    # Once at the start, and once per change that may be relevant.
    assert len(asked) <= 4
    assert summaries(ran) == [NONE], ran.err


def test_change_during_a_run_is_noticed(watching, folder, monkeypatch):
    lint = pipeline.lint

    def slow(*arguments, **options):
        outcome = lint(*arguments, **options)
        if HELPER.format("x") == Path("data.py").read_text():
            write("data.py", HELPER.format(DRAWS))()
        return outcome

    monkeypatch.setattr(pipeline, "lint", slow)
    assert summaries(watching()) == [NONE, ONE]


def test_only_dependent_files_are_checked_again(watching, folder, monkeypatch):
    checked = []
    check = Analysis.check
    monkeypatch.setattr(Analysis, "check", lambda self, file: checked.append(file.path) or check(self, file))
    (folder / "other.py").write_text(HELPER.format(DRAWS))
    watching(write("data.py", HELPER.format("x + 2")), arguments=(".",))
    assert (
        sorted(checked) == ["data.py", "data.py", "other.py", "train.py", "train.py"] and checked.count("other.py") == 1
    )


def test_later_errors_are_printed_and_watching_continues(watching, folder):
    ran = watching(
        write("kerascheck.toml", "ignor = []\n"),
        nothing,
        write("kerascheck.toml", 'baseline = "none.json"\n'),
        write("none.json", '{"kerascheck-baseline": 1, "findings": []}'),
        lambda: os.remove("data.py"),
        write("data.py", HELPER.format("x")),
    )
    errors = [line.split(":")[2].strip() for line in ran.err.splitlines() if line.startswith("kerascheck: error: ")]
    assert errors == ["kerascheck.toml", "none.json", "data.py"]
    assert "kerascheck: error: data.py: no such file or folder\n" in ran.err
    assert ran.code == 0 and len(summaries(ran)) == 3


@pytest.mark.parametrize(
    ("arguments", "said"), [(("none.py",), "none.py: no such file"), ((".", "--baseline", "x"), "x: no such baseline")]
)
def test_error_at_the_start_exits_with_2(watching, arguments, said):
    ran = watching(arguments=arguments)
    assert ran.code == 2 and ran.err.startswith(f"kerascheck: error: {said}")


@pytest.mark.parametrize(
    "other",
    [
        "-",
        "--fix",
        "--diff",
        "--add-noqa",
        "--write-baseline=x",
        "--statistics",
        "--show-settings",
        "--explain-silence=3",
    ],
)
def test_incompatible_options_are_rejected(folder, other):
    ran = kerascheck("--watch", other)
    assert ran.code == 2 and ran.err.count("\n") == 1 and "cannot be combined with " in ran.err and "--watch" in ran.err


@pytest.mark.parametrize("number", [1, 50])
@pytest.mark.parametrize("place", [".", "deep/down"])
@pytest.mark.parametrize("query", ["digest", "is_file"])
def test_existing_and_possible_files_are_watched(folder, monkeypatch, query, place, number):
    paths = [folder / place / f"{each}.py" for each in range(number)]
    if query == "digest":
        (folder / place).mkdir(parents=True, exist_ok=True)
        for path in paths:
            path.write_text("x = 1\n")
    tracker = dependencies.DependencyTracker()
    with dependencies.tracking(tracker):
        for path in paths:
            (dependencies.is_file if query == "is_file" else dependencies.content)(str(path))
    steps = [lambda: (folder / place).mkdir(parents=True, exist_ok=True), lambda: paths[0].write_text("x = 23\n")]
    monkeypatch.setattr("time.sleep", lambda seconds: seconds == watch._SETTLING or steps.pop(0)())
    assert watch.wait_for_change(tracker.dependencies, []).endswith("0.py has changed.")


def test_wait_for_unsettled_changes_is_bounded(folder, monkeypatch):
    times = iter(range(1000))

    def sleep(seconds):
        Path("data.py").write_text("#" * next(times))

    monkeypatch.setattr("time.sleep", sleep)
    assert "has changed" in watch.wait_for_change([], ["data.py"])
    assert next(times) < 100


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_each_round_clears_the_terminal(folder, term):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kerascheck", "--watch", "data.py"]
    environment = {**os.environ, "TERM": term}
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        # Processes that a shell starts in the background ignore Ctrl-C, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(theirs)
    shown = ""
    while "Ctrl-C ends." not in shown:
        shown += os.read(ours, 10_000).decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert ("\x1b[2J" in shown) == (term == "xterm")
    assert "Traceback" not in os.read(ours, 10_000).decode()
    os.close(ours)
