"""The command ``doctor``."""

import json
import sys

import pytest
from command import kerascheck
from doctor.machines import CASES

from kerascheck.runtime.doctor import Snapshot


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def save(name):
        path = tmp_path / "machine.json"
        path.write_text(CASES[name].snapshot.to_json())
        return path

    return save


def test_the_report_lists_problems_first_with_advice(saved):
    ran = kerascheck("doctor", "--snapshot", saved("tensorflow-cpu beside an rtx 4090"))
    assert ran.code == 1
    assert ran.out == (
        "Linux, x86_64\n"
        "problem  TensorFlow 2.21.0 is built for CPUs (package tensorflow-cpu) and cannot\n"
        "         use the NVIDIA GeForce RTX 4090. [gpu-build]\n"
        "         -> Run pip uninstall tensorflow-cpu, then pip install\n"
        "            'tensorflow[and-cuda]'\n"
        "ok       NVIDIA driver 550.90.07, up to CUDA 12.4\n"
        "ok       TensorFlow 2.21.0, built for CPUs, Python 3.11.7\n"
        "ok       Keras 3.12.0 on TensorFlow\n"
        "ok       mixed_float16 or mixed_bfloat16 gains on the NVIDIA GeForce RTX 4090\n"
        "ok       16 CPU cores, 64 GiB of memory\n"
        "1 problem.\n"
    )


def test_advice_is_no_failure(saved):
    ran = kerascheck("doctor", "--snapshot", saved("power capped"))
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "No problems, 1 piece of advice.")


@pytest.mark.parametrize("name", CASES)
def test_reports_are_short_and_fit_a_terminal(name, saved):
    lines = kerascheck("doctor", "--snapshot", saved(name)).out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80


def test_json_has_the_results_and_the_snapshot(saved):
    path = saved("quota of 2 of 64 cores")
    document = json.loads(kerascheck("doctor", "--snapshot", path, "--output-format", "json").out)
    assert [result["name"] for result in document["results"] if result["status"] == "advice"] == ["cpu-quota"]
    assert Snapshot.from_json(json.dumps(document["snapshot"])) == CASES["quota of 2 of 64 cores"].snapshot


def test_a_snapshot_can_be_saved_again(saved, tmp_path):
    path = saved("t4")
    kerascheck("doctor", "--snapshot", path, "--save-snapshot", tmp_path / "again.json")
    assert Snapshot.from_json((tmp_path / "again.json").read_text()) == CASES["t4"].snapshot


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--snapshot", "missing.json"], "missing.json: No such file or directory"),
        (["--snapshot", "notes.txt"], "notes.txt: is not JSON"),
        (["--snapshot", "bytes"], "bytes: "),
        (["--snapshot", "t4.json", "--python", sys.executable], "exclude each other"),
        (["--snapshot", "t4.json", "--save-snapshot", "missing/x.json"], "missing/x.json: cannot be written"),
        (["--python", "missing/python"], "--python missing/python: cannot be started"),
        (["--python", "/bin/false"], "--python /bin/false: it ended with 1"),
        (["--script", "missing.py", "--snapshot", "t4.json"], "missing.py: cannot be read: No such file or directory"),
        (["--script", "notes.txt", "--snapshot", "t4.json"], "notes.txt: "),
    ],
)
def test_invalid_input_gives_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("see below :")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "t4.json").write_text(CASES["t4"].snapshot.to_json())
    ran = kerascheck("doctor", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_a_script_is_read_and_not_run(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\nraise SystemExit(3)\n"
    )
    ran = kerascheck("doctor", "--script", "train.py", "--snapshot", saved("gtx 1660 ti"))
    assert ran.code == 1
    assert ran.out.splitlines()[1] == "problem  train.py:2: The NVIDIA GeForce GTX 1660 Ti has no Tensor Cores:"
