"""``verify --apply`` on made-up measurements, with the real linter and real files."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import click
import pytest
from command import kerascheck
from verify.made_up import ended
from verify.stand_ins import invoke

from kerascheck.cli import verify
from kerascheck.project.config import Configuration, overrides_from
from kerascheck.runtime.verify import apply
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.findings import TOGETHER, repairs
from kerascheck.runtime.verify.machine_class import machine
from kerascheck.runtime.verify.prepared import prepare
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status, Verdict
from kerascheck.source import writing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

TRAIN = """\
import keras, torch
from lib import more
from lib.data import images, sounds

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", run_eagerly=True)
model.fit(images(), epochs=3)
other = keras.Sequential([keras.layers.Dense(1)])
other.compile("sgd", "mse")
other.fit(sounds(), epochs=3)
"""
DATA = """\
import tensorflow as tf


def scale(x):
    return x / 2


def images():
    ds = tf.data.Dataset.range(1000).map(scale, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(10).prefetch(1)


def sounds():
    ds = tf.data.Dataset.range(1000).map(lambda x: (tf.random.normal([3]), x))
    return ds.batch(10)
"""
# By rule: the file of its fix, the old code, and the new code.
FIXED = {
    "KC309": ("train.py", '"mse", run_eagerly=True)', '"mse")'),
    "KC103": (
        "lib/data.py",
        "map(scale, num_parallel_calls=tf.data.AUTOTUNE)\n    return ds.batch(10)",
        "batch(10)\n    return ds.map(scale, num_parallel_calls=tf.data.AUTOTUNE)",
    ),
    "KC101": ("lib/data.py", "normal([3]), x))", "normal([3]), x), num_parallel_calls=tf.data.AUTOTUNE)"),
}
SAME = ([1.0, 0.9], [1.0, 0.9])
TOGETHER_AGAIN = "the confirmed fixes together"


def verdict(status, gain=2.0, training=0, losses=SAME, **options):
    measured = None if status is Status.NOT_RUN else Ratio(gain, gain - 0.1, gain + 0.1)
    return Verdict("", status, f"because {status.value}", measured, training=training, losses=losses, **options)


CONFIRMED, INCONCLUSIVE = verdict(Status.CONFIRMED), verdict(Status.INCONCLUSIVE)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "more.py").write_text("")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "lib" / "data.py").write_text(DATA)
    return tmp_path


@pytest.fixture
def measured(project, monkeypatch):
    """Sets results by the first word or the whole of a variant's name; returns the variants measured by each run."""
    says, runs = {}, []

    def verify_here(prepared, budget, progress):
        runs.append([repair.variant for repair in prepared.repairs])
        verdicts = []
        for repair in prepared.repairs:
            name = repair.variant.name
            found = says.get(name) or says.get(name.split()[0]) or says.get(name.split(", in")[0]) or INCONCLUSIVE
            copied = {field: getattr(found, field) for field in Verdict.__dataclass_fields__}
            verdicts.append(Verdict(**{**copied, "name": name}))
        if then := says.get("then"):
            then()
        scout = ended(versions={"tensorflow": "2.21.0"})
        return prepared.result(Comparison(prepared.run.path, scout, [scout], [], verdicts), machine(), None)

    monkeypatch.setattr("kerascheck.cli.verify.verify_here", verify_here)
    return SimpleNamespace(says=says, runs=runs, names=lambda: [[each.name for each in run] for run in runs])


@pytest.fixture
def terminal(monkeypatch):
    """Answers prompts with the given text; returns the prompts."""

    def answer(text, meanwhile=lambda: None):
        asked = []

        def confirm(question, **options):
            asked.append(question)
            meanwhile()
            return text == "y"

        stdin = SimpleNamespace(isatty=lambda: True)
        monkeypatch.setattr("kerascheck.cli.verify_apply.sys", SimpleNamespace(stdin=stdin))
        monkeypatch.setattr("kerascheck.cli.verify_apply.click.confirm", confirm)
        return asked

    return answer


def written(project):
    """Return the rules whose fixes are in the files, and check that nothing else has changed."""
    rules = set()
    for path, text in (("train.py", TRAIN), ("lib/data.py", DATA)):
        now = (project / path).read_text()
        for code, (where, old, new) in FIXED.items():
            if where == path and old not in now:
                text = text.replace(old, new)
                rules.add(code)
        assert now == text
    return rules


def test_a_confirmed_fix_is_shown_and_written_after_confirmation(project, measured, terminal):
    measured.says["KC309"] = CONFIRMED
    asked = terminal("y")
    result = invoke("train.py", "--apply")
    assert asked == ["Write these changes?"] and result.return_value == 1
    assert (project / "train.py").read_text() == TRAIN.replace(", run_eagerly=True", "")
    assert (project / "lib" / "data.py").read_text() == DATA
    assert '-model.compile("sgd", "mse", run_eagerly=True)\n+model.compile("sgd", "mse")\n' in result.stdout
    assert "Confirmed on this machine, 1 fix:\n  KC309 debug-left-on train.py:6 x2.00 [1.90-2.10]\n" in result.stderr
    assert result.stderr.endswith("Wrote 1 fix to train.py.\n")
    assert len(measured.runs) == 1


@pytest.mark.parametrize("answer", ["n", ""])
def test_nothing_is_written_without_confirmation(project, measured, terminal, answer):
    measured.says["KC309"] = CONFIRMED
    terminal(answer)
    result = invoke("train.py", "--apply")
    assert written(project) == set() and result.return_value == 1
    assert result.stderr.endswith("\nnot written\n")


def test_the_patch_is_only_shown_without_a_terminal(project, measured):
    measured.says["KC309"] = CONFIRMED
    result = invoke("train.py", "--apply")
    assert written(project) == set() and result.return_value == 1
    assert '+model.compile("sgd", "mse")\n' in result.stdout
    assert result.stderr.endswith("\nnot written: no terminal to ask on; add --yes\n")


def test_nothing_is_written_without_apply(project, measured):
    measured.says["KC309"] = CONFIRMED
    result = invoke("train.py")
    assert written(project) == set() and "diff --git" not in result.stdout and "not written" not in result.stderr


@pytest.mark.parametrize(
    "code, said, reason",
    [
        ("KC103", verdict(Status.NO_EFFECT, 1.0), "no effect"),
        ("KC103", INCONCLUSIVE, "inconclusive"),
        ("KC103", verdict(Status.SLOWER, 0.5), "slower"),
        ("KC103", verdict(Status.CHANGES_RESULTS), "changes results"),
        ("KC103", verdict(Status.NOT_RUN), "not run"),
        ("KC101", verdict(Status.CONFIRMED, 9.0, change="the loss differs"), apply.CHANGES_RESULTS),
        ("KC101", verdict(Status.CONFIRMED, 9.0, losses=([], [])), apply.RESULTS_UNKNOWN),
    ],
)
def test_unconfirmed_fixes_are_left_out_with_a_reason(project, measured, code, said, reason):
    measured.says.update({"KC309": CONFIRMED, code: said})
    result = invoke("train.py", "--apply", "--yes")
    assert written(project) == {"KC309"}
    (line,) = (line for line in result.stderr.splitlines() if code in line and "Left out" in line)
    assert line.startswith("Left out: ") and f", {reason}: " in line
    (line,) = (line for line in result.stderr.splitlines() if "KC306" in line)
    assert line.startswith(f"Left out: 1 fix, {apply.NOT_MEASURED}: KC306 ")


def test_each_reason_has_one_line(project, measured):
    measured.says["KC309"] = CONFIRMED
    lines = invoke("train.py", "--apply", "--yes").stderr.splitlines()
    (line,) = (line for line in lines if "inconclusive" in line)
    assert line.startswith("Left out: 3 fixes, inconclusive: KC103 map-before-batch data.py:9, KC101 ")


@pytest.mark.parametrize("code", ["KC101", "KC103"])
def test_a_fix_is_written_whether_the_linter_calls_it_safe_or_not(project, measured, code):
    measured.says[code] = CONFIRMED
    assert invoke("train.py", "--apply", "--yes").return_value == 1
    assert written(project) == {code}


def test_a_safe_fix_needs_no_visible_loss(project, measured):
    script = project / "train.py"
    script.write_text(
        "import keras\nimport tensorflow as tf\n\nds = tf.data.Dataset.range(1000).map(lambda x: x / 2).batch(10)\n"
        "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\nmodel.fit(ds, epochs=3)\n"
    )
    measured.says["KC103"] = verdict(Status.CONFIRMED, losses=([], []))
    invoke("train.py", "--apply", "--yes")
    assert ".batch(10).map(lambda x: x / 2)\n" in script.read_text()


def test_missing_confirmed_fixes_are_reported_in_one_line_without_a_prompt(project, measured, terminal):
    # The combination is faster, but no single fix is confirmed.
    measured.says.update({TOGETHER: CONFIRMED, "KC309": verdict(Status.NO_EFFECT, 1.0)})
    asked = terminal("y")
    result = invoke("train.py", "--apply")
    assert asked == [] and written(project) == set() and result.return_value == 0
    assert "diff --git" not in result.stdout
    kinds = f"3 inconclusive, 1 no effect, 1 {apply.NOT_MEASURED}"
    assert result.stderr.splitlines()[-1] == f"Nothing to write: no fix is confirmed ({kinds})."


# Several fixes ----------------------------------------------------------------------------------------------------


def only(*codes):
    return [word for code in codes for word in ("--select", code)]


def test_fixes_confirmed_together_are_written_without_another_run(project, measured):
    measured.says.update({"KC309": CONFIRMED, "KC103": CONFIRMED, TOGETHER: CONFIRMED})
    result = invoke("train.py", "--apply", "--yes", *only("KC309", "KC103"))
    assert written(project) == {"KC309", "KC103"}
    assert len(measured.runs) == 1
    assert "A run had exactly the 2 confirmed fixes together: confirmed." in result.stderr
    assert result.stderr.endswith("Wrote 2 fixes to train.py, lib/data.py.\n")


@pytest.mark.parametrize("status", [Status.INCONCLUSIVE, Status.SLOWER, Status.CHANGES_RESULTS, Status.NO_EFFECT])
def test_only_the_best_fix_is_kept_if_all_together_are_not_confirmed(project, measured, status):
    measured.says.update({"KC309": CONFIRMED, "KC103": verdict(Status.CONFIRMED, 3.0), TOGETHER: verdict(status)})
    result = invoke("train.py", "--apply", "--yes", *only("KC309", "KC103"))
    assert written(project) == {"KC103"} and len(measured.runs) == 1
    assert "together: not confirmed.\nTogether the fixes are not confirmed: only" in result.stderr
    assert f"Left out: 1 fix, {apply.NOT_TOGETHER}: KC309 " in result.stderr


@pytest.mark.parametrize(
    "status, rules", [(Status.CONFIRMED, {"KC309", "KC103"}), (Status.NOT_RUN, {"KC103"}), (Status.SLOWER, {"KC103"})]
)
def test_a_new_combination_of_fixes_is_measured_once(project, measured, status, rules):
    # The run with all fixes also includes KC101, which is inconclusive.
    measured.says.update({"KC309": CONFIRMED, "KC103": verdict(Status.CONFIRMED, 3.0), TOGETHER: CONFIRMED})
    measured.says[TOGETHER_AGAIN] = verdict(status)
    result = invoke("train.py", "--apply", "--yes", *only("KC309", "KC103", "KC101"))
    assert measured.names()[1:] == [[TOGETHER_AGAIN]]
    (variant,) = measured.runs[1]
    assert "run_eagerly" not in variant.sources[str(project / "train.py")]
    assert "normal([3]), x))" in variant.sources[str(project / "lib" / "data.py")]
    assert written(project) == rules
    assert f"  {TOGETHER_AGAIN}: {status.value}" in result.stderr


def test_only_the_best_fix_is_kept_if_unsafe_fixes_change_results_together(project, measured):
    measured.says.update({"KC101": verdict(Status.CONFIRMED, 3.0), "KC309": CONFIRMED})
    measured.says[TOGETHER] = verdict(Status.CONFIRMED, 5.0, change="the loss differs")
    invoke("train.py", "--apply", "--yes", *only("KC101", "KC309"))
    assert written(project) == {"KC101"}


def test_fixes_of_several_trainings_are_measured_together_in_each(project, measured):
    measured.says.update({"KC309": CONFIRMED, "KC103": CONFIRMED, "KC101": verdict(Status.CONFIRMED, training=1)})
    # The combination was measured only in the first training.
    measured.says.update({TOGETHER: CONFIRMED, TOGETHER_AGAIN: CONFIRMED})
    invoke("train.py", "--apply", "--yes", *only("KC309", "KC103", "KC101"))
    first, second = measured.runs[1]
    assert first.name == f"{TOGETHER_AGAIN}, in the training of KC103 lib/data.py:9:38"
    assert second.name == f"{TOGETHER_AGAIN}, in the training of KC101 lib/data.py:14:38"
    assert first.sources == second.sources and len(first.sources) == 2
    assert {9} <= {line for _, line, _ in first.places} and not {9} & {line for _, line, _ in second.places}
    assert written(project) == {"KC309", "KC103", "KC101"}


def test_the_better_of_two_overlapping_fixes_is_written(project, measured):
    prepared = prepare("train.py", (), Configuration(overrides_from({"select": ("KC309", "KC103")})))
    (eager,) = (each for each in prepared.linted.findings if each.code == "KC309")
    rival = replace(eager, code="KC407", name="rival")
    (edit,) = eager.fix.edits
    rival = replace(rival, fix=replace(eager.fix, edits=(replace(edit, content=", run_eagerly=False"),)))
    linted = replace(prepared.linted, findings=[eager, rival])
    prepared = replace(prepared, linted=linted, repairs=repairs(linted))
    verdicts = [
        Verdict(each.variant.name, Status.CONFIRMED, "", Ratio(gain, gain, gain), losses=SAME)
        for each, gain in zip(prepared.repairs, (2.0, 3.0, 3.0))
    ]
    scout = ended()
    selection = apply.select(prepared.result(Comparison("train.py", scout, [scout], [], verdicts), machine(), None))
    assert list(selection.confirmed) == [rival]
    assert selection.left_out == {apply.OVERLAPS: [eager]}


# Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["train.py", "lib/data.py", "lib/more.py"])
def test_a_file_that_changes_while_it_is_measured_is_refused(project, measured, path):
    def change():
        with (project / path).open("a") as stream:
            stream.write("# later\n")

    before = {name: (project / name).read_bytes() for name in ("train.py", "lib/data.py")}
    measured.says.update({"KC309": CONFIRMED, "KC103": CONFIRMED, TOGETHER: CONFIRMED, "then": change})
    result = invoke("train.py", "--apply", "--yes", *only("KC309", "KC103"))
    assert result.return_value == 2 and "diff --git" not in result.stdout
    assert result.stderr.splitlines()[-1] == f"not written: {path} has changed since it was read"
    for name, data in before.items():
        assert (project / name).read_bytes() == data + b"# later\n" * (name == path)


def test_a_file_that_changes_during_the_prompt_is_refused(project, measured, terminal):
    measured.says["KC309"] = CONFIRMED
    changed = TRAIN + "# later\n"
    terminal("y", meanwhile=lambda: (project / "train.py").write_text(changed))
    result = invoke("train.py", "--apply")
    assert result.return_value == 2 and (project / "train.py").read_text() == changed
    assert result.stderr.splitlines()[-1] == "not written: train.py has changed since it was read"


def test_a_deleted_file_is_refused(project, measured):
    measured.says.update({"KC309": CONFIRMED, "then": (project / "train.py").unlink})
    result = invoke("train.py", "--apply", "--yes")
    assert result.return_value == 2 and "not written: train.py: cannot be read" in result.stderr


def test_no_file_is_written_if_one_cannot_be_written(project, measured, monkeypatch):
    real = writing.write_atomically

    def write(path, data):
        if os.fspath(path).endswith("data.py"):
            raise PermissionError(13, "The file is read-only", path)
        real(path, data)

    monkeypatch.setattr(writing, "write_atomically", write)
    measured.says.update({"KC309": CONFIRMED, "KC103": CONFIRMED, TOGETHER: CONFIRMED})
    result = invoke("train.py", "--apply", "--yes", *only("KC309", "KC103"))
    assert result.return_value == 2 and written(project) == set()
    assert result.stderr.splitlines()[-1] == "not written: lib/data.py cannot be written: The file is read-only"


def test_encodings_and_line_endings_are_kept(project, measured):
    data = b"# -*- coding: latin-1 -*-\r\n# \xe4\r\n" + TRAIN.replace("\n", "\r\n").encode()
    (project / "train.py").write_bytes(data)
    measured.says["KC309"] = CONFIRMED
    invoke("train.py", "--apply", "--yes", *only("KC309"))
    assert (project / "train.py").read_bytes() == data.replace(b", run_eagerly=True", b"")


def notebook(outputs):
    output = [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}] * outputs
    sources = (["!pip install keras\n", *TRAIN.splitlines(keepends=True)], ["print(1)"])
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": output, "execution_count": 7, "source": source}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=3)


