"""One GPU against several, with fake GPUs: the step time depends on the variable that selects GPUs."""

import json
import sys

import click
import pytest
from command import click_runner
from verify.made_up import ended, with_torch
from verify.stand_ins import with_ssh

from kerascheck.cli.verify import verify
from kerascheck.runtime.doctor.snapshot import Gpu
from kerascheck.runtime.verify import scaling
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.machine_class import machine
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import run_alone
from kerascheck.runtime.verify.scaling import Scaling, Side, TooFewGpus
from kerascheck.runtime.verify.scouting import SCOUT
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status, Verdict

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.mark.parametrize(
    "cards, named, found",
    [(2, None, ["0", "1"]), (8, "3,5", ["3", "5"]), (8, "GPU-aa, GPU-bb", ["GPU-aa", "GPU-bb"])],
)
def test_gpus_available_to_a_script(cards, named, found):
    assert scaling.devices(cards, named) == found


@pytest.mark.parametrize(
    "cards, named, words",
    [(0, None, "has none"), (1, None, "has 1"), (8, "3", "shows 1"), (8, "-1", "shows 0"), (8, "", "shows 0")],
)
def test_one_gpu_is_not_compared(cards, named, words):
    with pytest.raises(TooFewGpus, match=words):
        scaling.devices(cards, named)


def judged(
    status=Status.CHANGES_RESULTS, batches=(64, 128), replicas=(1, 2), ratio=Ratio(0.9, 0.88, 0.92), trouble=None
):
    result = Scaling(
        "a.py",
        "python a.py",
        Side(["0"], replicas[0], batches[0]),
        Side(["0", "1"], replicas[1], batches[1]),
        machine=machine(),
    )
    result.gpu = GpuSummary(trouble=trouble) if trouble else None
    verdict = Verdict("all devices", status, "why", ratio, step_seconds=ratio and (0.09, 0.1))
    scaling._judge(result, Comparison("a.py", ended(gpus=["x"]), verdicts=[verdict]))
    return result


def test_larger_batches_are_compared_by_examples():
    result = judged()
    assert (round(result.ratio.value, 2), round(result.efficiency, 2)) == (1.8, 0.9)
    assert (result.one.batch_per_replica, result.all.batch_per_replica) == (64, 64)
    text = list(scaling.render(result))
    assert text[1] == "2 GPUs: x1.80 [1.76-1.84] the examples per second of one, 90% of x2"
    assert text[2].split() == "1 GPU 1 replica global batch 64 (64 per replica) 90 ms per step 711 examples/s".split()
    assert (
        text[3].split()
        == "2 GPUs 2 replicas global batch 128 (64 per replica) 100 ms per step 1,280 examples/s".split()
    )
    assert len(text) == 4
    assert json.loads(json.dumps(result.as_dict()))["all"]["examples_per_second"] == 1280


@pytest.mark.parametrize(
    "case, words",
    [
        (
            {"batches": (64, 64), "ratio": Ratio(1.2, 1.1, 1.3)},
            "The global batch stays 64: each replica computes 32 examples.",
        ),
        ({"replicas": (1, 1)}, "1 of 2 GPUs have a replica"),
        ({"replicas": (None, None), "batches": (None, None)}, "No distribution strategy of TensorFlow was seen"),
        ({"batches": (None, None)}, "the steps per second of one"),
        ({"status": Status.INCONCLUSIVE}, "Inconclusive: why"),
        (
            {"trouble": "other processes used 30% of GPU 1 meanwhile", "status": Status.CONFIRMED},
            "Inconclusive: no verdict: other processes used 30%",
        ),
        ({"ratio": None, "status": Status.NOT_RUN}, "not measured  why"),
    ],
)
def test_the_cause_of_a_ratio_is_explained(case, words):
    assert words in "\n".join(scaling.render(judged(**case)))


@pytest.mark.slow
def test_the_same_script_runs_on_one_and_on_all(tmp_path):
    with_torch(tmp_path)
    script = tmp_path / "train.py"
    text = (
        "import os, time\nfrom torch.optim.optimizer import SGD\noptimizer = SGD()\nwhile True:\n"
        "    time.sleep(0.02 / len(os.environ['CUDA_VISIBLE_DEVICES'].split(',')))\n    optimizer.step()\n"
    )
    script.write_text(text)
    run = Script(str(script), {str(script): text}, directory=str(tmp_path))
    result = scaling.measure(run, ["4", "6"], "python train.py", Budget(4, steps=240), lambda text, left: None)
    assert result.failure is None and result.ratio is not None
    assert result.one.devices == ["4"] and result.all.devices == ["4", "6"]
    script.write_text("raise ValueError('no')")
    failed = scaling.measure(
        Script(str(script), {str(script): "raise ValueError('no')"}), ["0", "1"], "", Budget(4), lambda text, left: None
    )
    assert failed.failure == "on 1 GPU, the script raised ValueError: no at line 1"


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "train.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.setattr("kerascheck.runtime.doctor.nvidia.nvidia", lambda: (None, (Gpu("Made Up 9000"),)))
    refused = click_runner().invoke(verify, ["train.py", "--scaling"], standalone_mode=False)
    assert isinstance(refused.exception, click.ClickException) and "this machine has 1" in str(refused.exception)
    monkeypatch.setattr("kerascheck.runtime.doctor.nvidia.nvidia", lambda: (None, (Gpu("Made Up 9000"),) * 2))
    result = click_runner().invoke(verify, ["train.py", "--scaling", "--output-format", "json"], standalone_mode=False)
    assert result.return_value == 2
    assert "on 1 GPU, the script called sys.exit()" in json.loads(result.stdout)["failure"]
    assert "EXECUTES YOUR SCRIPT on 1 and on 2 GPUs: python train.py" in result.stderr


def test_on_another_machine_its_gpus_count(tmp_path, monkeypatch):
    with_ssh(tmp_path, monkeypatch)
    (tmp_path / "train.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.chdir(tmp_path)
    run = ["train.py", "--scaling", "--on", "ssh://gpu1", "--python", sys.executable, "--yes"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    refused = click_runner().invoke(verify, run, standalone_mode=False)
    assert refused.return_value == 2
    assert "ssh://gpu1: --scaling compares one GPU with several, and CUDA_VISIBLE_DEVICES shows 1" in refused.stderr
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    result = click_runner().invoke(verify, run, standalone_mode=False)
    assert result.return_value == 2 and "not measured  on 1 GPU, the script called sys.exit()" in result.stdout


MIRRORED = """\
import os
import numpy as np
import tensorflow as tf
import keras

devices = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * len(devices))
strategy = tf.distribute.MirroredStrategy([f"/cpu:{index}" for index in range(len(devices))])
x = np.random.default_rng(0).random((1000, 8), dtype="float32")
batch = 16 * strategy.num_replicas_in_sync
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(x, x[:, :1], batch_size=batch, epochs=5, validation_data=(x[:8], x[:8, :1]), verbose=0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("shown, replicas, batch", [("0", 1, 16), ("0,1", 2, 32)])
def test_replicas_and_the_global_batch_are_seen(shown, replicas, batch, tmp_path):
    from dataclasses import replace

    script = tmp_path / "train.py"
    script.write_text(MIRRORED)
    run = run_alone(
        Script(str(script), {str(script): MIRRORED}, environment={"CUDA_VISIBLE_DEVICES": shown}),
        replace(SCOUT, rows=True),
        start_limit=200,
        block_limit=50,
    )
    side = Side(shown.split(","))
    scaling._describe(side, run)
    assert (side.replicas, side.global_batch, side.batch_per_replica) == (replicas, batch, 16)
