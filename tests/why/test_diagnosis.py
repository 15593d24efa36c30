"""From the parts of a step to an answer."""

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
    """A step of 10 ms of a fit in line 30, with the stages of ``FACTS``, whose slowest stands in line 4."""
    given = {"stages": stages(FACTS), "gpus": ("T4",), "batch_size": 8} | more
    given["facts"] = parse_facts(given.get("facts", {}))
    parts = {part: share * 0.010 for part, share in parts.items()}
    return Step("fit", 0.010, parts, ("/a.py", 30), [("/a.py", 1, 30)], **given)


def told(diagnosis, width=80):
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


def test_time_without_a_finding_is_told_honestly():
    line = HotLine(__file__, 3, "load", "cv2", 0.6)
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, stages=(), input_lines=[line]), [], NONE)
    assert answer.advice[0].cause.line == 3
    assert "no rule covers it" in answer.advice[0].text


def test_python_that_hardly_runs_is_not_blamed():
    line = HotLine(__file__, 3, "load", "cv2", 0.05)
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, input_lines=[line]), [], NONE)
    assert answer.advice[0].cause.what == "MapAndBatch"


def without_a_slow_stage():
    nodes = [{**node, "seconds": node["seconds"] / 1000} for node in WIRE_FACTS["runtime_nodes"]]
    return stages(parse_facts({**WIRE_FACTS, "runtime_nodes": nodes}))


def test_a_stage_that_takes_little_of_the_waiting_is_not_blamed():
    answer = diagnose(step({Part.INPUT: 0.6, Part.COMPUTE: 0.4}, stages=without_a_slow_stage()), [], NONE)
    assert "no single stage or line" in answer.advice[0].text


def test_no_finding_is_lost_with_a_part_of_which_nothing_is_said():
    parts = {Part.COMPUTE: 0.75, Part.INPUT: 0.25}
    answer = diagnose(step(parts, stages=without_a_slow_stage()), [finding("KC101", 4)], NONE)
    advised = [each for advice in answer.advice for each in advice.findings]
    assert [each.code for each in (*answer.little, *advised)] == ["KC101"]


def test_a_gpu_that_is_not_seen_comes_first():
    answer = diagnose(
        step({Part.INPUT: 0.7, Part.COMPUTE: 0.3}, gpus=()),
        [finding("KC101", 4)],
        NONE,
        [("A T4 is not seen", "run doctor")],
    )
    assert answer.advice[0].text == "A T4 is not seen: run doctor"
    assert answer.advice[1].findings[0].code == "KC101"


def test_hints_for_gpus_are_not_given_to_a_processor():
    hint = finding("KC301", 30, severity=Severity.INFO)
    assert diagnose(step({Part.COMPUTE: 1.0}), [hint], NONE).advice[0].findings == [hint]
    assert not diagnose(step({Part.COMPUTE: 1.0}, gpus=()), [hint], NONE).advice[0].leads


def test_a_finding_of_another_training_is_not_of_this_one():
    answer = diagnose(step({Part.EAGER: 0.9, Part.INPUT: 0.1}), [finding("KC309", 29), finding("KC309", 50)], NONE)
    assert [f.location.line for f in answer.advice[0].findings] == [29]
    assert [f.location.line for f in answer.elsewhere] == [50]


def test_a_finding_is_recommended_once():
    both = finding("KC412", 30)
    answer = diagnose(step({Part.CALLBACKS: 0.5, Part.EPOCHS: 0.5}), [both], NONE)
    assert [list(advice.findings) for advice in answer.advice] == [[both], []]


@pytest.mark.parametrize("part", Part)
def test_every_part_has_words(part):
    answer = diagnose(step({part: 0.9}, main_lines={part: [HotLine("/a.py", 9, "f", None, 0.5)]}), [], NONE)
    assert len(answer.advice) == 1
    nothing_to_do = (Part.COMPUTE, Part.STEP, Part.UNEXPLAINED, Part.START)
    assert ("The limit" if part in nothing_to_do else "Do first") in told(answer)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    answer = diagnose(
        step({Part.INPUT: 0.7, Part.COMPUTE: 0.3}), [finding("KC101", 4, "/a/very/long/path/" * 8 + "a.py")], NONE
    )
    assert max(map(len, told(answer, width).splitlines())) <= width


def test_what_cannot_be_fixed_is_not_offered_as_a_proof():
    assert provable(diagnose(step({Part.INPUT: 0.7}), [finding("KC107", 4)], NONE)) is None


def test_a_finding_at_other_lines_than_the_time_does_not_lead():
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


def test_the_loop_that_a_finding_stands_in_is_not_its_line():
    hot = [HotLine("/a.py", 12, "<module>", None, 0.6)]
    loop = Related(Location("/a.py", None, 12, 0, 12, 9), "in this loop")
    read = replace(finding("KC402", 20), related=(loop,))
    assert not diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), [read], NONE).advice[0].leads


def test_of_several_findings_the_busiest_leads():
    hot = [HotLine("/a.py", line, "<module>", "keras", share) for line, share in ((13, 0.3), (14, 0.25), (12, 0.01))]
    found = [finding("KC405", line) for line in (12, 13, 14)]
    told = diagnose(step({Part.PYTHON: 0.6}, main_lines={Part.PYTHON: hot}), found, NONE).advice[0]
    assert told.leads and told.findings[0].location.line == 13


def test_parallel_calls_win_no_more_than_the_cores_do(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1}, raising=False)
    answer = diagnose(step({Part.INPUT: 0.9}), [finding("KC101", 4)], NONE)
    assert answer.advice[0].largest_gain == pytest.approx(1 / 0.55)


def test_where_the_model_of_the_pipeline_is_blind_its_datasets_were_timed_one_by_one():
    timed = [("Batch", 3, 0.001), ("Unbatch", 4, 0.002), ("Map", 5, 0.009), ("Batch", 6, 0.010)]
    facts = {
        "by_dataset": [
            {"name": name, "place": ["/a.py", line], "seconds_per_batch": seconds} for name, line, seconds in timed
        ]
    }
    cause = diagnose(step({Part.INPUT: 0.8}, facts=facts), [], NONE).advice[0].cause
    assert (cause.what, cause.line, round(cause.share, 2)) == ("Map", 5, 0.7)


def test_what_was_not_told_apart_does_not_make_findings_small():
    answer = diagnose(step({Part.STEP: 1.0}), [finding("KC407", 30), finding("KC411", 30)], NONE)
    assert answer.little == []
    assert answer.advice[0].findings and not answer.advice[0].leads  # nothing was measured that speaks for either


def test_codes_exist():
    assert set(CONCERNS) <= {spec.code for spec in registry.rule_specs()}


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("part", Part)
def test_no_advice_names_what_only_tensorflow_has(part, backend):
    eager = {"model": {"run_eagerly": True}} if backend == "jax" else {}
    for kind in ("fit", "function loop", "optimizer loop", "gradient loop"):
        said = replace(step({part: 0.9}, backend=backend, stages=(), facts=eager), kind=kind)
        text = diagnose(said, [], NONE).advice[0].text
        assert "tf." not in text and "steps_per_execution" not in text


def test_the_scripts_own_python_leads_and_not_the_rule_about_how_it_is_fed():
    own = HotLine("/a.py", 12, "preprocess", "numpy", 0.6)
    parts = {Part.INPUT: 0.9, Part.COMPUTE: 0.1}
    answer = diagnose(step(parts, stages=(), input_lines=[own]), [finding("KC111", 20)], NONE)
    assert not answer.advice[0].leads and answer.advice[0].cause.line == 12
    library = HotLine("", 0, "apply_transform", "keras", 0.7)
    answer = diagnose(step(parts, stages=(), input_lines=[own, library]), [finding("KC111", 20)], NONE)
    assert answer.advice[0].leads


def test_what_computes_is_said_before_a_smaller_part_that_has_a_finding():
    answer = diagnose(step({Part.COMPUTE: 0.7, Part.INPUT: 0.3}, gpus=()), [finding("KC101", 4)], NONE)
    assert [advice.part for advice in answer.advice] == [Part.COMPUTE, Part.INPUT]
    assert "The limit: computing" in told(answer) and "Then: KC101" in told(answer)


def test_on_a_busy_machine_less_is_said_and_first_of_all_why():
    answer = diagnose(step({Part.COMPUTE: 0.7, Part.INPUT: 0.3}, busy_others=0.6), [finding("KC101", 4)], NONE)
    assert [advice.part for advice in answer.advice] == [Part.COMPUTE]
    lines = told(answer).splitlines()
    assert next(i for i, line in enumerate(lines) if "Warning: other programs used 60%" in line) < lines.index(
        "The limit: computing"
    )
    answer = diagnose(step({Part.INPUT: 0.9}, busy_others=0.6), [finding("KC119", 4)], NONE)
    assert answer.advice[0].leads
    # 90 % of which others took 60 %, or 10 % of which they did.
    assert answer.advice[0].least_bound == pytest.approx(1 + 9 * 0.4)
    assert answer.advice[0].largest_gain == pytest.approx(1 + 9 / 0.4)
    assert "at most 4.6 to 10 or more times faster by this" in told(answer, 200)
    answer = diagnose(step({Part.INPUT: 0.9}, busy_others=0.6, load_changed=True), [finding("KC119", 4)], NONE)
    assert answer.advice[0].largest_gain is None


GENERATOR = ["generator", "rows", "/a.py", 7]


def test_a_step_that_waits_for_a_generator_waits_for_its_first_line():
    made = step({Part.INPUT: 0.9}, stages=(), facts={"feeder": GENERATOR})
    (advice,) = diagnose(made, [], NONE).advice
    assert advice.cause.place == ("/a.py", 7)
    assert "every batch waits for the generator rows, which runs in one thread" in advice.text
    busy = HotLine("/a.py", 9, "rows", None, 0.8)
    (advice,) = diagnose(replace(made, input_lines=[busy]), [], NONE).advice
    assert advice.cause.place == ("/a.py", 9)


def test_stages_that_keras_made_are_not_named():
    facts = {"feeder": ["arrays", None, None, None]}
    (advice,) = diagnose(step({Part.INPUT: 0.9}, facts=facts), [], NONE).advice
    assert (advice.cause.what, advice.cause.place) == ("the arrays given to fit", ("/a.py", 30))
    (advice,) = diagnose(step({Part.EPOCHS: 0.9}, facts={"feeder": GENERATOR}), [], NONE).advice
    assert advice.cause.place == ("/a.py", 7)
    assert "Keras has started its own input pipeline again" in advice.text


@pytest.mark.parametrize("steps, advised", [(100, False), (10_000, True)])
def test_processes_are_advised_where_an_epoch_waits_longer_than_they_take_to_start(steps, advised):
    line = HotLine("/a.py", 9, "__getitem__", None, 0.8)
    facts = {"feeder": ["pydataset", "Rows", "/a.py", 7]}
    made = step({Part.INPUT: 0.9}, stages=(), facts=facts, input_lines=[line], steps_per_epoch=steps)
    (advice,) = diagnose(made, [], NONE).advice
    assert ("use_multiprocessing=True" in advice.text) is advised


def test_what_jax_compiles_is_named_with_its_line_and_the_shapes_that_change():
    shapes = {"train_step": [[["float32", 3], ["int32", 8, 26]], [["float32", 3], ["int32", 8, 140]]]}
    compiled = {"count": 2, "functions": {"train_step": 2}, "places": {"train_step": ["/a.py", 30]}, "shapes": shapes}
    (advice,) = diagnose(step({Part.COMPILE: 0.9}, backend="jax", facts={"compiled": compiled}), [], NONE).advice
    assert (advice.cause.what, advice.cause.place) == ("train_step", ("/a.py", 30))
    assert "for int32 arguments of 2 shapes such as (8, 26), (8, 140): pad" in advice.text


def test_an_epoch_waits_for_the_stage_that_fills_a_shuffle_and_not_for_the_shuffle():
    nodes = [
        {**node, "name": "ShuffleV3"} if node["name"] == "Prefetch" else node for node in WIRE_FACTS["runtime_nodes"]
    ]
    made = stages(parse_facts({**WIRE_FACTS, "runtime_nodes": nodes}))
    answer = diagnose(step({Part.EPOCHS: 0.9}, stages=made), [], NONE)
    assert answer.causes[Part.EPOCHS].what == "MapAndBatch"
    assert "map() and batch() makes all elements with which shuffle() fills its buffer" in answer.advice[0].text
    answer = diagnose(step({Part.EPOCHS: 0.9}, stages=made), [finding("KC113", 4), finding("KC102", 9)], NONE)
    assert [f.code for f in answer.advice[0].findings][0] == "KC113" and answer.advice[0].leads


