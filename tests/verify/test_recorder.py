"""The recorder in this process, with made-up ticks and captured messages."""

import functools
import os
from dataclasses import asdict

import pytest

from kerascheck.runtime.verify.child import frames
from kerascheck.runtime.verify.child.diagnose import guarded
from kerascheck.runtime.verify.child.recorder import PREDICTION, Recorder
from kerascheck.runtime.verify.process import Plan


class Channel:
    def __init__(self):
        self.sent = []

    def send(self, **message):
        self.sent.append(message)


@pytest.fixture
def recorder(monkeypatch):
    def leave(status):
        raise SystemExit

    monkeypatch.setattr(os, "_exit", leave)

    def recorder(**plan):
        return Recorder(asdict(Plan(warmup_steps=2, warmup_seconds=0, **plan)), Channel())

    return recorder


def finish(recorder):
    with pytest.raises(SystemExit):
        recorder.finish(reason="end", detail="")
    return next(message for message in recorder._channel.sent if message["event"] == "end")


def test_a_failing_diagnostic_is_no_error_of_the_script(recorder):
    recorder = recorder()
    recorder.at_end.append(lambda leader: 1 / 0)
    recorder.tick("a", "fit")
    with pytest.raises(SystemExit):
        recorder.finish(reason="end", detail="")
    assert recorder._channel.sent[-1] | {"notes": 0, "seconds": 0} == {
        "event": "end", "reason": "fault", "detail": "ZeroDivisionError: division by zero", "notes": 0, "seconds": 0,
    }  # fmt: skip


def test_late_diagnostics_do_not_count_as_training(recorder):
    recorder = recorder()
    recorder.late_diagnostics.append(lambda leader: recorder.tick("b", "dataset loop") or {"seen": 1})
    recorder.tick("a", "fit")
    with pytest.raises(SystemExit):
        recorder.finish(reason="end", detail="")
    assert [message["event"] for message in recorder._channel.sent] == ["training", "end", "more"]


def test_each_message_names_the_diagnostics_that_follow(recorder):
    def rows(state, leader):
        return {"seen": 1}

    recorder = recorder()
    recorder.late_diagnostics += [functools.partial(guarded, rows, None), lambda leader: None]
    recorder.tick("a", "fit")
    assert finish(recorder)["pending"] == ["rows", "<lambda>"]
    assert [message["pending"] for message in recorder._channel.sent[2:]] == [["<lambda>"], []]


def test_inside_ends_when_its_body_raises(recorder):
    recorder = recorder()
    with pytest.raises(ZeroDivisionError), recorder.inside:
        with recorder.inside:
            assert recorder.depth == 2
            raise ZeroDivisionError
    assert recorder.depth == 0


def test_trainings_come_before_bare_loops(recorder):
    recorder = recorder()
    for _ in range(9):
        recorder.tick("data", "dataset loop")
    recorder.tick("a", "optimizer loop")
    recorder.tick("b", "fit")
    assert finish(recorder)["kind"] == "optimizer loop"


def test_predictions_take_precedence_over_the_loop_over_their_data(recorder):
    recorder = recorder()
    for _ in range(9):
        recorder.tick("data", "dataset loop")
    recorder.tick("p", PREDICTION)
    assert finish(recorder)["kind"] == PREDICTION


def test_predictions_are_numbered_by_their_order(recorder):
    recorder = recorder(kind=PREDICTION, training=1)
    assert recorder.is_on_the_way() and not recorder.is_next()
    recorder.tick("f", "fit")
    recorder.tick("p", PREDICTION)
    assert not recorder.is_on_the_way()
    for _ in range(3):
        recorder.tick("q", PREDICTION)
    end = finish(recorder)
    assert (end["kind"], end["order"], end["steps"]) == (PREDICTION, 1, 3)


def test_a_prediction_does_not_begin_an_epoch_for_the_training(recorder):
    recorder = recorder()
    recorder.tick("p", PREDICTION, epoch=False)
    recorder.tick("a", "optimizer loop")
    assert finish(recorder)["epoch_starts"] == [0]


def test_only_iterators_that_fed_the_training_count_as_passes(recorder):
    recorder = recorder(passes=2)
    inspection = recorder.so_far()
    recorder.tick("data", "dataset loop")
    assert not recorder.pass_ended(inspection)
    for again in (False, True, True):
        before = recorder.so_far()
        recorder.tick("a", "function loop")
        assert recorder.pass_ended(before) is again
        assert not recorder.pass_ended(recorder.so_far())  # validation
    assert finish(recorder)["passes"] == 3


def test_losses_are_read_between_blocks_and_not_in_their_steps(recorder):
    recorder = recorder(block_steps=3, blocks=2)
    order = []
    recorder.sync = lambda value: order.append("wait")
    recorder.number = lambda scalar: order.append("read") or float(scalar)
    for step in range(8):
        order.append(step)
        if step < 7:
            recorder.tick("a", "fit", loss=str(step))
        else:
            with pytest.raises(SystemExit):
                recorder.tick("a", "fit", loss=str(step))
    # Two warm-up steps, and two blocks of three steps.
    assert order == [0, 1, "wait", 2, 3, 4, "wait", *["read"] * 5, 5, 6, 7, "wait", *["read"] * 3]
    end = next(message for message in recorder._channel.sent if message["event"] == "end")
    assert (end["losses"], end["loss_steps"]) == ([0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8])


def test_only_numbers_are_losses(recorder):
    recorder = recorder()
    recorder.number = lambda scalar: None if scalar == "symbolic" else scalar
    for loss in (1.0, "symbolic", 2.0):
        recorder.tick("a", "fit", loss=loss)
    end = finish(recorder)
    assert (end["losses"], end["loss_steps"]) == ([1.0, 2.0], [1, 3])


def test_an_example_inside_an_installed_package_is_a_script(monkeypatch):
    monkeypatch.setattr(frames, "_OWN", set())
    path = os.path.join(os.sep, "site-packages", "kerascheck", "rules", "slow.py")
    code = compile("x = 1", path, "exec")
    assert not frames.is_user_code(code)
    frames.claim([path])
    assert frames.is_user_code(code)
