"""Rounds of fresh processes whose blocks run in turn, A B B A ..., while all others are suspended."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kerascheck.runtime.verify.messages import (
    BlockTiming,
    InvalidMessage,
    LateFacts,
    Ready,
    TrainingFacts,
    TrainingReport,
    TrainingStart,
)
from kerascheck.runtime.verify.process import Ended, Plan, Script, ScriptProcess, TooLate

TOO_LATE = "it took too long"
"""``Run.failure`` of a process that was killed at its deadline."""
_LATE_FACTS_SECONDS = 30.0  # maximum per diagnostic after the report
_HANGS = dict.fromkeys(("rows", "pipeline_alone"), "the data does not start again")
_FEWEST_BLOCKS = 2  # minimum blocks per run before a late round ends


@dataclass(slots=True)
class Run:
    """The messages of one process."""

    blocks: list[BlockTiming] = field(default_factory=list)
    end: TrainingReport | None = None
    """None if the process ended without it."""
    failure: str | None = None
    """Reason why ``end`` is missing or unusable."""
    output: str = ""
    trainings: list[TrainingStart] = field(default_factory=list)
    """In the order of their first steps."""

    @property
    def report(self) -> TrainingReport:
        """The closing message of a run.

        Raises:
            ValueError: there is none.
        """
        if self.end is None:
            raise ValueError(f"a run that did not end well has no report: {self.failure}")
        return self.end

    @property
    def facts(self) -> TrainingFacts:
        """Facts of the closing message; empty if there is none."""
        return TrainingFacts() if self.end is None else self.end.facts


Settled = Callable[[Mapping[str, Run]], Collection[str]]
"""Receives the runs so far and returns the names of those that need no further block."""


def measure_in_turn(
    scripts: Mapping[str, Script],
    plan: Plan,
    *,
    start_limit: float,
    block_limit: float,
    plans: Mapping[str, Plan] = MappingProxyType({}),
    settled: Settled = lambda runs: (),
) -> dict[str, Run]:
    """Run all ``scripts`` side by side: they take turns to run one timed block, in alternating order.

    Args:
        scripts: the scripts by name.
        plan: the default plan of a script.
        start_limit: maximum seconds until every script has warmed up.
        block_limit: maximum seconds per block.
        plans: plans of individual scripts, by name.
        settled: called after every round of blocks; returns the names of runs that need no further block.
    """
    runs = {name: Run() for name in scripts}
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(ScriptProcess(script, plans.get(name, plan))) for name, script in scripts.items()
        }
        deadline = time.monotonic() + start_limit
        live = [name for name in processes if _until_ready(processes[name], runs[name], deadline)]
        forward = True
        start = time.monotonic()
        while live:
            late = plan.seconds is not None and time.monotonic() - start > plan.seconds * len(scripts)
            enough = late and all(len(runs[name].blocks) >= _FEWEST_BLOCKS for name in live)
            done = settled(runs)
            for name in list(live) if forward else list(reversed(live)):
                processes[name].go_on(enough=enough or name in done)
                if not _until_ready(processes[name], runs[name], time.monotonic() + block_limit):
                    live.remove(name)
            forward = not forward
    return runs


def measure_one_by_one(
    scripts: Mapping[str, Script],
    plan: Plan,
    *,
    start_limit: float,
    block_limit: float,
    plans: Mapping[str, Plan] = MappingProxyType({}),
    settled: Settled = lambda runs: (),
) -> dict[str, Run]:
    """Run all ``scripts`` one after the other to the ends of their plans, for GPUs whose memory holds only one process.

    Takes the arguments of :func:`measure_in_turn`; ignores ``settled``.
    """
    limits = {"start_limit": start_limit, "block_limit": block_limit}
    return {name: run_alone(script, plans.get(name, plan), **limits) for name, script in scripts.items()}


def run_alone(script: Script, plan: Plan, *, start_limit: float, block_limit: float) -> Run:
    """Run one script to the end of its plan or until a limit is exceeded."""
    run = Run()
    with ScriptProcess(script, plan) as process:
        _until_ready(process, run, time.monotonic() + start_limit, block_limit)
    return run


def _read_late_facts(process: ScriptProcess, report: TrainingReport) -> None:
    """Add the facts of the diagnostics that follow ``report``, until one of them hangs or crashes."""
    pending = report.pending
    try:
        while pending:
            message = process.next_message(time.monotonic() + _LATE_FACTS_SECONDS)
            if isinstance(message, LateFacts):
                report.facts = message.added_to(report.facts)
                pending = message.pending
        return
    except Ended as error:
        why = f"the profiler crashed ({error})" if pending[0] == "layer_trace" else str(error)
    except TooLate:
        why = _HANGS.get(pending[0], f"it took more than {_LATE_FACTS_SECONDS:.0f} s")
    not_reached = dict.fromkeys(pending[1:], f"an earlier measurement, {pending[0].replace('_', ' ')}, did not end")
    report.facts = replace(report.facts, failures={**report.facts.failures, **not_reached, pending[0]: why})


def _until_ready(process: ScriptProcess, run: Run, deadline: float, block_limit: float = 0.0) -> bool:
    """Read messages until the process waits for its next block or has ended.

    Returns:
        Whether it waits; it is frozen then.
    """
    try:
        while True:
            message = process.next_message(deadline)
            if isinstance(message, Ready):
                process.freeze()
                return True
            if isinstance(message, TrainingStart):
                run.trainings.append(message)
            elif isinstance(message, BlockTiming):
                run.blocks.append(message)
                deadline = max(deadline, time.monotonic() + block_limit)
            elif isinstance(message, TrainingReport):
                run.end = message
                run.output = process.output()
                _read_late_facts(process, message)
                return False
    except Ended as error:
        run.failure = str(error)
    except TooLate:
        run.failure = TOO_LATE
    except InvalidMessage as error:
        run.failure = f"the measured process sent a damaged message, which is a fault of kerascheck: {error}"
    run.output = process.output()
    process.kill()
    return False
