"""Rounds of fresh processes whose blocks are measured in turn: A B B A ..., all others frozen meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kerascheck.runtime.verify.process import Ended, Plan, Script, ScriptProcess, TooLate

_MORE_SECONDS = 30.0
_FEWEST_BLOCKS = 2


@dataclass(slots=True)
class Run:
    """What one process told."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    """Its closing message, or None."""
    failure: str | None = None
    """Why there is no closing message, or why it is not of use."""
    output: str = ""
    trainings: list[dict[str, Any]] = field(default_factory=list)
    """A message for each training that made a step, and for each loop that may be one, in their order."""

    @property
    def told(self) -> dict[str, Any]:
        """The closing message of a run that has one (ValueError otherwise)."""
        if self.end is None:
            raise ValueError(f"a run that did not end well has told nothing: {self.failure}")
        return self.end


Settled = Callable[[Mapping[str, Run]], Collection[str]]
"""Of the runs so far, those whose next blocks would say nothing more."""


def measure_in_turn(
    scripts: Mapping[str, Script],
    plan: Plan,
    *,
    start_limit: float,
    block_limit: float,
    plans: Mapping[str, Plan] = MappingProxyType({}),
    settled: Settled = lambda runs: (),
) -> dict[str, Run]:
    """Run all ``scripts`` side by side, one block of each at a time, in forward and backward order by turns.

    ``start_limit``: seconds until every script must have warmed up; ``block_limit``: seconds that a block may take; ``plans``: of
    single scripts, in the place of ``plan``; ``settled``: asked after every block of all, who of them is done.
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
    """Run all ``scripts`` one after the other to the ends of their plans: for a GPU, whose memory holds one process only.

    Arguments as for :func:`measure_in_turn`; what one of them does says nothing of the others, so that none is ``settled`` early.
    """
    limits = {"start_limit": start_limit, "block_limit": block_limit}
    return {name: run_alone(script, plans.get(name, plan), **limits) for name, script in scripts.items()}


def run_alone(script: Script, plan: Plan, *, start_limit: float, block_limit: float) -> Run:
    """Run one script to the end of its plan, or until a limit passes."""
    run = Run()
    with ScriptProcess(script, plan) as process:
        _until_ready(process, run, time.monotonic() + start_limit, block_limit)
    return run


def _read_more(process: ScriptProcess, end: dict[str, Any]) -> None:
    """Add the facts of the last, disturbing diagnoses to the closing message, as far as they come."""
    try:
        while True:
            message = process.next_message(time.monotonic() + _MORE_SECONDS)
            if message["event"] == "more":
                end["facts"] |= message["facts"]
                if message["last"]:
                    return
    except (Ended, TooLate):
        # The looks before it have told theirs.
        if "alone_seconds_per_batch" not in end["facts"]:
            end["facts"]["pipeline_alone_failed"] = "the data does not start again"


def _until_ready(process: ScriptProcess, run: Run, deadline: float, block_limit: float = 0.0) -> bool:
    """Read messages until the process waits for its next block (True, and it is frozen) or has ended (False)."""
    try:
        while True:
            message = process.next_message(deadline)
            if message["event"] == "ready":
                process.freeze()
                return True
            if message["event"] == "training":
                run.trainings.append(message)
            elif message["event"] == "block":
                run.blocks.append(message)
                deadline = max(deadline, time.monotonic() + block_limit)
            elif message["event"] == "end":
                run.end = message
                run.output = process.output()
                if message.get("more"):
                    _read_more(process, message)
                return False
    except Ended as error:
        run.failure = str(error)
    except TooLate:
        run.failure = "it took too long"
    run.output = process.output()
    process.kill()
    return False
