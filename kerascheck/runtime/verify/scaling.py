"""Scaling: the same script on one GPU and on all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kerascheck.runtime.plain import plain
from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison, compare
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.json_report import ScalingJson, SideJson
from kerascheck.runtime.verify.machine_class import MachineClass, machine
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import Run, run_alone
from kerascheck.runtime.verify.scouting import SCOUT, unusable_reason
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status

VISIBLE = "CUDA_VISIBLE_DEVICES"
_ALL = "all devices"
_MEASURED = (Status.CONFIRMED, Status.NO_EFFECT, Status.SLOWER, Status.CHANGES_RESULTS)


class TooFewGpus(Exception):
    """There is nothing to compare; ``str()`` gives the reason in one line."""


@dataclass(slots=True)
class Side:
    """One way to run the script."""

    devices: list[str]
    """Device names as in ``CUDA_VISIBLE_DEVICES``."""
    replicas: int | None = None
    """Number of replicas that make a step together; None if the script uses no strategy of TensorFlow."""
    global_batch: int | None = None
    """Examples per step; None if unknown."""
    step_seconds: float | None = None

    @property
    def batch_per_replica(self) -> float | None:
        """Examples per step and replica."""
        return None if self.global_batch is None else self.global_batch / (self.replicas or 1)

    @property
    def examples_per_second(self) -> float | None:
        """Throughput of all devices together."""
        return self.global_batch / self.step_seconds if self.global_batch and self.step_seconds else None

    def as_dict(self) -> SideJson:
        """Everything, in types that JSON knows."""
        return {
            "devices": self.devices,
            "replicas": self.replicas,
            "global_batch": self.global_batch,
            "step_seconds": self.step_seconds,
            "batch_per_replica": self.batch_per_replica,
            "examples_per_second": self.examples_per_second,
        }


@dataclass(slots=True)
class Scaling:
    """Throughput of all devices compared with one of them."""

    script: str
    command: str
    one: Side
    all: Side
    ratio: Ratio | None = None
    """Ratio of the examples per second; of the steps if the batch is unknown; None if not measured."""
    failure: str | None = None
    """Reason why it was not measured."""
    doubt: str | None = None
    """Reason why the ratio gives no verdict, such as other processes on a GPU."""
    machine: MachineClass = field(kw_only=True)
    gpu: GpuSummary | None = None
    """See :meth:`gpu.Sampler.summary`."""
    seconds: float = 0.0

    @property
    def efficiency(self) -> float | None:
        """Scaling efficiency: 1 if n devices are n times as fast as one."""
        return None if self.ratio is None else self.ratio.value / len(self.all.devices)

    def as_dict(self) -> ScalingJson:
        """Convert to JSON types."""
        return {
            "version": 1,
            "script": self.script,
            "command": self.command,
            "one": self.one.as_dict(),
            "all": self.all.as_dict(),
            "ratio": None if self.ratio is None else self.ratio.as_dict(),
            "failure": self.failure,
            "doubt": self.doubt,
            "machine": self.machine.as_dict(),
            "gpu": plain(self.gpu),
            "seconds": self.seconds,
            "efficiency": self.efficiency,
        }


def devices(cards: int, named: str | None) -> list[str]:
    """Names of the GPUs that a script may use.

    They follow from the number of ``cards`` and the value of ``CUDA_VISIBLE_DEVICES``; raises TooFewGpus.
    """
    found = [str(index) for index in range(cards)]
    if named is not None:
        found = [word.strip() for word in named.split(",") if word.strip() and word.strip() != "-1"]
    if len(found) < 2:
        shown = f"{VISIBLE} shows {len(found)}" if named is not None else f"this machine has {cards or 'none'}"
        raise TooFewGpus(f"--scaling compares one GPU with several, and {shown}")
    return found


def here() -> list[str]:
    """The GPUs of this machine that a script may use; raises TooFewGpus."""
    from kerascheck.runtime.doctor.nvidia import nvidia

    return devices(len(nvidia()[1]), os.environ.get(VISIBLE))


def measure(script: Script, names: Sequence[str], command: str, budget: Budget, progress: Progress) -> Scaling:
    """Run ``script`` on the first of the devices ``names`` and on all of them.

    Raises OSError if no process can be started.
    """
    start = time.monotonic()
    result = Scaling(script.path, command, Side(list(names[:1])), Side(list(names)), machine=machine())
    with gpu.Sampler() as sampler:
        for side in (result.one, result.all):
            progress(f"looking at the script on {_count(side)}", 3 * budget.seconds)
            run = run_alone(
                _shown(script, side),
                replace(SCOUT, rows=True),
                start_limit=budget.start_limit,
                block_limit=budget.block_limit,
            )
            result.failure = unusable_reason(run)
            if result.failure:
                result.failure = f"on {_count(side)}, {result.failure}"
                return result
            _describe(side, run)
        # More devices may mean larger batches and other sums, so results are not compared.
        variant = Variant(_ALL, {}, tolerance=None, environment={VISIBLE: ",".join(names)})
        comparison = compare(_shown(script, result.one), [variant], budget, progress, ceilings=False)
    result.gpu = sampler.summary()
    _judge(result, comparison)
    result.doubt = result.doubt or sampler.failure
    result.seconds = time.monotonic() - start
    return result


def _shown(script: Script, side: Side) -> Script:
    return replace(script, environment={**script.environment, VISIBLE: ",".join(side.devices)})


def _describe(side: Side, run: Run) -> None:
    side.replicas = run.facts.replicas
    # The last batch of an epoch may be smaller.
    side.global_batch = max(run.facts.rows or (0,)) or None


def _judge(result: Scaling, comparison: Comparison) -> None:
    verdict = comparison.verdicts[0]
    if verdict.ratio is None:
        result.failure = comparison.failure or verdict.reason
        return
    if verdict.step_seconds is not None:
        result.one.step_seconds, result.all.step_seconds = verdict.step_seconds
    larger = 1.0
    if result.one.global_batch and result.all.global_batch:
        larger = result.all.global_batch / result.one.global_batch
    ratio = verdict.ratio
    result.ratio = Ratio(ratio.value * larger, ratio.low * larger, ratio.high * larger)
    gpu.doubted(comparison, result.gpu)
    if verdict.status not in _MEASURED:
        result.doubt = verdict.reason


def _count(side: Side) -> str:
    return f"{len(side.devices)} GPU{'s' * (len(side.devices) > 1)}"


def render(result: Scaling) -> Iterator[str]:
    """Render the report for a terminal."""
    yield ""
    if result.ratio is None:
        yield f"not measured  {result.failure}"
        return
    count, ratio = len(result.all.devices), result.ratio
    what = "examples" if result.all.global_batch and result.one.global_batch else "steps"
    yield f"{_count(result.all)}: {ratio} the {what} per second of one, {result.efficiency:.0%} of x{count}"
    for side in (result.one, result.all):
        yield "  " + "   ".join(_cells(side))
    if result.doubt:
        yield f"Inconclusive: {result.doubt}"
    yield from _advice(result)
    if result.gpu:
        yield from gpu.lines(result.gpu)


def _cells(side: Side) -> Iterator[str]:
    yield f"{_count(side):<7}"
    yield f"{side.replicas or '?':>2} replica{'s' if side.replicas != 1 else ' '}"
    if side.global_batch:
        yield f"global batch {side.global_batch:>6} ({side.batch_per_replica:g} per replica)"
    else:
        yield "global batch unknown"
    if side.step_seconds is not None:
        yield f"{typical([side.step_seconds])} per step"
    if side.examples_per_second:
        yield f"{side.examples_per_second:,.0f} examples/s"


def _advice(result: Scaling) -> Iterator[str]:
    """Explain a ratio by the numbers of replicas and examples."""
    one, all_ = result.one, result.all
    if all_.replicas is None:
        yield "No distribution strategy of TensorFlow was seen: the script may use one GPU only."
    elif all_.replicas < len(all_.devices):
        yield f"{all_.replicas} of {len(all_.devices)} GPUs have a replica: build the model inside the scope of a MirroredStrategy without a list of devices."
    elif one.global_batch and one.global_batch == all_.global_batch:
        yield (
            f"The global batch stays {all_.global_batch}: each replica computes {all_.batch_per_replica:g} examples. "
            "To keep the GPUs busy, multiply the batch size by strategy.num_replicas_in_sync."
        )
