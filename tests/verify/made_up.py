"""Runs that never took place, and a look at processes that did."""

import os
import time
from pathlib import Path

from kerascheck.runtime.verify.rounds import Run


def ended(reason="done", steps=100, losses=(), **facts):
    end = {
        "event": "end", "reason": reason, "detail": "", "steps": steps, "kind": "fit", "losses": list(losses),
        "facts": facts, "epoch_starts": [0], "durations": [], "host_peak_bytes": 1, "first_step_at": 5.0, "places": [], "notes": [],
        "stack": [], "data_places": [], "trainings": 1,
    }  # fmt: skip
    return Run(end=end)


def block(seconds, steps=10, inner=True):
    return {
        "steps": steps, "seconds": seconds * steps, "inner_steps": steps if inner else 0,
        "inner_seconds": seconds * steps if inner else 0.0, "ticks": [seconds] * steps, "others": None,
    }  # fmt: skip


FACTS = {
    "runtime_nodes": [
        {"name": "Root", "elements": 10, "seconds": 0.001, "parallelism": 1},
        {"name": "Prefetch", "elements": 10, "seconds": 0.001, "parallelism": 1},
        {"name": "MapAndBatch", "elements": 10, "seconds": 1.0, "parallelism": 1},
        {"name": "TensorSlice", "elements": 100, "seconds": 0.1, "parallelism": 1},
    ],
    "chain": [
        {"name": "Batch", "place": ["/a.py", 5]},
        {"name": "Map", "place": ["/a.py", 4]},
        {"name": "TensorSlice", "place": ["/a.py", 3]},
    ],
}


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that has ended and only waits to be collected by its parent.
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def gone(pid, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


TORCH = """\
__version__ = "0.0"
hooks = []

class Tensor:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value

    def backward(self):
        pass

class cuda:
    is_available = staticmethod(lambda: False)
"""
OPTIMIZER = """\
import torch

register_optimizer_step_post_hook = torch.hooks.append

class SGD:
    def step(self):
        for hook in torch.hooks:
            hook(self, (), {})
"""


def with_torch(folder):
    """Put a "torch" into ``folder`` whose optimizer does nothing but tell that it made a step: trainings start at once."""
    (folder / "torch" / "optim").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text(TORCH)
    (folder / "torch" / "optim" / "__init__.py").write_text("")
    (folder / "torch" / "optim" / "optimizer.py").write_text(OPTIMIZER)
    return folder
