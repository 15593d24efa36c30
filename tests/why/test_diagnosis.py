"""Diagnosis from the parts of a step."""

from dataclasses import replace

import pytest
from verify.made_up import FACTS, WIRE_FACTS

from kerascheck.catalog import registry
from kerascheck.finding import Finding, Location, Related, Severity
from kerascheck.runtime.verify.analysis import stages
from kerascheck.runtime.verify.messages import parse_facts
from kerascheck.runtime.why.concerns import CONCERNS
from kerascheck.runtime.why.diagnosis import diagnose, second_limit
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.report_text import provable, render
from kerascheck.runtime.why.step import HotLine, Part, Step
from kerascheck.runtime.why.wording import words_of

NONE = Lines({})


def finding(code, line, path="/a.py", severity=Severity.WARNING):
    spec = registry.find(code)
    return Finding(code, spec.name, severity, Location(path, None, line, 0, line, 10), f"{code} is wrong")


def step(parts, **more):
    """A ``fit`` step of 10 ms at line 30, with the stages of ``FACTS``; the slowest one is at line 4."""
    given = {"stages": stages(FACTS), "gpus": ("T4",), "batch_size": 8} | more
    given["facts"] = parse_facts(given.get("facts", {}))
    parts = {part: share * 0.010 for part, share in parts.items()}
    return Step("fit", 0.010, parts, ("/a.py", 30), [("/a.py", 1, 30)], **given)


def rendered(diagnosis, width=80):
    return "\n".join(render(diagnosis, width))


def test_the_finding_at_the_slowest_stage_comes_first():
    answer = diagnose(
        step({Part.INPUT: 0.7, Part.COMPUTE: 0.3}),
        [finding("KC119", 4), finding("KC102", 9), finding("KC101", 4)],
        NONE,
    )
    assert [f.code for f in answer.advice[0].findings] == ["KC119", "KC101", "KC102"]
    assert "waits for data 70% of its time" in answer.headline
    assert second_limit(answer) is Part.COMPUTE


def test_findings_about_a_part_that_takes_no_time_matter_little():
    answer = diagnose(step({Part.COMPUTE: 0.96, Part.INPUT: 0.04}), [finding("KC101", 4), finding("KC306", 1)], NONE)
    assert [f.code for f in answer.little] == ["KC101"]
    assert "a data fix wins at most 4%" in answer.headline


def test_time_without_a_finding_is_reported():
    line = HotLine(__file__, 3, "load", "cv2", 0.6)
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, stages=(), input_lines=[line]), [], NONE)
    assert answer.advice[0].cause.line == 3
    assert "no rule covers it" in answer.advice[0].text


def test_python_with_few_samples_is_not_the_cause():
    line = HotLine(__file__, 3, "load", "cv2", 0.05)
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, input_lines=[line]), [], NONE)
    assert answer.advice[0].cause.what == "MapAndBatch"


def without_a_slow_stage():
    nodes = [{**node, "seconds": node["seconds"] / 1000} for node in WIRE_FACTS["runtime_nodes"]]
    return stages(parse_facts({**WIRE_FACTS, "runtime_nodes": nodes}))


def test_a_stage_with_a_small_share_of_the_waiting_is_not_the_cause():
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, stages=without_a_slow_stage()), [], NONE)
    assert "no single stage or line" in answer.advice[0].text


def test_findings_of_parts_without_advice_are_kept():
    parts = {Part.COMPUTE: 0.75, Part.INPUT: 0.25}
    answer = diagnose(step(parts, stages=without_a_slow_stage()), [finding("KC101", 4)], NONE)
    advised = [each for advice in answer.advice for each in advice.findings]
    assert [each.code for each in (*answer.little, *advised)] == ["KC101"]


def test_an_unseen_gpu_comes_first():
    answer = diagnose(
        step({Part.INPUT: 0.7, Part.COMPUTE: 0.3}, gpus=()),
        [finding("KC101", 4)],
        NONE,
        [("A T4 is not seen", "run doctor")],
    )
    assert answer.advice[0].text == "A T4 is not seen: run doctor"
    assert answer.advice[1].findings[0].code == "KC101"


def test_gpu_hints_are_not_given_on_a_cpu():
    hint = finding("KC301", 30, severity=Severity.INFO)
    assert diagnose(step({Part.COMPUTE: 1.0}), [hint], NONE).advice[0].findings == [hint]
    assert not diagnose(step({Part.COMPUTE: 1.0}, gpus=()), [hint], NONE).advice[0].leads


def test_a_finding_of_another_training_is_excluded():
    answer = diagnose(step({Part.EAGER: 0.9, Part.INPUT: 0.1}), [finding("KC309", 29), finding("KC309", 50)], NONE)
    assert [f.location.line for f in answer.advice[0].findings] == [29]
    assert [f.location.line for f in answer.elsewhere] == [50]


def test_a_finding_is_recommended_once():
    both = finding("KC412", 30)
    answer = diagnose(step({Part.CALLBACKS: 0.5, Part.EPOCHS: 0.5}), [both], NONE)
    assert [list(advice.findings) for advice in answer.advice] == [[both], []]


@pytest.mark.parametrize("part", Part)
def test_every_part_has_a_headline_and_advice(part):
    answer = diagnose(step({part: 0.9}, main_lines={part: [HotLine("/a.py", 9, "f", None, 0.5)]}), [], NONE)
    assert len(answer.advice) == 1
    nothing_to_do = (Part.COMPUTE, Part.STEP, Part.UNEXPLAINED, Part.START)
    assert ("The limit" if part in nothing_to_do else "Do first") in rendered(answer)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    answer = diagnose(
        step({Part.INPUT: 0.7, Part.COMPUTE: 0.3}), [finding("KC101", 4, "/a/very/long/path/" * 8 + "a.py")], NONE
    )
    assert max(map(len, rendered(answer, width).splitlines())) <= width


def test_findings_without_a_fix_are_not_offered_as_proof():
    assert provable(diagnose(step({Part.INPUT: 0.7}), [finding("KC107", 4)], NONE)) is None


def test_a_finding_away_from_the_busy_lines_does_not_lead():
    hot = [HotLine("/a.py", 12, "<module>", "numpy", 0.5), HotLine("/a.py", 20, "<module>", None, 0.1)]
    answer = diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), [finding("KC416", 20)], NONE)
    assert not answer.advice[0].leads
    assert answer.advice[0].cause.line == 12
    assert "83% of it at this line" in answer.advice[0].text and "no rule" not in answer.advice[0].text
    assert (
        "no rule covers it"
        in diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), [], NONE).advice[0].text
    )
    answer = diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), [finding("KC416", 12)], NONE)
    assert answer.advice[0].leads


def test_the_loop_around_a_finding_is_not_its_line():
    hot = [HotLine("/a.py", 12, "<module>", None, 0.6)]
    loop = Related(Location("/a.py", None, 12, 0, 12, 9), "in this loop")
    read = replace(finding("KC402", 20), related=(loop,))
    assert not diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), [read], NONE).advice[0].leads


def test_the_busiest_of_several_findings_leads():
    hot = [HotLine("/a.py", line, "<module>", "keras", share) for line, share in ((13, 0.3), (14, 0.25), (12, 0.01))]
    found = [finding("KC405", line) for line in (12, 13, 14)]
    first = diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), found, NONE).advice[0]
    assert first.leads and first.findings[0].location.line == 13


def test_parallel_calls_gain_at_most_the_number_of_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1}, raising=False)
    answer = diagnose(step({Part.INPUT: 0.9}), [finding("KC101", 4)], NONE)
    assert answer.advice[0].largest_gain == pytest.approx(1 / 0.55)


def test_datasets_are_timed_separately_if_the_model_does_not_explain_the_pipeline():
    timed = [("Batch", 3, 0.001), ("Unbatch", 4, 0.002), ("Map", 5, 0.009), ("Batch", 6, 0.010)]
    facts = {
        "by_dataset": [
            {"name": name, "place": ["/a.py", line], "seconds_per_batch": seconds} for name, line, seconds in timed
        ]
    }
    cause = diagnose(step({Part.INPUT: 0.8}, facts=facts), [], NONE).advice[0].cause
    assert (cause.what, cause.line, round(cause.share, 2)) == ("Map", 5, 0.7)


def test_findings_about_parts_that_cannot_be_separated_stay_important():
    answer = diagnose(step({Part.STEP: 1.0}), [finding("KC407", 30), finding("KC411", 30)], NONE)
    assert answer.little == []
    assert answer.advice[0].findings and not answer.advice[0].leads  # no measurement supports either finding


