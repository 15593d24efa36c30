"""Position of this process among the processes of a distributed training."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass

_VARIABLES = (
    ("RANK", "WORLD_SIZE"),  # torchrun
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI, Horovod
    ("PMI_RANK", "PMI_SIZE"),  # MPICH
    ("SLURM_PROCID", "SLURM_NTASKS"),
)


@dataclass(frozen=True, slots=True)
class Rank:
    """A process of a training."""

    number: int = 0
    """From 0; the process 0 prints."""
    processes: int = 1

    @property
    def suffix(self) -> str:
        """Ending of the file names of this process; empty if it is alone."""
        return f"-rank{self.number}" if self.processes > 1 else ""


def this_process() -> Rank:
    """The rank of this process, from the framework if it knows, else from the variables of its launcher."""
    return _of_ray() or _of_jax() or _of_torch() or _of_tensorflow() or _of_launcher() or Rank()


def _of_ray() -> Rank | None:
    """The rank in Ray Train; None outside of its workers."""
    train = sys.modules.get("ray.train")
    if train is None:
        return None
    try:
        context = train.get_context()
        return Rank(int(context.get_world_rank()), int(context.get_world_size()))
    except Exception:  # Ray raises errors of several classes if this process is no worker
        return None


def _of_jax() -> Rank | None:
    jax = sys.modules.get("jax")
    keras = sys.modules.get("keras")
    if jax is None or (keras is not None and keras.backend.backend() != "jax"):
        return None
    return Rank(jax.process_index(), jax.process_count()) if jax.process_count() > 1 else None


def _of_torch() -> Rank | None:
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Rank(distributed.get_rank(), distributed.get_world_size())


def _of_tensorflow() -> Rank | None:
    """The rank in ``TF_CONFIG``: a chief comes before the workers."""
    try:
        config = json.loads(os.environ.get("TF_CONFIG", ""))
        cluster, task = config["cluster"], config["task"]
        chiefs, workers = (len(cluster.get(kind, ())) for kind in ("chief", "worker"))
        first = chiefs if task["type"] == "worker" else 0
        return Rank(first + int(task["index"]), chiefs + workers)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _of_launcher() -> Rank | None:
    for number, processes in _VARIABLES:
        try:
            rank = Rank(int(os.environ[number]), int(os.environ[processes]))
        except (KeyError, ValueError):
            continue
        if rank.processes > 1:
            return rank
    return None
