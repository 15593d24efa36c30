"""Parts of a step from the messages of a run."""

from dataclasses import replace

import pytest
from verify.made_up import WIRE_FACTS, at, block, durations, ended

from kerascheck.runtime.why.breakdown import step_of
from kerascheck.runtime.why.step import Part


def run(kind="fit", blocks=(), parts=None, **facts):
    """A run whose steps took 10 ms, with the given facts."""
    made = ended(
        parts={"call": 0.0, "callbacks": 0.0, "next": 0.0} | (parts or {}), **{"backend": "tensorflow"} | facts
    )
    made.end.kind = kind
    made.end.stack = at("/a.py", 30)
    made.blocks = [block(0.010), *blocks]
    return made


def test_waiting_in_fit_is_the_excess_over_a_call_without_input():
    step = step_of(run(parts={"call": 0.009, "callbacks": 0.001}, call_seconds_without_input=0.003))
    assert step.share(Part.INPUT) == pytest.approx(0.6)
    assert step.share(Part.CALLBACKS) == pytest.approx(0.1)
    assert step.share(Part.STEP) == pytest.approx(0.3)
    assert step.largest_gain(Part.INPUT) == pytest.approx(2.5)


def test_load_is_reported_for_a_training_that_ends_before_its_first_block():
    short = run(parts={"call": 0.009}, call_seconds_without_input=0.003, other_load=0.7)
    assert step_of(short).busy_others is None
    short.blocks.clear()
    assert step_of(short).busy_others == 0.7


def test_waiting_is_limited_by_the_time_of_the_pipeline_per_batch():
    counted = {"call": 0.009, "callbacks": 0.001}
    step = step_of(run(parts=counted, call_seconds_without_input=0.003, alone_seconds_per_batch=0.001))
    assert step.parts[Part.INPUT] == pytest.approx(0.003)


def test_two_batch_sizes_determine_the_fixed_cost_of_a_step():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.010, times_as_long=1.3, times_larger=4))
    assert step.parts[Part.COMPUTE] == pytest.approx(0.001)
    assert step.parts[Part.OVERHEAD] == pytest.approx(0.009)


def test_python_sampled_with_one_repeated_batch_is_inside_the_step():
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


def test_the_gain_of_a_larger_batch_includes_the_input():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.005, times_as_long=1.0, times_larger=4))
    assert step.largest_gain(Part.OVERHEAD) > 100


def test_a_step_that_grows_with_its_batch_has_no_fixed_cost():
    step = step_of(run(parts={"call": 0.010}, call_seconds_without_input=0.010, times_as_long=4.0, times_larger=4))
    assert step.share(Part.COMPUTE) == pytest.approx(1)
    assert Part.OVERHEAD not in step.parts


def test_waiting_in_a_loop_is_limited_by_the_calls_for_its_next_batch():
    replayed = block(0.002, phase="replayed")
    assert step_of(run("optimizer loop", [replayed], {"next": 0.001})).parts[Part.INPUT] == pytest.approx(0.001)
    assert step_of(run("optimizer loop", [replayed], {"next": 0.009})).parts[Part.INPUT] == pytest.approx(0.008)


def test_the_rest_of_an_eager_loop_is_operations_run_one_by_one():
    step = step_of(run("optimizer loop", parts={"next": 0.001}))
    assert step.share(Part.EAGER) == pytest.approx(0.9)
    assert step.largest_gain(Part.EAGER) is None


def test_time_between_calls_of_a_compiled_step_is_the_scripts_python():
    step = step_of(run("function loop", parts={"call": 0.004, "next": 0.001}))
    assert step.share(Part.PYTHON) == pytest.approx(0.5)
    assert step.share(Part.STEP) == pytest.approx(0.4)


def test_a_run_on_one_cached_batch_shows_the_input_of_a_graph_loop():
    assert step_of(run("graph loop"), without_input=0.004).share(Part.INPUT) == pytest.approx(0.6)


def test_the_start_of_an_epoch_is_spread_over_its_steps():
    made = run(epoch_lengths=[10])
    made.end.durations = durations((0.010, 1, False), (0.110, 1, True), (0.110, 1, True))
    step = step_of(made)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.010)
    assert step.seconds == pytest.approx(0.020)