def test_only_the_code_of_a_notebook_changes(project, measured):
    (project / "train.ipynb").write_text(notebook(1))
    measured.says["KC309"] = CONFIRMED
    result = invoke("train.ipynb", "--apply", "--yes", *only("KC309"))
    assert (project / "train.ipynb").read_text() == notebook(1).replace(", run_eagerly=True", "")
    assert '+model.compile("sgd", "mse")' in result.stdout and "train.ipynb:cell 1" in result.stdout
    assert '"outputs"' not in result.stdout


def test_new_outputs_of_a_notebook_are_kept(project, measured, terminal):
    (project / "train.ipynb").write_text(notebook(1))
    measured.says.update({"KC309": CONFIRMED, "then": lambda: (project / "train.ipynb").write_text(notebook(2))})
    invoke("train.ipynb", "--apply", "--yes", *only("KC309"))
    assert (project / "train.ipynb").read_text() == notebook(2).replace(", run_eagerly=True", "")
    measured.says.pop("then")
    (project / "train.ipynb").write_text(notebook(1))
    terminal("y", meanwhile=lambda: (project / "train.ipynb").write_text(notebook(2)))
    assert invoke("train.ipynb", "--apply", *only("KC309")).return_value == 2
    assert (project / "train.ipynb").read_text() == notebook(2)


# Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("train.py", "--yes"), "--yes answers the question of --apply or of --on"),
        (("train.py", "--apply", "--output-format", "json"), "--output-format json needs --yes"),
        (("train.py", "--apply", "--output-format", "html"), "--output-format html needs --yes"),
        (("many.txt", "--apply"), "one script, not a list"),
        (("--rule", "KC103", "--apply", "--yes"), "a script of yours"),
        (("train.py", "--apply", "--scaling"), "cannot be combined with --scaling"),
    ],
)
def test_conflicting_options(project, measured, arguments, words):
    (project / "many.txt").write_text("train.py\n")
    with pytest.raises(click.UsageError, match=words):
        invoke(*arguments)
    assert measured.runs == []
    assert kerascheck("verify", *arguments).code == 2


def test_the_json_report_is_one_document(project, measured):
    measured.says["KC309"] = CONFIRMED
    result = invoke("train.py", "--apply", "--yes", "--output-format", "json")
    assert json.loads(result.stdout)["version"] == 1
    assert "+model.compile" in result.stderr and written(project) == {"KC309"}
    (project / "train.py").write_text(TRAIN)
    result = invoke("train.py", "--apply", "--yes", "--output-format", "json", "--output-file", "report.json")
    assert "+model.compile" in result.stdout and json.loads((project / "report.json").read_text())


