"""The rank of a process among those of a distributed training."""

import json
import sys
from types import SimpleNamespace

import pytest

from kerascheck.runtime.live.ranks import Rank, this_process

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}
VARIABLES = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "TF_CONFIG")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("jax", "torch", "ray.train"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_a_process_alone_writes_plain_names():
    assert this_process() == Rank(0, 1)
    assert this_process().suffix == ""


@pytest.mark.parametrize(
    ("task", "rank"),
    [
        ({"type": "chief", "index": 0}, Rank(0, 3)),
        ({"type": "worker", "index": 0}, Rank(1, 3)),
        ({"type": "worker", "index": 1}, Rank(2, 3)),
    ],
)
def test_tf_config_counts_the_chief_first(monkeypatch, task, rank):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": task}))
    assert this_process() == rank


@pytest.mark.parametrize("value", ["", "{", "[]", '{"cluster": {}}', '{"cluster": 1, "task": 2}'])
def test_a_damaged_tf_config_counts_as_none(monkeypatch, value):
    monkeypatch.setenv("TF_CONFIG", value)
    assert this_process() == Rank()


@pytest.mark.parametrize(
    ("number", "processes"),
    [("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")],
)
def test_launchers_pass_variables(monkeypatch, number, processes):
    monkeypatch.setenv(number, "3")
    monkeypatch.setenv(processes, "4")
    assert this_process() == Rank(3, 4)
    assert this_process().suffix == "-rank3"
    monkeypatch.setenv(processes, "many")
    assert this_process() == Rank()


def test_ray_train_knows_its_workers(monkeypatch):
    context = SimpleNamespace(get_world_rank=lambda: 1, get_world_size=lambda: 2)
    monkeypatch.setitem(sys.modules, "ray.train", SimpleNamespace(get_context=lambda: context))
    assert this_process() == Rank(1, 2)
    monkeypatch.setitem(sys.modules, "ray.train", SimpleNamespace(get_context=lambda: 1 / 0))
    assert this_process() == Rank()