def test_every_rule_about_speed_concerns_a_part():
    specs = registry.rule_specs()
    assert set(CONCERNS) <= {spec.code for spec in specs}
    of_no_part = {"KC418", "KC702"}  # they are about the number of steps, and the choice of a backend
    assert {spec.code for spec in specs if spec.rule.speed} - of_no_part <= set(CONCERNS)


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("part", Part)
def test_advice_for_other_backends_names_nothing_specific_to_tensorflow(part, backend):
    eager = {"model": {"run_eagerly": True}} if backend == "jax" else {}
    for kind in ("fit", "function loop", "optimizer loop", "gradient loop"):
        said = replace(step({part: 0.9}, backend=backend, stages=(), facts=eager), kind=kind)
        text = diagnose(said, [], NONE).advice[0].text
        assert "tf." not in text and "steps_per_execution" not in text


def test_the_scripts_own_python_leads_before_rules_about_feeding_it():
    own = HotLine("/a.py", 12, "preprocess", "numpy", 0.6)
    parts = {Part.INPUT: 0.9, Part.COMPUTE: 0.1}
    answer = diagnose(step(parts, stages=(), input_lines=[own]), [finding("KC111", 20)], NONE)
    assert not answer.advice[0].leads and answer.advice[0].cause.line == 12
    library = HotLine("", 0, "apply_transform", "keras", 0.7)
    answer = diagnose(step(parts, stages=(), input_lines=[own, library]), [finding("KC111", 20)], NONE)
    assert answer.advice[0].leads


def test_dominating_computation_comes_before_a_smaller_part_with_a_finding():
    answer = diagnose(step({Part.COMPUTE: 0.7, Part.INPUT: 0.3}, gpus=()), [finding("KC101", 4)], NONE)
    assert [advice.part for advice in answer.advice] == [Part.COMPUTE, Part.INPUT]
    assert "The limit: computing" in rendered(answer) and "Then: KC101" in rendered(answer)


def test_on_a_busy_machine_the_warning_comes_first_and_there_is_less_advice():
    answer = diagnose(step({Part.COMPUTE: 0.7, Part.INPUT: 0.3}, busy_others=0.6), [finding("KC101", 4)], NONE)
    assert [advice.part for advice in answer.advice] == [Part.COMPUTE]
    lines = rendered(answer).splitlines()
    assert next(i for i, line in enumerate(lines) if "Warning: other programs used 60%" in line) < lines.index(
        "The limit: computing"
    )
    answer = diagnose(step({Part.INPUT: 0.9}, busy_others=0.6), [finding("KC119", 4)], NONE)
    assert answer.advice[0].leads
    # Other programs slow down either the part (90 % of the step) or the rest (10 %) by 60 %.
    assert answer.advice[0].least_bound == pytest.approx(1 + 9 * 0.4)
    assert answer.advice[0].largest_gain == pytest.approx(1 + 9 / 0.4)
    assert "at most 4.6 to 10 or more times faster by this" in rendered(answer, 200)
    answer = diagnose(step({Part.INPUT: 0.9}, busy_others=0.6, load_changed=True), [finding("KC119", 4)], NONE)
    assert answer.advice[0].largest_gain is None


GENERATOR = ["generator", "rows", "/a.py", 7]


def test_waiting_for_a_generator_is_located_at_its_first_line():
    made = step({Part.INPUT: 0.9}, stages=(), facts={"feeder": GENERATOR})
    (advice,) = diagnose(made, [], NONE).advice
    assert advice.cause.place == ("/a.py", 7)
    assert "every batch waits for the generator rows, which runs in one thread" in advice.text
    busy = HotLine("/a.py", 9, "rows", None, 0.8)
    (advice,) = diagnose(replace(made, input_lines=[busy]), [], NONE).advice
    assert advice.cause.place == ("/a.py", 9)


def test_stages_created_by_keras_are_not_named():
    facts = {"feeder": ["arrays", None, None, None]}
    (advice,) = diagnose(step({Part.INPUT: 0.9}, facts=facts), [], NONE).advice
    assert (advice.cause.what, advice.cause.place) == ("the arrays given to fit", ("/a.py", 30))
    (advice,) = diagnose(step({Part.EPOCHS: 0.9}, facts={"feeder": GENERATOR}), [], NONE).advice
    assert advice.cause.place == ("/a.py", 7)
    assert "Keras has started its own input pipeline again" in advice.text


