"""When the profiler of a live training runs, with a made-up profiler."""

import os
from types import SimpleNamespace

import pytest

from kerascheck.runtime.live import profiled_steps
from kerascheck.runtime.live.profiled_steps import ProfiledSteps


@pytest.fixture
def profiler(monkeypatch):
    """A profiler that records what happens; it writes a profile when it stops."""
    seen = SimpleNamespace(events=[], folder=None, problem=None)

    def start(backend, folder, level):
        if seen.problem is not None:
            raise seen.problem
        seen.folder = folder
        seen.events.append(f"start {backend} {level}")
        return stop

    def stop():
        seen.events.append("stop")
        with open(os.path.join(seen.folder, "vm.xplane.pb"), "wb"):
            pass

    monkeypatch.setattr(profiled_steps.profiler, "start", start)
    monkeypatch.setattr(profiled_steps.feeding, "wait_for", lambda backend, logs: seen.events.append(f"wait {logs}"))
    return seen


def test_steps_are_waited_for_until_there_are_enough(profiler, monkeypatch):
    monkeypatch.setattr(profiled_steps, "_SECONDS", 0.0)
    profiled = ProfiledSteps("tensorflow")
    profiled.begin()
    steps = 0
    while not profiled.is_over:
        profiled.step_ended(steps)
        steps += 1
    assert profiler.events == ["start tensorflow 3", "wait 0", "wait 1", "wait 2", "wait 3", "stop"]
    assert profiled.path == os.path.join(profiler.folder, "vm.xplane.pb")
    profiled.close()
    assert not os.path.exists(profiler.folder) and profiler.events.count("stop") == 1


def test_a_training_that_ends_too_early_has_no_profile(profiler):
    profiled = ProfiledSteps("jax")
    profiled.begin()
    profiled.step_ended({})
    profiled.close()
    assert profiler.events[-1] == "stop"
    assert profiled.path is None and profiled.failure.startswith("fewer than 4 steps were profiled")


@pytest.mark.parametrize(
    ("backend", "callbacks", "failure"),
    [
        ("torch", (), "the profiler of torch is not read here"),
        (
            "jax",
            (SimpleNamespace(_should_trace=True),),
            "TensorBoard(profile_batch=...) uses the profiler in this training",
        ),
        ("jax", (SimpleNamespace(_should_trace=False),), None),
    ],
)
def test_the_profiler_starts_only_where_it_is_free(profiler, backend, callbacks, failure):
    profiled = ProfiledSteps(backend, callbacks)
    profiled.begin()
    assert profiled.failure == failure and profiled.is_over is (failure is not None)
    profiled.close()
    assert bool(profiler.events) is (failure is None)


def test_a_profiler_that_runs_already_is_said(profiler):
    profiler.problem = RuntimeError("Another profiler session is active")
    profiled = ProfiledSteps("tensorflow")
    profiled.begin()
    assert profiled.is_over and profiled.path is None
    assert profiled.failure == "the profiler did not start (RuntimeError: Another profiler session is active)"
    profiled.close()


def test_an_interrupted_training_ends_the_profiler_by_a_timer(profiler, monkeypatch):
    monkeypatch.setattr(profiled_steps, "_LONGEST", 0.05)
    profiled = ProfiledSteps("tensorflow")
    profiled.begin()
    profiled._timer.join(10)
    assert profiler.events == ["start tensorflow 3", "stop"] and profiled.is_over
    profiled.close()
