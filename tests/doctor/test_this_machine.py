"""``--this-machine``: the linter judges for the GPU of this machine."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command import kerascheck
from doctor.machines import CASES, GTX_1070, T4, card, machine

from kerascheck.project.config import HardwareProfile
from kerascheck.runtime import doctor
from kerascheck.runtime.doctor import machine_for_linter
from kerascheck.runtime.doctor.snapshot import Driver, System

ROOT = Path(__file__).resolve().parent.parent.parent

BIG = (
    "import keras\nmodel = keras.Sequential([keras.Input((224, 224, 3)), keras.layers.Conv2D(256, 3), keras.layers.Flatten(), keras.layers.Dense(9)])\n"
    "model.compile('adam', 'mse')\n"
)
FIT = BIG + "model.fit(load(), epochs=9)\n"
JAX = (
    "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\nmodel = keras.applications.ResNet50(weights=None)\nmodel.compile('adam', 'mse')\n"
    "import jax\noptimizer = keras.optimizers.Adam()\n@jax.jit\ndef step(state, x):\n    weights, slots = state\n    loss, grads = jax.value_and_grad(loss_of)(weights, x)\n"
    "    return optimizer.stateless_apply(slots, grads, weights)\nfor x in load():\n    state = step(state, x)\n"
)
STEP = (
    BIG
    + "import tensorflow as tf\noptimizer = keras.optimizers.Adam()\nfor x in load():\n    with tf.GradientTape() as tape:\n        loss = model(x)\n"
    "    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)\n"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gtx 1070", HardwareProfile("NVIDIA GeForce GTX 1070", ())),
        ("gtx 1660 ti", HardwareProfile("NVIDIA GeForce GTX 1660 Ti", ())),
        ("t4", HardwareProfile("Tesla T4", ("float16",))),
        ("8 x h100", HardwareProfile("NVIDIA H100 80GB HBM3", ("float16", "bfloat16"))),
        ("laptop without a gpu", HardwareProfile(None, ())),
        ("mac without tensorflow-metal", None),
        ("card without a driver", None),
    ],
)
def test_the_hardware_profile_of_the_linter(name, expected):
    assert machine_for_linter(CASES[name].snapshot) == expected


def test_the_weakest_gpu_counts():
    assert machine_for_linter(machine(T4, GTX_1070)).gpu == GTX_1070.name


def test_unknown_hardware_is_not_judged():
    assert machine_for_linter(machine(T4, card("Matrox", None, 1))) is None
    assert machine_for_linter(replace(machine(), system=System(accelerator="AMD GPU"))) is None
    assert machine_for_linter(replace(machine(), driver=Driver(failure="not running", cards_on_bus=1))) is None


@pytest.fixture
def lint(tmp_path, monkeypatch):
    def run(code, snapshot, *options):
        asked = []
        monkeypatch.setattr(doctor, "take_snapshot", lambda python: asked.append(python) or snapshot)
        (tmp_path / "train.py").write_text(code)
        ran = kerascheck("--isolated", "--select", "KC301", "--this-machine", *options, tmp_path / "train.py")
        # TensorFlow is not imported.
        assert asked == [None]
        return ran

    return run


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        (FIT, "gtx 1070", None),
        (FIT, "laptop without a gpu", None),
        (FIT, "t4", 'This trains in float32 only; on this Tesla T4 try set_global_policy("mixed_float16").'),
        (
            FIT,
            "card without a driver",
            'This trains in float32 only; on a GPU with Tensor Cores try set_global_policy("mixed_float16").',
        ),
        (STEP, "t4", 'This step is float32 only; on Tensor Cores try "mixed_float16" with optimizer.scale_loss(loss).'),
        (JAX, "t4", None),
        (JAX, "8 x h100", 'This step is float32 only; on Tensor Cores try set_global_policy("mixed_bfloat16").'),
    ],
)
def test_mixed_precision_is_advised_only_if_the_card_gains(code, name, message, lint):
    ran = lint(code, CASES[name].snapshot, "--output-format", "json")
    assert [finding["message"] for finding in json.loads(ran.out)["findings"]] == ([message] if message else [])


def test_bfloat16_is_advised_only_if_it_is_fast(lint):
    reasons = [
        json.loads(lint(STEP, CASES[name].snapshot, "--output-format", "json").out)["findings"][0]["because"]
        for name in ("t4", "8 x h100")
    ]
    assert ["bfloat16" in because for because in reasons] == [False, True]
    assert reasons[0].startswith("The Tesla T4 has Tensor Cores;")


def test_the_silence_is_explained(lint):
    ran = lint(FIT, CASES["gtx 1070"].snapshot, "--explain-silence", "4")
    assert "KC301 missing-mixed-precision" in ran.out
    assert "the NVIDIA GeForce GTX 1070 of this machine has no Tensor Cores" in " ".join(ran.out.split())


def test_an_unknown_card_is_reported(lint):
    assert "warning: --this-machine" in lint(FIT, CASES["card without a driver"].snapshot).err


def test_the_snapshot_for_the_linter_starts_no_interpreter_and_imports_little():
    code = (
        "import subprocess, sys\nfrom kerascheck.runtime.doctor import machine_for_linter, nvidia, take_snapshot\nnvidia._smi = lambda *_, **__: ''\nsubprocess.Popen = sys.modules['pynvml'] = None\n"
        "machine_for_linter(take_snapshot(None))\nprint(*{'tensorflow', 'keras', 'jax', 'torch', 'libcst'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == []
