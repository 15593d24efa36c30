"""From what a run told to the parts of a step."""

from dataclasses import replace

import pytest
from verify.made_up import WIRE_FACTS, at, block, durations, ended

from kerascheck.runtime.why.breakdown import step_of
from kerascheck.runtime.why.step import Part


def run(kind="fit", blocks=(), parts=None, **facts):
    """A run whose steps took 10 ms, and whose facts are those named."""
    made = ended(
        parts={"call": 0.0, "callbacks": 0.0, "next": 0.0} | (parts or {}), **{"backend": "tensorflow"} | facts
    )
    made.end.kind = kind
    made.end.stack = at("/a.py", 30)
    made.blocks = [block(0.010), *blocks]
    return made


def test_fit_waits_for_what_its_call_takes_longer_than_without_input():
    step = step_of(run(parts={"call": 0.009, "callbacks": 0.001}, call_seconds_without_input=0.003))
    assert step.share(Part.INPUT) == pytest.approx(0.6)
    assert step.share(Part.CALLBACKS) == pytest.approx(0.1)
    assert step.share(Part.STEP) == pytest.approx(0.3)
    assert step.largest_gain(Part.INPUT) == pytest.approx(2.5)


def test_the_load_of_a_training_that_ends_before_its_first_block_counts():
    short = run(parts={"call": 0.009}, call_seconds_without_input=0.003, other_load=0.7)
    assert step_of(short).busy_others is None
    short.blocks.clear()
    assert step_of(short).busy_others == 0.7


def test_no_step_waits_longer_than_its_pipeline_takes_for_a_batch():
    counted = {"call": 0.009, "callbacks": 0.001}
    step = step_of(run(parts=counted, call_seconds_without_input=0.003, alone_seconds_per_batch=0.001))
    assert step.parts[Part.INPUT] == pytest.approx(0.003)


def test_two_sizes_of_a_batch_tell_the_fixed_cost_of_a_step():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.010, times_as_long=1.3, times_larger=4))
    assert step.parts[Part.COMPUTE] == pytest.approx(0.001)
    assert step.parts[Part.OVERHEAD] == pytest.approx(0.009)


def test_python_that_runs_while_steps_are_fed_one_batch_is_inside_the_step():
    metric = ["/a.py", 7, "tau", "numpy"]
    inside = {
        "total": 100,
        "main": [["executing", "/a.py", 30, "<module>", "tensorflow", 100]],
        "others": [[*metric, 60]],
    }
    loading = ["/a.py", 3, "load", None]
    samples = {"total": 100, "main": [], "others": [[*metric, 50], [*loading, 40]]}
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.008, inside_step=inside, samples=samples))
    assert step.parts[Part.INSIDE] == pytest.approx(0.6 * 0.008)
    assert [line.line for line in step.main_lines[Part.INSIDE]] == [7]
    assert [line.line for line in step.input_lines] == [3]
    eager = run(parts={"call": 0.010}, call_seconds_without_input=0.008, inside_step=inside, functions_run_eagerly=True)
    assert Part.INSIDE not in step_of(eager).parts


def test_a_larger_batch_may_win_what_batches_of_the_input_cost():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.005, times_as_long=1.0, times_larger=4))
    assert step.largest_gain(Part.OVERHEAD) > 100


def test_a_step_that_grows_with_its_batch_has_no_fixed_cost():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.010, times_as_long=4.0, times_larger=4))
    assert step.share(Part.COMPUTE) == pytest.approx(1)
    assert Part.OVERHEAD not in step.parts


def test_a_loop_waits_no_longer_than_in_the_calls_for_its_next_batch():
    replayed = block(0.002, phase="replayed")
    assert step_of(run("optimizer loop", [replayed], {"next": 0.001})).parts[Part.INPUT] == pytest.approx(0.001)
    assert step_of(run("optimizer loop", [replayed], {"next": 0.009})).parts[Part.INPUT] == pytest.approx(0.008)


def test_what_an_eager_loop_does_not_wait_is_operations_run_one_by_one():
    step = step_of(run("optimizer loop", parts={"next": 0.001}))
    assert step.share(Part.EAGER) == pytest.approx(0.9)
    assert step.largest_gain(Part.EAGER) is None


def test_what_lies_between_the_calls_of_a_compiled_step_is_the_scripts_own():
    step = step_of(run("function loop", parts={"call": 0.004, "next": 0.001}))
    assert step.share(Part.PYTHON) == pytest.approx(0.5)
    assert step.share(Part.STEP) == pytest.approx(0.4)


def test_a_run_on_one_cached_batch_tells_the_input_of_a_loop_in_a_graph():
    assert step_of(run("graph loop"), without_input=0.004).share(Part.INPUT) == pytest.approx(0.6)


def test_the_start_of_an_epoch_is_spread_over_its_steps():
    made = run(epoch_lengths=[10])
    made.end.durations = durations((0.010, 1, False), (0.110, 1, True), (0.110, 1, True))
    step = step_of(made)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.010)
    assert step.seconds == pytest.approx(0.020)


def test_callbacks_between_epochs_are_no_start_of_an_epoch():
    made = run(epoch_lengths=[10], callbacks_between_epochs=[0.060, 0.080, 0.500])
    made.end.durations = durations((0.010, 1, False), (0.110, 1, True), (0.110, 1, True))
    step = step_of(made)
    assert step.parts[Part.BETWEEN_EPOCHS] == pytest.approx(0.008)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.002)
    assert step.seconds == pytest.approx(0.020)


@pytest.mark.parametrize(("calls", "share"), [(4, 0.5), (2, 1 / 3)])
def test_validation_counts_by_how_often_it_is_done(calls, share):
    validation = {"calls": calls, "seconds": 0.1, "whole": True}
    step = step_of(run(epoch_lengths=[10, 10, 10, 10], validation=validation))
    assert step.share(Part.VALIDATION) == pytest.approx(share)


def test_a_validation_that_was_not_measured_is_said_to_be_unknown():
    step = step_of(run(epoch_lengths=[10], validation={"calls": 1, "seconds": None, "whole": False}))
    assert Part.VALIDATION not in step.parts
    assert "how long a validation takes" in step.unknown


def test_calls_that_trace_count_by_what_they_take_longer():
    step = step_of(run("function loop", parts={"call": 0.009, "tracing": 0.004}, new_traces=9))
    assert step.share(Part.TRACING) == pytest.approx(0.4)
    assert step.largest_gain(Part.TRACING) == pytest.approx(1 / 0.6)


def test_an_input_fix_may_win_the_starts_of_epochs_too():
    made = run(parts={"call": 0.010}, call_seconds_without_input=0.005, epoch_lengths=[10])
    made.end.durations = durations((0.110, 1, True), (0.110, 1, True))
    assert step_of(made).largest_gain(Part.INPUT) == pytest.approx(0.020 / 0.005)


def test_where_every_step_traces_no_bound_is_known():
    step = step_of(run("function loop", parts={"call": 0.009, "tracing": 0.009}, new_traces=9, traces_always=True))
    assert step.largest_gain(Part.TRACING) is None


def test_a_switch_that_runs_functions_eagerly_is_seen():
    assert step_of(run(functions_run_eagerly=True)).ranked == [Part.EAGER]


def test_waiting_in_tensorflow_is_no_python_of_the_script():
    samples = {
        "total": 100,
        "main": [["input", "/a.py", 30, "<module>", "tensorflow", 50], ["input", "/a.py", 12, "__getitem__", None, 40]],
        "others": [["/a.py", 7, "generate", "cv2", 30]],
    }
    lines = step_of(run(samples=samples, **WIRE_FACTS)).input_lines
    assert [(line.line, line.share) for line in lines] == [(12, 0.4), (7, 0.3)]


def test_what_begins_a_later_epoch_tells_more_than_the_second_one_that_compiled_again():
    made = run(epoch_lengths=[10])
    made.end.durations = durations((0.010, 1, False), (0.410, 1, True))
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=0.140, inner_steps=10, inner_seconds=0.100)
    assert step_of(made).parts[Part.EPOCHS] == pytest.approx(0.003)


def test_only_pytorch_runs_eagerly_as_a_rule():
    assert step_of(run("gradient loop", backend="jax")).ranked == [Part.EAGER]
    assert step_of(run(backend="jax", model={"run_eagerly": True})).ranked == [Part.EAGER]
    assert step_of(run("optimizer loop", backend="torch")).ranked == [Part.STEP]


def test_a_loop_on_pytorch_computes_from_its_forward_pass_to_its_optimizer():
    step = step_of(run("optimizer loop", parts={"call": 0.004, "next": 0.001}, backend="torch"))
    assert step.share(Part.PYTHON) == pytest.approx(0.5)
    assert step.share(Part.STEP) == pytest.approx(0.4)


def test_an_epoch_that_waits_for_steps_that_ran_ahead_takes_no_time_itself():
    made = run(epoch_lengths=[10], backend="jax")
    made.end.durations = durations((0.001, 1, False), (0.100, 1, True))
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=0.110, inner_steps=10, inner_seconds=0.010)
    waited = block(0.010, phase="sampled")
    waited = replace(waited, steps=11, seconds=0.140, inner_steps=10, inner_seconds=0.100)
    made.blocks += [waited, waited]
    step = step_of(made)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.003)
    assert step.parts[Part.UNEXPLAINED] == pytest.approx(0.007)


def test_one_start_of_an_epoch_tells_nothing():
    made = run(epoch_lengths=[10])
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=1.110, inner_steps=10, inner_seconds=0.100)
    assert Part.EPOCHS not in step_of(made).parts


