"""Demands of scripts on a machine, and the checks on them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import kerascheck
from doctor.machines import CASES, GIB, H100, NO_CARD_MEMORY, environment, for_cpus, machine

from kerascheck.runtime.doctor import Status, diagnose, script
from kerascheck.runtime.doctor.script import demands, file_system
from kerascheck.runtime.doctor.snapshot import Cpu, Demand

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n"
TRAIN = "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\nmodel.compile(loss='mse')\n"
PICTURES = "data = keras.utils.image_dataset_from_directory('photos', image_size=(100, 50)){}\nmodel.fit(data)\n"


def asked(folder, code, name="train.py"):
    path = folder / name
    path.write_text(HEAD + code)
    return [demand for demand in demands(path) if demand.what != "parameters"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("keras.mixed_precision.set_global_policy('mixed_float16')\n", [Demand("policy", "mixed_float16", 4)]),
        ("if tf.config.list_physical_devices('GPU'):\n    keras.mixed_precision.set_global_policy('mixed_float16')\n", []),
        ("keras.mixed_precision.set_global_policy(chosen())\n", []),
        ("import os\nos.environ['KERAS_BACKEND'] = 'jax'\n", [Demand("backend", "jax", 5)]),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", [Demand("visible", "1", 5)]),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = chosen()\n", []),
        ("tf.config.set_visible_devices([], 'GPU')\n", [Demand("visible", "", 4)]),
        ("tf.config.set_visible_devices([], 'CPU')\n", []),
        (TRAIN + "model.fit(np.zeros((1000, 4), 'float32'), np.random.rand(1000))\n", [Demand("arrays", 8000, 6)]),
        (TRAIN + "both = np.random.rand(1000, 4)\nmodel.fit(both, both)\n", [Demand("arrays", 32000, 7)]),
        (TRAIN + "model.fit(np.load('x.npy'))\n", []),
        ("import torch\nloader = torch.utils.data.DataLoader(data, num_workers=12)\n", [Demand("processes", 12, 5)]),
        ("import torch\nloader = torch.utils.data.DataLoader(data)\n", []),
        ("import torch\nloader = torch.utils.data.DataLoader(data, num_workers=0)\n", []),
        (
            "class Photos(keras.utils.PyDataset):\n    def __init__(self):\n        super().__init__(workers=6, use_multiprocessing=True)\n"
            "    def __len__(self):\n        return 3\n    def __getitem__(self, at):\n        return 1, 2\n" + TRAIN + "model.fit(Photos())\n",
            [Demand("processes", 6, 6)],
        ),
    ],
)  # fmt: skip
def test_demands_of_a_script(code, expected, tmp_path):
    assert asked(tmp_path, code) == expected


@pytest.fixture
def photos(tmp_path, monkeypatch):
    for name in ("a/1.jpg", "a/2.JPG", "b/3.png", "b/notes.txt"):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(script, "file_system", lambda folder: f"type of {Path(folder).name}")
    return tmp_path


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", [Demand("data", "type of photos", 6)]),
        (".prefetch(2)", [Demand("data", "type of photos", 6)]),
        (".cache()", [Demand("arrays", 3 * 100 * 50 * 3 * 4, 6)]),
        (".cache('/tmp/photos')", []),
        (".map(lambda x, y: (x, y)).cache().prefetch(2)", [Demand("arrays", 3 * 100 * 50 * 3 * 4, 6)]),
    ],
)
def test_the_data_of_a_script_is_looked_up_beside_it(after, expected, photos):
    assert asked(photos, TRAIN + PICTURES.format(after)) == expected


def test_missing_or_untrained_data_is_ignored(photos):
    assert asked(photos, TRAIN + PICTURES.format("").replace("photos", "elsewhere")) == []
    assert asked(photos, TRAIN + PICTURES.format("").replace("fit", "evaluate")) == []


def test_the_largest_model_counts(tmp_path):
    (tmp_path / "train.py").write_text(HEAD + TRAIN + "model.fit(np.load('x.npy'))\n")
    assert demands(tmp_path / "train.py") == (Demand("parameters", 5),)


MOUNTS = """\
24 22 0:6 / /mnt/c rw,relatime - 9p C:\\134 rw
25 22 0:7 / /content/drive rw - fuse.drive drive rw
26 22 0:8 / /data\\040sets rw shared:3 - nfs4 server:/data rw
22 1 0:21 / / rw,relatime - ext4 /dev/sda1 rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/x", "ext4"),
        ("/mnt/c/Users", "9p"),
        ("/mnt/code", "ext4"),
        ("/content/drive", "fuse.drive"),
        ("/data sets/photos", "nfs4"),
    ],
)
def test_the_file_system_is_that_of_the_deepest_mount(folder, kind):
    assert file_system(Path(folder), MOUNTS) == kind


def test_without_mounts_the_file_system_is_unknown():
    assert file_system(Path("/home"), "") is None


def spoken(snapshot, *script, **changes):
    results = diagnose(replace(snapshot, script=script, **changes))
    return [
        (result.name, result.status.value, result.asked and result.asked.line)
        for result in results
        if result.name.startswith("script-")
    ]


