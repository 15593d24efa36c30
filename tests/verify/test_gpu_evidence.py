"""The GPU column of the evidence table, with fake GPUs."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import click_runner
from verify.made_up import ended

from kerascheck.catalog import registry
from kerascheck.cli.evidence import evidence
from kerascheck.runtime.doctor.snapshot import Driver, Framework, Gpu, Keras, Python
from kerascheck.runtime.verify import gpu_evidence
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.gpu_evidence import Engine, NoGpu
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status, Verdict

H200 = Engine("tensorflow", "NVIDIA H200", "570.86.15", {"keras": "3.15.1", "tensorflow": "2.21.0"})
JAX = Engine("jax", "NVIDIA H200", "570.86.15", {"keras": "3.15.1", "jax": "0.9.0"})


@pytest.fixture
def frameworks(monkeypatch):
    """Sets the number of GPUs that each framework sees; None for a framework that is not installed."""

    def frameworks(cards=1, **gpus):
        driver = Driver("570.86.15") if cards else None
        monkeypatch.setattr("kerascheck.runtime.doctor.nvidia.nvidia", lambda: (driver, (Gpu("NVIDIA H200"),) * cards))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setattr("kerascheck.runtime.verify.gpu_evidence._can_watch", lambda: True)

        def look_at(python, time_limit, environment):
            name = environment["KERAS_BACKEND"]
            found = {name: Framework("1.0", gpus=gpus[name])} if gpus.get(name) is not None else {}
            return replace(Python("3.11.7", keras=Keras("3.15.1")), **found), []

        monkeypatch.setattr("kerascheck.runtime.doctor.look.look_at", look_at)

    return frameworks


@pytest.mark.parametrize(
    "gpus, backend",
    [
        ({"tensorflow": 1, "jax": 1}, "tensorflow"),
        ({"tensorflow": 0, "jax": 0, "torch": 8}, "torch"),
        ({"jax": 1}, "jax"),
    ],
    ids=str,
)
def test_the_first_backend_that_sees_the_gpu_is_used(gpus, backend, frameworks):
    frameworks(**gpus)
    assert gpu_evidence.engine() == Engine(backend, "NVIDIA H200", "570.86.15", {"keras": "3.15.1", backend: "1.0"})


@pytest.mark.parametrize(
    "cards, gpus, words",
    [
        (0, {"tensorflow": 0}, "no GPU answers on this machine"),
        (1, {"tensorflow": 0, "jax": 0}, "NVIDIA H200 is there, but TensorFlow 1.0 and JAX 1.0 cannot use it"),
        (1, {}, "NVIDIA H200 is there, but this environment has no TensorFlow, JAX or PyTorch"),
    ],
    ids=str,
)
def test_without_a_gpu_there_is_one_line_and_nothing_runs(cards, gpus, words, frameworks):
    frameworks(cards, **gpus)
    result = click_runner().invoke(evidence, ["--gpu"], standalone_mode=False)
    assert result.return_value == 2
    assert result.stdout == "" and result.stderr.count("\n") == 1
    assert words in result.stderr


def test_hidden_gpus_are_named(frameworks, monkeypatch):
    frameworks(tensorflow=1)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(NoGpu, match="CUDA_VISIBLE_DEVICES hides every GPU"):
        gpu_evidence.engine()


def test_a_gpu_that_cannot_be_sampled_is_not_measured(frameworks, monkeypatch):
    frameworks(tensorflow=1)
    monkeypatch.setattr("kerascheck.runtime.verify.gpu_evidence._can_watch", lambda: False)
    with pytest.raises(NoGpu, match=r"pip install 'kerascheck\[gpu\]'"):
        gpu_evidence.engine()


def compared(facts, failure=None):
    if failure:
        return Comparison(
            "slow.py", Run(end=None), verdicts=[Verdict("line 3", Status.NOT_RUN, failure)], failure=failure
        )
    return Comparison(
        "slow.py",
        ended(**facts),
        verdicts=[Verdict("line 3", Status.CONFIRMED, "faster", Ratio(1.9, 1.8, 2.0))],
    )


@dataclass
class MadeUp:
    """The attributes of a rule that measuring requires."""

    folder: Path
    rule: SimpleNamespace
    measured: str = "steps"


def column(
    engine, comparison, text="import tensorflow as tf\nmodel = tf.keras.Sequential()", tmp_path=None, folders=(".",)
):
    for folder in folders:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "slow.py").write_text(text)
        (tmp_path / folder / "fast.py").write_text(text)
    spec = MadeUp(tmp_path, SimpleNamespace(code="KC101", name="serial-map"))
    environments = []

    def measure(spec, budget, progress, environment):
        environments.append(environment)
        assert spec.folder == tmp_path / folders[-1]
        return comparison

    (entry,) = gpu_evidence.collect([spec], engine, Budget(), lambda text, left: None, lambda row: None, measure)
    return entry["gpu"], environments


def test_a_column_has_card_driver_and_versions(tmp_path):
    facts = {"gpus": ["NVIDIA H200"], "versions": {"tensorflow": "2.21.0", "keras": "3.15.1"}}
    measured, environments = column(H200, compared(facts), tmp_path=tmp_path)
    assert (measured["status"], measured["ratio"], environments) == (
        "confirmed",
        1.9,
        [{}],
    ) and "example" not in measured
    assert measured["machine"]["gpu"] == "NVIDIA H200" and measured["machine"]["driver"] == "570.86.15"
    assert measured["versions"] == {"keras": "3.15.1", "tensorflow": "2.21.0"}
    from kerascheck.catalog import measured as measured_table

    assert (
        "(NVIDIA H200 (driver 570.86.15), keras 3.15.1, tensorflow 2.21.0, 20"
        in measured_table.for_rule("KC101", [{"code": "KC101", "gpu": measured}])[1]
    )


def test_an_example_sized_for_a_gpu_is_preferred(tmp_path):
    facts = {"gpus": ["NVIDIA H200"], "versions": {"tensorflow": "2.21.0"}}
    measured, _ = column(H200, compared(facts), tmp_path=tmp_path, folders=(".", "gpu"))
    assert measured["example"] == "gpu/slow.py"
    from kerascheck.catalog import measured as measured_table

    assert "(gpu/slow.py, NVIDIA H200" in measured_table.for_rule("KC101", [{"code": "KC101", "gpu": measured}])[1]


@pytest.mark.parametrize(
    "facts, failure, reason",
    [
        ({"gpus": [], "backend": "tensorflow"}, None, "its example did not use the GPU"),
        ({}, "the script raised ValueError", "the script raised ValueError"),
    ],
)
def test_examples_that_did_not_use_the_gpu_count_as_not_run(facts, failure, reason, tmp_path):
    measured, _ = column(H200, compared(facts, failure), tmp_path=tmp_path)
    assert (measured["status"], measured["reason"], measured["ratio"]) == ("not run", reason, None)
    assert measured["machine"]["gpu"] == "NVIDIA H200"


@pytest.mark.parametrize(
    "text, facts, reason",
    [
        ("import keras", {"gpus": ["NVIDIA H200"], "backend": "jax", "versions": {"jax": "0.9.0"}}, None),
        (
            "import tensorflow as tf\n@tf.function\ndef step(): pass\nimport keras",
            None,
            "its example uses tf.function, and TensorFlow has no GPU here",
        ),
        (
            "import tensorflow as tf\nfor x in ds: pass",
            None,
            "its example does not train with Keras, and TensorFlow has no GPU here",
        ),
        (
            "import keras",
            {"gpus": ["NVIDIA H200"], "backend": "tensorflow"},
            "its example ran on tensorflow, not on JAX",
        ),
    ],
)
def test_without_a_tensorflow_gpu_rules_about_keras_run_on_another_backend(text, facts, reason, tmp_path):
    measured, environments = column(JAX, compared(facts or {}), text, tmp_path)
    assert (measured["status"], measured["reason"]) == (
        ("confirmed", "faster") if reason is None else ("not run", reason)
    )
    assert environments == ([{"KERAS_BACKEND": "jax"}] if facts else [])


def test_every_rule_runs_on_another_backend_or_gives_a_reason():
    reasons = {}
    for spec in registry.rule_specs():
        if (spec.folder / "slow.py").is_file():
            reasons[spec.code] = gpu_evidence.why_not((spec.folder / "slow.py").read_text(encoding="utf-8"), "jax")
    assert reasons["KC101"] is None and any(reasons.values())


def test_finished_columns_of_this_card_and_versions_are_not_measured_again(frameworks, tmp_path, monkeypatch):
    frameworks(tensorflow=1)
    measured = []

    def collect(specs, engine, budget, progress, tell):
        for spec in specs:
            measured.append(spec.code)
            row = {"code": spec.code, "name": spec.name, "gpu": {
                "status": "no effect", "reason": "r", "ratio": 1.0, "low": 0.99, "high": 1.01, "date": "2026-11-23",
                "machine": engine.machine.as_dict(), "versions": dict(engine.versions),
            }}  # fmt: skip
            tell(row)
            yield row

    monkeypatch.setattr(gpu_evidence, "collect", collect)
    table = tmp_path / "table.json"
    run = ["--gpu", "--update", str(table), "KC101", "KC102"]
    for arguments, expected in (
        (run[:-1], ["KC101"]),
        (run, ["KC102"]),
        (run, []),
        ([*run, "--again"], ["KC101", "KC102"]),
    ):
        measured.clear()
        assert click_runner().invoke(evidence, arguments, standalone_mode=False).return_value == 0
        assert measured == expected
    rows = json.loads(table.read_text())["rows"]
    assert not gpu_evidence.is_finished("KC101", rows, replace(gpu_evidence.engine(), driver="580.1"))
    rows[0]["gpu"]["status"] = "inconclusive"
    assert not gpu_evidence.is_finished("KC101", rows, gpu_evidence.engine())


@pytest.mark.gpu
@pytest.mark.slow
def test_a_real_card_fills_its_column(tmp_path):
    if (
        os.environ.get("CUDA_VISIBLE_DEVICES") == ""
        or subprocess.run(["sh", "-c", "nvidia-smi"], capture_output=True).returncode
    ):
        pytest.skip("no GPU")
    table = tmp_path / "table.json"
    assert (
        click_runner().invoke(evidence, ["--gpu", "--update", str(table), "KC101"], standalone_mode=False).return_value
        == 0
    )
    (row,) = json.loads(table.read_text())["rows"]
    assert row["gpu"]["machine"]["gpu"] and row["gpu"]["machine"]["driver"]


SESSION = Path(__file__).parents[2] / "benchmarks" / "gpu_session.sh"


def test_the_session_measures_rules_that_exist():
    text = SESSION.read_text(encoding="utf-8")
    codes = re.findall(r"KC\d+", re.search(r"^RULES=\((.*)\)$", text, re.MULTILINE)[1])
    assert len(codes) > 10 and set(codes) <= {spec.code for spec in registry.rule_specs()}
    examples = re.search(r"^EXPLAINED=\((.*)\)$", text, re.MULTILINE)[1].split()
    assert all((SESSION.parents[1] / "rules" / each / "slow.py").is_file() for each in examples)


def test_the_session_says_how_it_is_used():
    ran = subprocess.run(["bash", SESSION], capture_output=True, text=True)
    assert ran.returncode == 2 and ran.stderr.count("gpu_session.sh") == 4