def test_what_fills_a_buffer_is_timed_where_the_model_counts_it_as_the_shuffles():
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
def test_stages_are_told_by_the_methods_that_make_them(stage, words):
    assert words_of(stage) == words


# What the script asks for -----------------------------------------------------------------------------------------


def asked(**more):
    return {"fit_arguments": {"steps_per_epoch": 4800, "steps_given": True} | more}


def test_steps_that_count_rows_come_first():
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
def test_steps_that_count_batches_are_no_matter(facts):
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
def test_a_gpu_that_the_script_hides_comes_first(value, said):
    hidden = step({Part.COMPUTE: 0.9}, gpus=(), facts={"visible_devices": [value, "/a.py", 3]})
    answer = diagnose(hidden, [], NONE)
    assert said in answer.advice[0].text and answer.advice[0].place == ("/a.py", 3)
    assert "a GPU or a smaller model" not in told(answer)
    # Where one is used, what the script says of it is right.
    assert said not in told(
        diagnose(step({Part.COMPUTE: 0.9}, facts={"visible_devices": [value, "/a.py", 3]}), [], NONE)
    )


# Nothing is said that was not measured ----------------------------------------------------------------------------


def test_a_fixed_cost_is_that_of_a_recurrent_layer_only_where_there_is_one():
    facts = {"times_larger": 4, "times_as_long": 1.05}
    bare = replace(step({Part.OVERHEAD: 0.9}, facts=facts), seconds=0.1, parts={Part.OVERHEAD: 0.09})
    text = diagnose(bare, [], NONE).advice[0].text
    assert "90 ms of a step do not grow with the batch: with 4 times the rows it takes 1.05 times as long" in text
    assert "time steps" not in text and "What takes them was not measured" in text
    layers = replace(bare, facts=parse_facts(facts | {"model": {"recurrent": ["LSTM"]}}))
    assert "LSTM computes the time steps one after another" in diagnose(layers, [], NONE).advice[0].text
    jax = replace(bare, backend="jax", facts=parse_facts(facts | {"model": {"jit_compile": False}}))
    assert "jit_compile=False" in diagnose(jax, [], NONE).advice[0].text


def test_what_is_unexplained_is_no_recommendation():
    answer = diagnose(step({Part.UNEXPLAINED: 0.6, Part.INPUT: 0.3}), [], NONE)
    assert "60% of a step is not explained" in answer.headline
    assert answer.advice[0].part is Part.INPUT
    alone = diagnose(step({Part.UNEXPLAINED: 0.6}), [finding("KC101", 4)], NONE).advice[0]
    assert alone.is_fact and not alone.leads and alone.largest_gain is None


def test_beside_other_programs_nothing_is_said_to_matter_little_for_its_share():
    busy = replace(step({Part.LOOKUP: 0.4, Part.COMPUTE: 0.3}), busy_others=0.8)
    answer = diagnose(busy, [finding("KC212", 4)], NONE)
    assert answer.advice == [] and answer.little == [] and "Too busy to tell: " in told(answer)


def test_the_start_says_how_long_it_is_and_a_loop_only_where_one_was_traced():
    slow = replace(step({Part.START: 0.8}), start_seconds=19.0)
    assert "loops over tensors" not in diagnose(slow, [], NONE).advice[0].text.lower()
    assert "19 s until the first step has ended" in diagnose(slow, [], NONE).advice[0].text
    traced = replace(slow, start_lines=[HotLine("/a.py", 12, "call", "tensorflow", 0.6)])
    first = diagnose(traced, [finding("KC205", 11)], NONE).advice[0]
    assert first.leads and first.cause.line == 12


def test_the_whole_training_is_one_sentence():
    whole = replace(step({Part.COMPUTE: 0.5, Part.START: 0.5}), epochs=2, steps_per_epoch=1000)
    said = "All of it, 2 epochs of 1,000 steps, takes about 20 s: 10 s for 2,000 steps, 10 s for the start."
    assert said in told(diagnose(whole, [], NONE), 120)