def test_the_sentence_names_the_machine_that_confirmed(project, measured, monkeypatch):
    def elsewhere(prepared, target, options):
        result = verify.verify_here(prepared, options.limits, None)
        result.machine = replace(result.machine, on="ssh://gpu1")
        return result

    monkeypatch.setattr("kerascheck.cli.verify._elsewhere", elsewhere)
    measured.says["KC309"] = CONFIRMED
    result = invoke("train.py", "--apply", "--yes", "--on", "ssh://gpu1")
    assert "Confirmed on ssh://gpu1, 1 fix:" in result.stderr and written(project) == {"KC309"}


# Evidence ---------------------------------------------------------------------------------------------------------


def test_evidence_about_the_other_findings_is_outdated_after_a_fix_is_written(project, measured):
    # The code around the second finding is unchanged, but the step time of the script has changed.
    measured.says.update({"KC309": CONFIRMED, "KC103": verdict(Status.NO_EFFECT, 1.0)})
    measured.says["KC103"].ratio = Ratio(1.0, 0.99, 1.01)
    invoke("train.py", "--apply", *only("KC309", "KC103"))
    shown = kerascheck(".", "--no-cache", "--select", "KC309,KC103").out
    assert "no effect here" in shown and "confirmed here" in shown
    invoke("train.py", "--apply", "--yes", *only("KC309", "KC103"))
    shown = " ".join(kerascheck(".", "--no-cache", "--select", "KC309,KC103").out.split())
    assert "confirmed here" not in shown and "no effect here" not in shown
    assert "no effect once" in shown and "but the code has changed since: measure again" in shown
    # After the old code is restored, the evidence is valid again.
    (project / "train.py").write_text(TRAIN)
    assert kerascheck(".", "--no-cache", "--select", "KC309", "--gate", "confirmed").code == 1


