"""Messages of a process that crashes or hangs after its report."""

from dataclasses import replace

import pytest
from verify.made_up import FACTS

from kerascheck.runtime.verify import rounds
from kerascheck.runtime.verify.messages import LateFacts, TrainingReport
from kerascheck.runtime.verify.process import Ended, Plan, Script, TooLate


@pytest.fixture
def run(monkeypatch):
    """A function that measures a process with these messages; the last one is raised."""

    def run(*messages):
        class Process:
            def __init__(self, script, plan):
                self.left = list(messages)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def next_message(self, deadline):
                message = self.left.pop(0)
                if isinstance(message, Exception):
                    raise message
                return message

            def output(self):
                return ""

        monkeypatch.setattr(rounds, "ScriptProcess", Process)
        return rounds.run_alone(Script("a.py", {}), Plan(), start_limit=1, block_limit=1)

    return run


def report(*pending):
    return TrainingReport("done", seconds=1.0, facts=replace(FACTS, failures={}), pending=pending)


def test_a_crash_of_the_profiler_loses_nothing_that_was_measured(run):
    crash = Ended("the process was ended by SIGSEGV")
    done = run(report("rows", "layer_trace"), LateFacts(("layer_trace",), {"traces": 7}), crash)
    assert done.failure is None and done.facts.traces == 7
    assert done.facts.failures == {"layer_trace": "the profiler crashed (the process was ended by SIGSEGV)"}


def test_diagnostics_behind_one_that_hangs_are_not_reached(run):
    failures = run(report("pipeline_alone", "layer_trace"), TooLate()).facts.failures
    assert failures == {
        "pipeline_alone": "the data does not start again",
        "layer_trace": "an earlier measurement, pipeline alone, did not end",
    }
    assert run(report("layer_trace"), TooLate()).facts.failures == {"layer_trace": "it took more than 30 s"}
