"""The parts of a step from made-up measurements."""

from types import SimpleNamespace

import pytest

from kerascheck.runtime.live.account import _around, _parts
from kerascheck.runtime.live.fit_watch import EpochTimes
from kerascheck.runtime.live.schedule import Mode, Schedule, Tally
from kerascheck.runtime.why.step import Part

MODEL = SimpleNamespace(run_eagerly=False)


def watch(backend="tensorflow", **fields):
    return SimpleNamespace(backend=backend, tracing_seconds=0.0, unsplit="", **fields)


def schedule(timed, split, callbacks=0.0, fetches=(0.0,), can_split=True):
    """Steps that take ``timed`` seconds in all, and ``split`` seconds once their batch is read."""
    calls = [each - callbacks for each in timed]
    made = Schedule(can_split)
    made.tallies[Mode.TIMED] = Tally(sum(timed), callbacks * len(timed), calls, [0.0] * len(timed))
    made.tallies[Mode.SPLIT] = Tally(sum(split), 0.0, list(split), list(fetches))
    return made


def test_what_a_step_takes_longer_than_with_its_batch_at_hand_is_waiting():
    parts, unknown = _parts(MODEL, watch(), schedule([10.0] * 5, [4.0] * 5, callbacks=1.0))
    assert parts[Part.INPUT] == 5.0
    assert parts[Part.STEP] == 4.0
    assert parts[Part.CALLBACKS] == 1.0
    assert Part.UNEXPLAINED not in parts
    assert not unknown


def test_steps_that_are_longer_at_times_are_unexplained_where_no_batch_is():
    timed = [4.0] * 8 + [12.0] * 2
    parts, _ = _parts(MODEL, watch(), schedule(timed, [4.0] * 5))
    assert parts[Part.INPUT] == 0.0
    assert parts[Part.UNEXPLAINED] == pytest.approx(1.6)


def test_steps_that_are_longer_at_times_wait_where_some_batches_take_longer():
    timed = [4.0] * 8 + [12.0] * 2
    parts, _ = _parts(MODEL, watch(), schedule(timed, [4.0] * 5, fetches=[0.0] * 8 + [8.0] * 2))
    assert parts[Part.INPUT] == pytest.approx(1.6)
    assert Part.UNEXPLAINED not in parts


def test_a_device_that_computes_beside_the_host_hides_reading():
    parts, _ = _parts(MODEL, watch("jax"), schedule([5.0] * 5, [5.0] * 5, fetches=[3.0] * 5))
    assert parts[Part.INPUT] == 0.0
    parts, _ = _parts(MODEL, watch("jax"), schedule([5.0] * 5, [1.0] * 5, fetches=[3.0] * 5))
    assert parts[Part.INPUT] == 3.0
    assert parts[Part.UNEXPLAINED] == 1.0


def test_batches_that_cannot_be_read_apart_leave_the_step_unexplained():
    parts, unknown = _parts(MODEL, watch(), schedule([10.0] * 5, [], callbacks=1.0, can_split=False))
    assert parts == {Part.CALLBACKS: 1.0, Part.UNEXPLAINED: 9.0}
    assert len(unknown) == 1


def test_costs_of_an_epoch_are_spread_over_its_steps():
    seen = watch(
        epochs=[EpochTimes(steps=100, validation=20.0, callbacks=5.0)],
        frame=SimpleNamespace(arguments={"validation_freq": 2}),
        start_seconds=11.0,
        schedule=schedule([1.0] * 5, [1.0] * 5),
    )
    assert _around(seen, 100, 10) == {Part.BETWEEN_EPOCHS: 0.05, Part.VALIDATION: 0.1, Part.START: 0.01}


def test_a_schedule_measures_all_modes_and_ends(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("kerascheck.runtime.live.schedule.time.perf_counter", lambda: clock[0])
    made, seen = Schedule(can_split=True), set()
    while (mode := made.next_mode()) is not None:
        seen.add(mode)
        clock[0] += 0.05
        made.step_ended(0.05, 0.04, 0.0, 0.0, counts=True)
        assert clock[0] < 60
    assert seen == set(Mode)
    assert made.is_usable
    # 2 s, 1 s and 1.5 s, and the first step of each slice.
    assert 4.5 < clock[0] < 7