# A real run -------------------------------------------------------------------------------------------------------

SCRIPT = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
rows = np.random.default_rng(0).normal(size=(20_000, 8)).astype("float32")


def scale(row, target):
    return tf.abs(row) / 2.0, target


dataset = tf.data.Dataset.from_tensor_slices((rows, rows.sum(axis=1)))
dataset = dataset.map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(200).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(dataset, epochs=3, verbose=0)
print("loss:", history.history["loss"][-1])
"""


def loss(script):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, script.name]
    ran = subprocess.run(command, cwd=script.parent, env=environment, capture_output=True, text=True, check=True)
    return float(ran.stdout.split("loss: ")[1])


@pytest.mark.slow
def test_a_script_is_measured_and_gets_its_fix(tmp_path, monkeypatch):
    pytest.importorskip("tensorflow")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    before = loss(script)
    result = invoke("train.py", "--apply", "--yes", "--select", "KC103,KC411")
    old = ".map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(200)"
    new = ".batch(200).map(scale, num_parallel_calls=tf.data.AUTOTUNE)"
    if "inconclusive" in result.stdout and result.return_value == 0:
        pytest.skip("the machine is too busy to measure a factor")
    assert result.return_value == 1, result.stdout
    assert script.read_text() == SCRIPT.replace(old, new)
    assert "Wrote 1 fix to train.py." in result.stderr
    assert loss(script) == pytest.approx(before, rel=1e-5)
