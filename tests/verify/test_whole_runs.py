"""Whole comparisons of scripts that train with a fake framework, which needs no import and little time."""

import sys
from dataclasses import replace

import pytest
from verify.made_up import durations, ended, gone, with_torch

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import compare
from kerascheck.runtime.verify.planning import limited
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import measure_in_turn, run_alone
from kerascheck.runtime.verify.scouting import SCOUT, unusable_reason
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"), pytest.mark.slow]

LOOP = """\
import os, sys, time
from torch.optim.optimizer import SGD

optimizer = SGD()
for step in range(10**9):
    time.sleep(0.002)
    optimizer.step()
"""
QUICK = Budget(seconds=4, steps=2000, start_limit=30, block_limit=2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "kerascheck.runtime.verify.scouting.SCOUT", replace(SCOUT, warmup_seconds=0.1, block_seconds=0.2)
    )
    return with_torch(tmp_path)


@pytest.fixture
def against(folder):
    """Compare a script text with a variant of it."""

    def against(repaired, text=LOOP, budget=QUICK):
        path = str(folder / "train.py")
        (folder / "train.py").write_text(text)
        variants = [Variant("repaired", {path: repaired}, places=((path, 1, 99),))] if repaired is not None else []
        return compare(Script(path, {path: text}, directory=str(folder)), variants, budget, ceilings=False)

    return against


@pytest.mark.slow
def test_a_training_is_found_and_compared(against):
    result = against(LOOP.replace("0.002", "0.001"))
    assert result.failure is None
    (verdict,) = result.verdicts
    assert verdict.ratio is not None and verdict.rounds >= 2


@pytest.mark.parametrize(
    "change, words",
    [
        ("if step == 20: raise ValueError('no')", "ValueError: no at line 6"),
        ("if step == 2: sys.exit(3)", "sys.exit() with '3' after too few steps"),
        ("if step == 20: input()", "reads standard input at line 6"),
        ("if step == 20: os._exit(4)", "ended by itself with status 4"),
        ("if step == 20: os.abort()", "SIGABRT"),
        pytest.param("if step == 20: time.sleep(1000)", "no progress", marks=pytest.mark.slow),
        ("break", "without a training step"),
        ("sys.stdout = None; break", "without a training step"),
    ],
)
def test_a_failing_variant_gives_a_reason(against, change, words):
    (verdict,) = against(LOOP.replace("    time", f"    {change}\n    time")).verdicts
    assert verdict.status is Status.NOT_RUN
    assert words in verdict.reason
    assert "_kerascheck_child" not in verdict.output and "kerascheck/runtime/verify" not in verdict.output


@pytest.mark.parametrize(
    "change, words",
    [
        ("raise ValueError('no')", "ValueError: no at line 6"),
        ("sys.exit('done')", "sys.exit() with 'done'"),
        ("input()", "reads standard input at line 6"),
        ("os.abort()", "SIGABRT"),
        pytest.param("time.sleep(1000)", "no progress", marks=pytest.mark.slow),
        ("sys.exit() if os.fork() else None", "sys.exit()"),
    ],
)
def test_a_script_that_stops_during_training_gives_a_reason(against, change, words):
    result = against(LOOP, LOOP.replace("    time", f"    if step == 2: {change}\n    time"), Budget(1, start_limit=3))
    assert words in result.failure
    assert [(verdict.status, verdict.reason) for verdict in result.verdicts] == [(Status.NOT_RUN, result.failure)]


def test_a_script_that_trains_in_a_fork_makes_no_step(against, folder):
    forked = LOOP.replace(
        "optimizer =",
        "pid = os.fork()\nif not pid: time.sleep(1000)\nwith open('pid', 'w') as file: file.write(str(pid))\nsys.exit()\noptimizer =",
    )
    assert "sys.exit() before any training step" in against(LOOP, forked).failure
    assert gone(int((folder / "pid").read_text()))


def test_measuring_ends_at_its_time_limit(folder):
    path = str(folder / "train.py")
    script = Script(path, {path: LOOP}, directory=str(folder))
    plan = Plan(warmup_steps=2, warmup_seconds=0, block_steps=5, blocks=10**6, seconds=0.5)
    alone = run_alone(script, plan, start_limit=30, block_limit=30)
    assert unusable_reason(alone) is None and 2 <= len(alone.blocks) < 10**6
    runs = measure_in_turn({"a": script, "b": script}, replace(plan, in_turn=True), start_limit=30, block_limit=30)
    for run in runs.values():
        assert unusable_reason(run) is None and 2 <= len(run.blocks) < 10**6
        assert run.end.reason == "done"


def test_a_variant_that_ends_early_is_measured_in_its_remaining_steps(against):
    (verdict,) = against(LOOP.replace("    time", "    if step == 40: sys.exit()\n    time")).verdicts
    assert verdict.ratio is not None


def test_hang_limits_follow_from_the_scouting_run(folder):
    scout = ended()
    scout.end.seconds, scout.end.durations = 5.0, durations((0.1, 1, False), (2.0, 1, False))
    tighter = limited(Budget(seconds=20), scout)
    assert (tighter.start_limit, tighter.block_limit) == (60.0, 36.0)
    assert limited(Budget(seconds=20, start_limit=7, block_limit=3), scout).start_limit == 7


SHORT = LOOP.replace("10**9", "30")


@pytest.mark.slow
def test_short_trainings_and_missing_losses_are_reported(against):
    (verdict,) = against(SHORT.replace("0.002", "0.001"), SHORT).verdicts
    assert "the training ends after 30 steps" in verdict.remark
    assert "the results could not be compared: no loss is visible" in verdict.remark
    with_loss = LOOP.replace("    optimizer", "    torch.Tensor(1.0 / (step + 1)).backward()\n    optimizer").replace(
        "import os", "import torch, os"
    )
    (verdict,) = against(with_loss.replace("0.002", "0.001"), with_loss).verdicts
    assert verdict.losses[0][:2] == verdict.losses[1][:2] == [1.0, 0.5]
    assert "could not be compared" not in verdict.remark and "ends after" not in verdict.remark
    (verdict,) = against(with_loss.replace("1.0 /", "2.0 /"), with_loss).verdicts
    assert verdict.status is Status.CHANGES_RESULTS


def test_variants_about_predictions_are_not_measured_on_a_training(folder):
    path = str(folder / "train.py")
    variant = Variant("repaired", {path: LOOP + " "}, places=((path, 1, 99),), predicts=True)
    (verdict,) = compare(
        Script(path, {path: LOOP}, directory=str(folder)), [variant], replace(QUICK, start_limit=2), ceilings=False
    ).verdicts
    assert verdict.status is Status.NOT_RUN and "its predictions are made inside a training" in verdict.reason