def test_callbacks_between_epochs_are_not_part_of_the_epoch_start():
    made = run(epoch_lengths=[10], callbacks_between_epochs=[0.060, 0.080, 0.500])
    made.end.durations = durations((0.010, 1, False), (0.110, 1, True), (0.110, 1, True))
    step = step_of(made)
    assert step.parts[Part.BETWEEN_EPOCHS] == pytest.approx(0.008)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.002)
    assert step.seconds == pytest.approx(0.020)


@pytest.mark.parametrize(("calls", "share"), [(4, 0.5), (2, 1 / 3)])
def test_validation_is_multiplied_by_its_number_of_runs(calls, share):
    validation = {"calls": calls, "seconds": 0.1, "whole": True}
    step = step_of(run(epoch_lengths=[10, 10, 10, 10], validation=validation))
    assert step.share(Part.VALIDATION) == pytest.approx(share)


def test_an_unmeasured_validation_is_reported_as_unknown():
    step = step_of(run(epoch_lengths=[10], validation={"calls": 1, "seconds": None, "whole": False}))
    assert Part.VALIDATION not in step.parts
    assert "how long a validation takes" in step.unknown


def test_tracing_is_the_excess_of_calls_that_trace():
    step = step_of(run("function loop", parts={"call": 0.009, "tracing": 0.004}, new_traces=9))
    assert step.share(Part.TRACING) == pytest.approx(0.4)
    assert step.largest_gain(Part.TRACING) == pytest.approx(1 / 0.6)


def test_the_gain_of_an_input_fix_includes_the_starts_of_epochs():
    made = run(parts={"call": 0.010}, call_seconds_without_input=0.005, epoch_lengths=[10])
    made.end.durations = durations((0.110, 1, True), (0.110, 1, True))
    assert step_of(made).largest_gain(Part.INPUT) == pytest.approx(0.020 / 0.005)


def test_no_bound_is_known_if_every_step_traces():
    step = step_of(run("function loop", parts={"call": 0.009, "tracing": 0.009}, new_traces=9, traces_always=True))
    assert step.largest_gain(Part.TRACING) is None


def test_the_switch_to_run_functions_eagerly_is_detected():
    assert step_of(run(functions_run_eagerly=True)).ranked == [Part.EAGER]


def test_waiting_in_tensorflow_does_not_count_as_python():
    samples = {
        "total": 100,
        "main": [["input", "/a.py", 30, "<module>", "tensorflow", 50], ["input", "/a.py", 12, "__getitem__", None, 40]],
        "others": [["/a.py", 7, "generate", "cv2", 30]],
    }
    lines = step_of(run(samples=samples, **WIRE_FACTS)).input_lines
    assert [(line.line, line.share) for line in lines] == [(12, 0.4), (7, 0.3)]


def test_later_epoch_starts_take_precedence_over_one_that_recompiled():
    made = run(epoch_lengths=[10])
    made.end.durations = durations((0.010, 1, False), (0.410, 1, True))
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=0.140, inner_steps=10, inner_seconds=0.100)
    assert step_of(made).parts[Part.EPOCHS] == pytest.approx(0.003)


def test_eager_steps_are_normal_only_on_pytorch():
    assert step_of(run("gradient loop", backend="jax")).ranked == [Part.EAGER]
    assert step_of(run(backend="jax", model={"run_eagerly": True})).ranked == [Part.EAGER]
    assert step_of(run("optimizer loop", backend="torch")).ranked == [Part.STEP]


def test_a_pytorch_loop_computes_from_forward_pass_to_optimizer():
    step = step_of(run("optimizer loop", parts={"call": 0.004, "next": 0.001}, backend="torch"))
    assert step.share(Part.PYTHON) == pytest.approx(0.5)
    assert step.share(Part.STEP) == pytest.approx(0.4)


def test_waiting_for_asynchronous_steps_is_not_an_epoch_cost():
    made = run(epoch_lengths=[10], backend="jax")
    made.end.durations = durations((0.001, 1, False), (0.100, 1, True))
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=0.110, inner_steps=10, inner_seconds=0.010)
    waited = block(0.010, phase="sampled")
    waited = replace(waited, steps=11, seconds=0.140, inner_steps=10, inner_seconds=0.100)
    made.blocks += [waited, waited]
    step = step_of(made)
    assert step.parts[Part.EPOCHS] == pytest.approx(0.003)
    assert step.parts[Part.UNEXPLAINED] == pytest.approx(0.007)


