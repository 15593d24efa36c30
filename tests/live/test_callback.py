"""The callback ``Why`` in real trainings, each in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kerascheck.callbacks import Why

TRAININGS = Path(__file__).parent / "trainings.py"
LINES = TRAININGS.read_text().splitlines()
ENVIRONMENTS = {
    "tensorflow": {"KERAS_BACKEND": "tensorflow"},
    "jax": {"KERAS_BACKEND": "jax"},
    "tf_keras": {"TF_USE_LEGACY_KERAS": "1"},
    "torch": {"KERAS_BACKEND": "torch"},
}

slow = pytest.mark.slow
alone = pytest.mark.alone


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs trainings by name, in a copy outside of this repository: the callback lints what a script imports."""
    script = tmp_path_factory.mktemp("script") / TRAININGS.name
    shutil.copy(TRAININGS, script)

    def ran(environment, *names):
        result = subprocess.run(
            [sys.executable, str(script), str(tmp_path_factory.mktemp("live")), *names],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | environment,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1].replace(str(script), str(TRAININGS)))

    return ran


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def measured(request, run):
    """Trainings on each framework."""
    if request.param not in ("tensorflow", "jax"):
        pytest.importorskip(request.param)
    names = ["generator", "in_arrays", "eager", "short", "interrupted", "with_layers"]
    return run(ENVIRONMENTS[request.param], *names)


@pytest.fixture(scope="module")
def on_tensorflow(run):
    names = ["several_steps_per_call", "watching_only", "gate", "folds", "files", "broken", "python_in_graphs"]
    return run(ENVIRONMENTS["tensorflow"], *names)


def of_steps(report):
    """The parts of a step alone, largest first: how long a start takes depends on the machine."""
    around = {"start of the training", "validation", "callbacks between epochs"}
    return [part for part in report["shares"] if part not in around]


def line_of(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


@slow
@alone
@pytest.mark.parametrize("name", ["generator", "in_arrays", "eager"])
def test_a_training_ends_as_without_the_callback(measured, name):
    found = measured[name]
    assert found["with"] == found["without"]
    assert found["with"]["untouched"]
    assert not found["with"]["threads"]


@slow
@alone
def test_a_slow_generator_is_named_with_its_line(measured):
    report = measured["generator"]["report"]
    assert of_steps(report)[0] == "waiting for data"
    assert report["causes"]["waiting for data"] == [str(TRAININGS), line_of("time.sleep(seconds)")]
    assert report["rows"] == 8
    assert report["place"] == [str(TRAININGS), line_of("trained.fit(*data")]


@slow
@alone
def test_a_slow_callback_is_named_with_its_line(measured):
    report = measured["in_arrays"]["report"]
    assert of_steps(report)[0] == "callbacks"
    assert report["causes"]["callbacks"] == [str(TRAININGS), line_of("time.sleep(0.01)")]
    assert report["shares"]["validation"] > 0


@slow
@alone
def test_an_eager_step_is_called_eager(measured):
    assert of_steps(measured["eager"]["report"])[0] == "operations run one by one"


@slow
@alone
def test_layers_are_profiled_without_a_trace(measured, request):
    found = measured["with_layers"]
    assert found["with"] == found["without"]
    assert not found["left"]
    if "torch" in request.node.name:
        assert found["rows"] is None
        assert found["notes"] == ["the layers of a step were not measured: the profiler of torch is not read here"]
        return
    rows = {(role, kind): (place, share) for role, kind, place, share in found["rows"]}
    assert rows["layer", "Dense"][0] is None  # two lines create layers of this class
    assert rows["layer", "Dropout"][0][1] == line_of("layers.Dropout(0.3)")
    assert sum(share for _, share in rows.values()) > 0.7
    assert any(name.startswith("dense") for name in found["layers"])
    assert found["flame"]


@slow
@alone
def test_too_few_steps_are_said(measured):
    assert measured["short"]["report"]["failure"] == "it has too few steps to measure"


@slow
@alone
def test_an_interrupted_fit_leaves_the_next_one_whole(measured):
    found = measured["interrupted"]
    assert found["first"] is None
    assert found["report"]["failure"] is None
    assert found["with"]["untouched"]


@slow
@alone
def test_several_steps_per_call_are_read_together(on_tensorflow):
    found = on_tensorflow["several_steps_per_call"]
    assert found["with"] == found["without"]
    assert not found["report"]["unknown"]


@slow
@alone
def test_without_reading_batches_waiting_stays_unexplained(on_tensorflow):
    report = on_tensorflow["watching_only"]["report"]
    assert report["unknown"] == ["how long a step takes without its input: replay=False"]
    assert of_steps(report)[0] == "unexplained"


@slow
@alone
def test_a_share_above_its_limit_raises(on_tensorflow):
    gate = on_tensorflow["gate"]
    assert gate["0.99"] is None
    assert gate["0.05"].startswith("waiting for data takes") and gate["0.05"].endswith("more than 5%")
    assert gate["short"] == "waiting for data was not measured: it has too few steps to measure"


@slow
@alone
def test_copies_of_the_callback_share_their_reports_and_name_differences(on_tensorflow):
    folds = on_tensorflow["folds"]
    assert folds["reports"] == 2
    last = folds["printed"].splitlines()[-1]
    assert last.startswith("training 2: ") and "waiting for data" in last


@slow
@alone
def test_one_of_several_processes_writes_its_own_files_and_prints_nothing(on_tensorflow):
    files = on_tensorflow["files"]
    assert files["files"] == ["logs", "why-rank1.html", "why-rank1.json"]
    assert files["events"]
    assert files["printed"] == ""


@slow
@alone
def test_python_in_the_step_is_told_from_python_in_the_pipeline(on_tensorflow):
    found = on_tensorflow["python_in_graphs"]
    assert found["with"] == found["without"]
    causes = found["report"]["causes"]
    assert causes["Python inside the step"] == [str(TRAININGS), line_of("# in the step")]
    assert causes["waiting for data"] == [str(TRAININGS), line_of("# in the pipeline")]


@slow
@alone
def test_an_error_of_the_callback_does_not_end_the_training(on_tensorflow):
    for found in on_tensorflow["broken"]:
        assert found["with"] == found["without"]
        assert "an error in kerascheck (ZeroDivisionError: division by zero)" in found["report"]["failure"]


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"waiting": 0.5}, "there is no part 'waiting'"), ({"callbacks": 50}, "must be between 0 and 1, not 50")],
)
def test_a_wrong_limit_is_refused(limits, message):
    pytest.importorskip("keras")
    with pytest.raises(ValueError, match=message):
        Why(raise_above=limits)
