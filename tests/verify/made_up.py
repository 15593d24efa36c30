"""Made-up runs, and the states of real processes."""

import os
import time
from pathlib import Path

from kerascheck.runtime.verify.messages import BlockTiming, Frame, StepTime, TrainingReport, parse_facts
from kerascheck.runtime.verify.rounds import Run


def ended(reason="done", steps=100, losses=(), **facts):
    """A run whose report has these facts, by their wire keys."""
    return Run(
        end=TrainingReport(
            reason,
            trainings=1,
            kind="fit",
            steps=steps,
            losses=tuple(losses),
            epoch_starts=(0,),
            host_peak_bytes=1,
            first_step_at=5.0,
            facts=parse_facts(facts),
        )
    )


def at(path, line):
    """The stack of a training at this line of the main program."""
    return (Frame(path, line, 0),)


def durations(*times):
    """Step times as (seconds, steps, whether an epoch began)."""
    return tuple(StepTime(*each) for each in times)


def block(seconds, steps=10, inner=True, **more):
    """A block of equally long steps."""
    given = {
        "steps": steps,
        "seconds": seconds * steps,
        "inner_steps": steps if inner else 0,
        "inner_seconds": seconds * steps if inner else 0.0,
        "ticks": (seconds,) * steps,
    }
    return BlockTiming(**given | more)


WIRE_FACTS = {
    "runtime_nodes": [
        {"name": "Root", "elements": 10, "seconds": 0.001, "parallelism": 1, "reader": None},
        {"name": "Prefetch", "elements": 10, "seconds": 0.001, "parallelism": 1, "reader": 0},
        {"name": "MapAndBatch", "elements": 10, "seconds": 1.0, "parallelism": 1, "reader": 1},
        {"name": "TensorSlice", "elements": 100, "seconds": 0.1, "parallelism": 1, "reader": 2},
    ],
    "chain": [
        {"name": "Batch", "place": ["/a.py", 5]},
        {"name": "Map", "place": ["/a.py", 4]},
        {"name": "TensorSlice", "place": ["/a.py", 3]},
    ],
}
"""Facts in the form that the measured process sends."""
FACTS = parse_facts(WIRE_FACTS)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie: the process has ended, but its parent has not collected it.
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
    """Put a fake "torch" into ``folder`` whose optimizer only reports its steps, so trainings start immediately."""
    (folder / "torch" / "optim").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text(TORCH)
    (folder / "torch" / "optim" / "__init__.py").write_text("")
    (folder / "torch" / "optim" / "optimizer.py").write_text(OPTIMIZER)
    return folder