@pytest.mark.parametrize("steps, advised", [(100, False), (10_000, True)])
def test_processes_are_advised_if_epochs_wait_longer_than_their_start(steps, advised):
    line = HotLine("/a.py", 9, "__getitem__", None, 0.8)
    facts = {"feeder": ["pydataset", "Rows", "/a.py", 7]}
    made = step({Part.INPUT: 0.9}, stages=(), facts=facts, input_lines=[line], steps_per_epoch=steps)
    (advice,) = diagnose(made, [], NONE).advice
    assert ("use_multiprocessing=True" in advice.text) is advised


def test_jax_compilations_are_reported_with_line_and_changed_shapes():
    shapes = {"train_step": [[["float32", 3], ["int32", 8, 26]], [["float32", 3], ["int32", 8, 140]]]}
    compiled = {"count": 2, "functions": {"train_step": 2}, "places": {"train_step": ["/a.py", 30]}, "shapes": shapes}
    (advice,) = diagnose(step({Part.COMPILE: 0.9}, backend="jax", facts={"compiled": compiled}), [], NONE).advice
    assert (advice.cause.what, advice.cause.place) == ("train_step", ("/a.py", 30))
    assert "for int32 arguments of 2 shapes such as (8, 26), (8, 140): pad" in advice.text


def test_the_start_of_an_epoch_is_attributed_to_the_stage_that_fills_the_shuffle():
    nodes = [
        {**node, "name": "ShuffleV3"} if node["name"] == "Prefetch" else node for node in WIRE_FACTS["runtime_nodes"]
    ]
    made = stages(parse_facts({**WIRE_FACTS, "runtime_nodes": nodes}))
    answer = diagnose(step({Part.EPOCHS: 0.9}, stages=made), [], NONE)
    assert answer.causes[Part.EPOCHS].what == "MapAndBatch"
    assert "map() and batch() makes all elements with which shuffle() fills its buffer" in answer.advice[0].text
    answer = diagnose(step({Part.EPOCHS: 0.9}, stages=made), [finding("KC113", 4), finding("KC102", 9)], NONE)
    assert [f.code for f in answer.advice[0].findings][0] == "KC113" and answer.advice[0].leads


def test_the_stage_that_fills_a_buffer_is_timed_separately_from_the_shuffle():
    nodes = [
        {**node, "name": "Shuffle"} if node["name"] == "MapAndBatch" else node for node in WIRE_FACTS["runtime_nodes"]
    ]
    made = stages(parse_facts({**WIRE_FACTS, "runtime_nodes": nodes}))
    cut = [
        {"name": "TensorSlice", "place": ["/a.py", 3], "seconds_per_batch": 0.001},
        {"name": "Map", "place": ["/a.py", 7], "seconds_per_batch": 0.020},
        {"name": "Shuffle", "place": ["/a.py", 8], "seconds_per_batch": 0.021},
    ]
    told_so = diagnose(step({Part.EPOCHS: 0.9}, stages=made, facts={"by_dataset": cut}), [], NONE)
    assert told_so.causes[Part.EPOCHS].what == "Map" and told_so.causes[Part.EPOCHS].line == 7
    assert "map() makes all elements with which shuffle() fills its buffer" in told_so.advice[0].text
    alone = diagnose(step({Part.EPOCHS: 0.9}, stages=made), [], NONE)
    assert alone.causes[Part.EPOCHS].what == "Shuffle" and "fills its buffer before" in alone.advice[0].text


@pytest.mark.parametrize(
    ("stage", "words"),
    [("MapAndBatch", "map() and batch()"), ("ParallelInterleaveV4", "interleave()"), ("Generator", "from_generator()"),
     ("FromGenerator", "from_generator()"), ("FlatMap", "flat_map()")],
)  # fmt: skip
def test_stages_are_named_by_their_dataset_methods(stage, words):
    assert words_of(stage) == words


# Settings of the script -------------------------------------------------------------------------------------------


def asked(**more):
    return {"fit_arguments": {"steps_per_epoch": 4800, "steps_given": True} | more}


def test_steps_per_epoch_that_count_rows_come_first():
    held = step({Part.COMPUTE: 0.9}, facts=asked(held_rows={"x": 4800, "y": 4800}))
    first = diagnose(held, [], NONE).advice[0]
    assert "steps_per_epoch is 4,800, the number of rows of 'x'" in first.text and first.largest_gain == 8
    repeated = step({Part.COMPUTE: 0.9}, facts=asked(batches_of_a_pass=150))
    first = diagnose(repeated, [], NONE).advice[0]
    assert "4,800 batches of data that has 150" in first.text and first.largest_gain == 32