@pytest.mark.parametrize(
    ("name", "policy", "expected"),
    [
        ("t4", "mixed_float16", ("ok", None)),
        ("t4", "mixed_bfloat16", ("advice", 7)),
        ("8 x h100", "mixed_bfloat16", ("ok", None)),
        ("gtx 1070", "mixed_float16", ("advice", 7)),
        ("gtx 1660 ti", "mixed_float16", ("problem", 7)),
        ("laptop without a gpu", "mixed_float16", ("problem", 7)),
        ("mac with tensorflow-metal", "mixed_float16", None),
        ("t4", "float32", None),
    ],
)
def test_a_policy_is_judged_by_the_card(name, policy, expected):
    found = spoken(CASES[name].snapshot, Demand("policy", policy, 7))
    assert found == ([] if expected is None else [("script-precision", *expected)])


def test_amx_multiplies_bfloat16():
    snapshot = machine(cpu=Cpu(64, 64, amx=True), python=for_cpus())
    assert spoken(snapshot, Demand("policy", "mixed_bfloat16", 1)) == [("script-precision", "ok", None)]
    assert spoken(snapshot, Demand("policy", "mixed_float16", 1)) == [("script-precision", "problem", 1)]


@pytest.mark.parametrize(
    ("demand", "expected"),
    [
        (Demand("backend", "jax", 2), [("script-backend", "problem", 2)]),
        (Demand("backend", "tensorflow", 2), []),
        (Demand("visible", "1", 2), [("script-visible", "problem", 2)]),
        (Demand("visible", "", 2), [("script-visible", "problem", 2)]),
        (Demand("visible", "0,1", 2), []),
        (Demand("data", "fuse.drive", 5), [("script-data", "advice", 5)]),
        (Demand("data", "nfs4", 5), [("script-data", "advice", 5)]),
        (Demand("data", "ext4", 5), []),
        (Demand("data", "overlay", 5), []),
        (Demand("processes", 32, 9), [("script-workers", "advice", 9)]),
        (Demand("processes", 16, 9), []),
        (Demand("arrays", 60 * GIB, 3), [("script-memory", "problem", 3)]),
        (Demand("arrays", GIB, 3), []),
        (Demand("parameters", 12_000_000_000), [("script-model", "problem", None)]),
        (Demand("parameters", 6_000_000_000), [("script-model", "advice", None)]),
        (Demand("parameters", 25_000_000), []),
    ],
)
def test_other_demands(demand, expected):
    assert spoken(machine(H100, python=environment()), demand) == expected


def test_a_limit_of_the_control_group_counts():
    snapshot = machine(python=for_cpus(), memory=replace(NO_CARD_MEMORY, limit=2 * GIB), cpu=Cpu(64, 64, 2.0))
    assert spoken(snapshot, Demand("arrays", 3 * GIB, 3), Demand("processes", 8, 4)) == [
        ("script-memory", "problem", 3),
        ("script-workers", "advice", 4),
    ]


def test_without_a_script_there_are_no_script_results():
    assert not [
        result for case in CASES.values() for result in diagnose(case.snapshot) if result.name.startswith("script-")
    ]


def test_processes_need_shared_memory():
    snapshot = replace(CASES["small /dev/shm, no torch"].snapshot, script=(Demand("processes", 2, 1),))
    assert [result.name for result in diagnose(snapshot) if result.status is Status.ADVICE] == ["shared-memory"]


def test_in_a_notebook_the_cell_is_named(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": "# Photos"},
        {"cell_type": "code", "source": "import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')"},
    ]
    (tmp_path / "train.ipynb").write_text(
        json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    )
    (found,) = demands(tmp_path / "train.ipynb")
    assert found == Demand("policy", "mixed_float16", 2, 2)
    (tmp_path / "machine.json").write_text(CASES["gtx 1660 ti"].snapshot.to_json())
    ran = kerascheck("doctor", "--script", tmp_path / "train.ipynb", "--snapshot", tmp_path / "machine.json")
    assert "train.ipynb:cell 2:2: The NVIDIA GeForce GTX 1660 Ti" in " ".join(ran.out.split())
    document = json.loads(
        kerascheck(
            "doctor",
            "--script",
            tmp_path / "train.ipynb",
            "--snapshot",
            tmp_path / "machine.json",
            "--output-format",
            "json",
        ).out
    )
    assert (document["results"][0]["line"], document["results"][0]["cell"]) == (2, 2)


ALL_KINDS = "dtype policy, backend, choice of GPUs, workers, data folder, array size or model size"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\n", f"nothing to compare with this machine. It shows no {ALL_KINDS}."),
        (
            "keras.mixed_precision.set_global_policy('mixed_float16')\n" + TRAIN + "model.fit(np.zeros((9000, 4000), 'float32'))\n",
            "compared a model of 5 parameters, policy mixed_float16 (line 4), 34 MiB of arrays (line 7) with this machine. "
            "It shows no backend, choice of GPUs, workers or data folder.",
        ),
        (
            "tf.config.set_visible_devices([], 'GPU')\nimport torch\n" + "torch.utils.data.DataLoader(data, num_workers=2)\n" * 7,
            "compared no GPU (line 4), 2 worker processes (line 6), 2 worker processes (line 7), 2 worker processes (line 8), "
            "2 worker processes (line 9), 2 worker processes (line 10), 2 more with this machine. It shows no dtype policy, "
            "backend, data folder, array size or model size.",
        ),
    ],
)  # fmt: skip
def test_the_report_names_what_was_compared(code, line, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(HEAD + code)
    (tmp_path / "machine.json").write_text(CASES["t4"].snapshot.to_json())
    ran = kerascheck("doctor", "--snapshot", "machine.json", "--script", "train.py")
    assert f"script train.py: {line} " in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "script " not in kerascheck("doctor", "--snapshot", "machine.json").out