# What a training takes outside of its steps -----------------------------------------------------------------------


def fit(**facts):
    """A ``fit`` of 2 epochs of 50 steps of 10 ms, in whose calls nothing is waited for."""
    asked = {"epochs": 2, "steps_per_epoch": 50} | facts.pop("asked", {})
    return run(
        parts={"call": 0.010} | facts.pop("parts", {}), call_seconds_without_input=0.010, fit_arguments=asked, **facts
    )


def test_the_parts_add_up_to_the_training():
    step = step_of(fit(fit_start={"seconds": 2.01, "total": 9}, epoch_lengths=[50], validation=validated(0.5)))
    assert step.total_steps == 100
    assert step.parts[Part.START] * 100 == pytest.approx(2.0)
    assert step.parts[Part.VALIDATION] * 100 == pytest.approx(1.0)
    assert step.seconds * 100 == pytest.approx(100 * 0.010 + 2.0 + 1.0)
    assert sum(step.parts.values()) == pytest.approx(step.seconds)


def validated(seconds, **more):
    return {"calls": 1, "seconds": seconds, "whole": True} | more


def test_a_start_counts_only_where_the_steps_of_the_training_are_known():
    start = {"seconds": 2.0, "total": 9}
    assert Part.START not in step_of(fit(fit_start=start, asked={"steps_per_epoch": None})).parts
    assert Part.START not in step_of(fit(fit_start=start, fit_in_loop=True)).parts


def test_lines_of_the_start_are_those_that_are_traced():
    main = [
        ["tracing", "/a.py", 30, "<module>", "tensorflow", 40],
        ["tracing", "/a.py", 12, "call", "tensorflow", 50],
        ["tracing", None, None, "f", "keras", 10],
    ]
    step = step_of(fit(fit_start={"seconds": 9.0, "total": 100, "main": main}))
    assert [(line.line, line.share) for line in step.start_lines] == [(12, 0.5)]


def test_between_the_fits_of_a_loop_everything_was_timed():
    step = step_of(fit(fit_in_loop=True, parts={"call": 0.001, "fit": 0.004, "predict": 0.005}))
    assert step.parts[Part.PREDICT] == pytest.approx(0.005)
    assert step.parts[Part.FIT] == pytest.approx(0.003)
    assert step.parts[Part.PYTHON] == pytest.approx(0.001)


def test_compiling_is_no_waiting_and_no_fixed_cost():
    shapes = {"seconds": 0.008, "new": 3, "seen": 4, "shapes": [[8, 7], [8, 9]]}
    made = run(
        parts={"call": 0.010}, call_seconds_without_input=0.002, alone_seconds_per_batch=1e-5, new_shapes=shapes,
        times_as_long=1.0, times_larger=4,
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.COMPILE] == pytest.approx(0.008) and parts[Part.OVERHEAD] == pytest.approx(0.002, rel=0.1)
    jax = step_of(run(backend="jax", compiled={"seconds": 0.4, "count": 2, "functions": {}}, measured_steps=100))
    assert jax.parts[Part.COMPILE] == pytest.approx(0.004)


def test_what_no_measurement_explains_is_unexplained():
    made = run(
        parts={"call": 0.010}, call_seconds_without_input=0.002, alone_seconds_per_batch=1e-5, times_as_long=1.0, times_larger=4
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.UNEXPLAINED] == pytest.approx(0.008, rel=0.01)
    assert parts[Part.OVERHEAD] == pytest.approx(0.002)


def test_what_was_measured_by_itself_is_taken_out_of_the_rest():
    made = fit(
        times_as_long=1.9, times_larger=4, whole_tables=[["embedding", 300_000, 5_000, "Adam", 0.004]],
        lookup_layers=[["text", "TextVectorization", 0.002]],
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.TABLES] == pytest.approx(0.004) and parts[Part.LOOKUP] == pytest.approx(0.002)
    assert parts[Part.COMPUTE] == pytest.approx(0.001) and parts[Part.OVERHEAD] == pytest.approx(0.003)


@pytest.mark.parametrize(("every", "seconds"), [(1, 1.0), (5, 0.2)])
def test_validations_count_by_how_often_the_script_asks_for_them(every, seconds):
    step = step_of(fit(asked={"validation_freq": every}, epoch_lengths=[50], validation=validated(0.5)))
    assert step.parts[Part.VALIDATION] * 100 == pytest.approx(seconds)


def test_steps_of_changing_length_have_a_mean():
    made = run(parts={"call": 0.0})
    made.blocks = []
    made.end.durations = durations((0.010, 1, False), (0.010, 1, False), (0.100, 1, False), (9.0, 1, True))
    step = step_of(made)
    # What of it is waiting was not measured.
    assert step.parts == {Part.UNEXPLAINED: pytest.approx(0.040)} and step.unknown