@pytest.mark.parametrize(
    "facts",
    [
        {},
        asked(),
        asked(held_rows={"x": 9600}),
        asked(batches_of_a_pass=4800),
        {"fit_arguments": {"steps_per_epoch": 9}},
    ],
)
def test_steps_per_epoch_that_count_batches_are_fine(facts):
    assert diagnose(step({Part.COMPUTE: 0.9}, facts=facts), [], NONE).advice[0].part is Part.COMPUTE


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1", "the GPU with the number 1"),
        ("2,3", "the GPUs with the number 2,3"),
        ("-1", "hides every GPU"),
        ("", "hides every GPU"),
    ],
)
def test_a_gpu_hidden_by_the_script_comes_first(value, said):
    hidden = step({Part.COMPUTE: 0.9}, gpus=(), facts={"visible_devices": [value, "/a.py", 3]})
    answer = diagnose(hidden, [], NONE)
    assert said in answer.advice[0].text and answer.advice[0].place == ("/a.py", 3)
    assert "a GPU or a smaller model" not in rendered(answer)
    # If a GPU is used, the setting of the script is fine.
    assert said not in rendered(
        diagnose(step({Part.COMPUTE: 0.9}, facts={"visible_devices": [value, "/a.py", 3]}), [], NONE)
    )


# Limits of the measurement ----------------------------------------------------------------------------------------


def test_a_fixed_cost_is_attributed_to_a_recurrent_layer_only_if_there_is_one():
    facts = {"times_larger": 4, "times_as_long": 1.05}
    bare = replace(step({Part.OVERHEAD: 0.9}, facts=facts), seconds=0.1, parts={Part.OVERHEAD: 0.09})
    text = diagnose(bare, [], NONE).advice[0].text
    assert "90 ms of a step do not grow with the batch: with 4 times the rows it takes 1.05 times as long" in text
    assert "time steps" not in text and "What takes them was not measured" in text
    layers = replace(bare, facts=parse_facts(facts | {"model": {"recurrent": ["LSTM"]}}))
    assert "LSTM computes the time steps one after another" in diagnose(layers, [], NONE).advice[0].text
    jax = replace(bare, backend="jax", facts=parse_facts(facts | {"model": {"jit_compile": False}}))
    assert "jit_compile=False" in diagnose(jax, [], NONE).advice[0].text


def test_unexplained_time_gives_no_recommendation():
    answer = diagnose(step({Part.UNEXPLAINED: 0.6, Part.INPUT: 0.3}), [], NONE)
    assert "60% of a step is not explained" in answer.headline
    assert answer.advice[0].part is Part.INPUT
    alone = diagnose(step({Part.UNEXPLAINED: 0.6}), [finding("KC101", 4)], NONE).advice[0]
    assert alone.is_fact and not alone.leads and alone.largest_gain is None


def test_under_load_no_part_is_called_small():
    busy = replace(step({Part.LOOKUP: 0.4, Part.COMPUTE: 0.3}), busy_others=0.8)
    answer = diagnose(busy, [finding("KC212", 4)], NONE)
    assert answer.advice == [] and answer.little == [] and "Too busy to tell: " in rendered(answer)


def test_advice_about_the_start_gives_its_duration_and_mentions_only_traced_loops():
    slow = replace(step({Part.START: 0.8}), start_seconds=19.0)
    assert "loops over tensors" not in diagnose(slow, [], NONE).advice[0].text.lower()
    assert "19 s until the first step has ended" in diagnose(slow, [], NONE).advice[0].text
    traced = replace(slow, start_lines=[HotLine("/a.py", 12, "call", "tensorflow", 0.6)])
    first = diagnose(traced, [finding("KC205", 11)], NONE).advice[0]
    assert first.leads and first.cause.line == 12


def test_the_whole_training_is_one_sentence():
    whole = replace(step({Part.COMPUTE: 0.5, Part.START: 0.5}), epochs=2, steps_per_epoch=1000)
    said = "All of it, 2 epochs of 1,000 steps, takes about 20 s: 10 s for 2,000 steps, 10 s for the start."
    assert said in rendered(diagnose(whole, [], NONE), 120)