def test_a_single_epoch_start_is_ignored():
    made = run(epoch_lengths=[10])
    made.blocks[0] = replace(made.blocks[0], steps=11, seconds=1.110, inner_steps=10, inner_seconds=0.100)
    assert Part.EPOCHS not in step_of(made).parts


# Time outside of the steps ----------------------------------------------------------------------------------------


def fit(**facts):
    """A ``fit`` of 2 epochs of 50 steps of 10 ms, without waiting."""
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


def test_the_start_counts_only_if_the_number_of_steps_is_known():
    start = {"seconds": 2.0, "total": 9}
    assert Part.START not in step_of(fit(fit_start=start, asked={"steps_per_epoch": None})).parts
    assert Part.START not in step_of(fit(fit_start=start, fit_in_loop=True)).parts


def test_lines_of_the_start_are_the_traced_ones():
    main = [
        ["tracing", "/a.py", 30, "<module>", "tensorflow", 40],
        ["tracing", "/a.py", 12, "call", "tensorflow", 50],
        ["tracing", None, None, "f", "keras", 10],
    ]
    step = step_of(fit(fit_start={"seconds": 9.0, "total": 100, "main": main}))
    assert [(line.line, line.share) for line in step.start_lines] == [(12, 0.5)]


def test_all_parts_between_fits_in_a_loop_are_timed():
    step = step_of(fit(fit_in_loop=True, parts={"call": 0.001, "fit": 0.004, "predict": 0.005}))
    assert step.parts[Part.PREDICT] == pytest.approx(0.005)
    assert step.parts[Part.FIT] == pytest.approx(0.003)
    assert step.parts[Part.PYTHON] == pytest.approx(0.001)


def test_compiling_is_neither_waiting_nor_fixed_cost():
    shapes = {"seconds": 0.008, "new": 3, "seen": 4, "shapes": [[8, 7], [8, 9]]}
    made = run(
        parts={"call": 0.010}, call_seconds_without_input=0.002, alone_seconds_per_batch=1e-5, new_shapes=shapes,
        times_as_long=1.0, times_larger=4,
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.COMPILE] == pytest.approx(0.008) and parts[Part.OVERHEAD] == pytest.approx(0.002, rel=0.1)
    jax = step_of(run(backend="jax", compiled={"seconds": 0.4, "count": 2, "functions": {}}, measured_steps=100))
    assert jax.parts[Part.COMPILE] == pytest.approx(0.004)


def test_the_unmeasured_rest_is_unexplained():
    made = run(
        parts={"call": 0.010}, call_seconds_without_input=0.002, alone_seconds_per_batch=1e-5, times_as_long=1.0, times_larger=4
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.UNEXPLAINED] == pytest.approx(0.008, rel=0.01)
    assert parts[Part.OVERHEAD] == pytest.approx(0.002)


def test_separately_measured_costs_are_subtracted_from_the_rest():
    made = fit(
        times_as_long=1.9, times_larger=4, whole_tables=[["embedding", 300_000, 5_000, "Adam", 0.004]],
        lookup_layers=[["text", "TextVectorization", 0.002]],
    )  # fmt: skip
    parts = step_of(made).parts
    assert parts[Part.TABLES] == pytest.approx(0.004) and parts[Part.LOOKUP] == pytest.approx(0.002)
    assert parts[Part.COMPUTE] == pytest.approx(0.001) and parts[Part.OVERHEAD] == pytest.approx(0.003)


@pytest.mark.parametrize(("every", "seconds"), [(1, 1.0), (5, 0.2)])
def test_validations_follow_the_validation_frequency(every, seconds):
    step = step_of(fit(asked={"validation_freq": every}, epoch_lengths=[50], validation=validated(0.5)))
    assert step.parts[Part.VALIDATION] * 100 == pytest.approx(seconds)


def test_steps_of_changing_length_have_a_mean():
    made = run(parts={"call": 0.0})
    made.blocks = []
    made.end.durations = durations((0.010, 1, False), (0.010, 1, False), (0.100, 1, False), (9.0, 1, True))
    step = step_of(made)
    # The share of waiting was not measured.
    assert step.parts == {Part.UNEXPLAINED: pytest.approx(0.040)} and step.unknown
