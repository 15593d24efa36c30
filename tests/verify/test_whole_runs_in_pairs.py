"""Seconds until the first step and memory of whole runs, on made-up runs; and waiting for a quiet machine."""

import itertools

import pytest
from verify.made_up import ended

from kerascheck.catalog import measured
from kerascheck.runtime.verify import evidence
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.quiet import NotQuiet, wait_until_quiet
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status
from kerascheck.runtime.verify.whole_runs import QUANTITIES, compare_whole_runs

SLOW, FAST = "slow", "fast"


def compare(quantity, slow, fast, rounds=None):
    """Compare made-up runs whose values repeat, and return the verdict and the texts in the order of their runs."""
    values = {SLOW: itertools.cycle(slow), FAST: itertools.cycle(fast)}
    order = []

    def run(script, plan, **limits):
        (text,) = script.sources.values()
        order.append(text)
        made = ended()
        made.end.first_step_at = made.end.host_peak_bytes = next(values[text])
        return made

    found = compare_whole_runs(
        Script("/a.py", {"/a.py": SLOW}), Variant("line 1", {"/a.py": FAST}), QUANTITIES[quantity],
        Budget(rounds=rounds), lambda text, left: None, run,
    )  # fmt: skip
    return found, order


def test_runs_alternate_until_the_interval_decides():
    found, order = compare("first step", [9.0, 9.1], [3.0, 3.1])
    (verdict,) = found.verdicts
    assert order == [SLOW, FAST, FAST, SLOW, SLOW, FAST]
    assert verdict.status is Status.CONFIRMED and 2.8 < verdict.ratio.low < 3 < verdict.ratio.high < 3.2
    assert verdict.reason == "the first step ends 2.98 times sooner: 3.0 s instead of 9.0 s"


@pytest.mark.parametrize(
    "slow, fast, status, reason",
    [
        ([1e9], [1e9], Status.NO_EFFECT, "the process needs as much memory as before: 1,000 MB instead of 1,000 MB"),
        ([1e9], [2e9], Status.SLOWER, "the process needs 2.00 times more memory: 2,000 MB instead of 1,000 MB"),
        ([1e9, 9e9, 2e9], [1e9], Status.INCONCLUSIVE, "the interval is too wide to tell"),
    ],
)
def test_memory_is_judged_like_time(slow, fast, status, reason):
    (verdict,) = compare("memory", slow, fast, rounds=4)[0].verdicts
    assert (verdict.status, verdict.reason) == (status, reason)


def test_a_script_without_a_step_is_not_compared():
    found = compare_whole_runs(
        Script("/a.py", {"/a.py": SLOW}), Variant("line 1", {}), QUANTITIES["memory"], Budget(),
        lambda text, left: None, lambda *_, **__: Run(failure="the process was ended by SIGSEGV"),
    )  # fmt: skip
    assert (found.failure, found.verdicts) == ("the process was ended by SIGSEGV", [])


def test_the_table_says_what_was_measured():
    row = evidence.row("KC205", "python-loop-in-call", compare("first step", [9.0], [3.0])[0], "first step")
    assert row["cpu"]["of"] == "first step" and "until the first step (" in measured.for_rule("KC205", [row])[0]


def test_a_rank_by_gain_is_one_by_the_time_of_steps(monkeypatch):
    row = evidence.row("KC205", "python-loop-in-call", compare("first step", [9.0], [3.0])[0], "first step")
    monkeypatch.setattr(measured, "read_table", lambda: [row])
    assert measured.gains() == {}


class Load:
    """Made-up shares of the machine that other programs use."""

    def __init__(self, *shares):
        self._shares = iter(shares)

    def of_others(self):
        return next(self._shares)


@pytest.mark.parametrize("shares, waits", [([0.1], 0), ([None], 0), ([0.9, 0.5, 0.2], 2)])
def test_waiting_ends_when_the_machine_is_quiet(shares, waits):
    load, told = Load(*shares), []
    wait_until_quiet(lambda text, left: told.append((text, left)), sleep=lambda _: None, load=lambda: load)
    assert len(told) == waits
    assert told[:1] == [("waiting for other programs, which use 90% of the machine", 598.0)][:waits]


def test_a_machine_that_stays_busy_is_an_error():
    load = Load(*[0.6] * 10)
    with pytest.raises(NotQuiet, match="other programs use 60% of the machine"):
        wait_until_quiet(lambda *_: None, limit=10, sleep=lambda _: None, load=lambda: load)


def test_a_disturbed_measurement_is_not_kept():
    found, _ = compare("memory", [1e9], [1e9])
    found.verdicts[0].others = 0.4
    (spec,) = [each for each in evidence_specs() if each.code == "KC101"]
    told = []
    rows = evidence.collect([spec], Budget(), lambda *_: None, told.append, lambda *_: found, lambda progress: None)
    with pytest.raises(NotQuiet, match="used 40% of the machine while KC101 was measured"):
        list(rows)
    assert told == []


def evidence_specs():
    from kerascheck.catalog import registry

    return registry.rule_specs()


def test_rows_of_this_machine_method_and_versions_are_finished():
    row = evidence.row("KC101", "serial-map", compare("memory", [1e9], [5e8])[0], "memory")
    versions = {"tensorflow": "2.21.0"}
    row["cpu"]["versions"] = versions
    assert evidence.is_finished("KC101", [row], versions)
    assert not evidence.is_finished("KC102", [row], versions)
    for change in ({"method": 1}, {"versions": {"tensorflow": "2.20"}}, {"machine": {}}, {"status": "inconclusive"}):
        assert not evidence.is_finished("KC101", [{**row, "cpu": {**row["cpu"], **change}}], versions)
    del row["cpu"]["method"]
    assert not evidence.is_finished("KC101", [row], versions)
