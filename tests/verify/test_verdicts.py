"""Verdicts on made-up runs."""

import statistics
from dataclasses import replace
from types import SimpleNamespace

import pytest
from verify.made_up import FACTS, WIRE_FACTS, at, block, ended

from kerascheck.runtime.verify.analysis import analyse, can_matter, ceiling_of, stages, where
from kerascheck.runtime.verify.budget import Budget, TrainingSelector
from kerascheck.runtime.verify.compare import _analysis, compare
from kerascheck.runtime.verify.judging import judge
from kerascheck.runtime.verify.measuring import CEILING, ORIGINAL, measure_group, settled
from kerascheck.runtime.verify.messages import TrainingReport, TrainingStart
from kerascheck.runtime.verify.paired_runs import PairedRuns, quiet_pairs
from kerascheck.runtime.verify.planning import shortened, step_seconds, timed_plan
from kerascheck.runtime.verify.process import Ceiling, Plan, Script
from kerascheck.runtime.verify.result_change import result_change
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import unusable_reason
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.targets import assign_trainings, training_calls
from kerascheck.runtime.verify.variants import Variant, concerns
from kerascheck.runtime.verify.verdict import Status, effort_needed, judge_ratio


@pytest.mark.parametrize(
    "ratio, status",
    [
        (Ratio(1.9, 1.7, 2.1), Status.CONFIRMED),
        (Ratio(1.0, 0.97, 1.03), Status.NO_EFFECT),
        (Ratio(1.03, 1.01, 1.04), Status.NO_EFFECT),  # real, but too small to matter
        (Ratio(1.0, 0.96, 1.04), Status.NO_EFFECT),
        (Ratio(1.2, 0.9, 1.5), Status.INCONCLUSIVE),
        (Ratio(1.18, 0.57, 2.85), Status.INCONCLUSIVE),
        (Ratio(1.0, 0.94, 1.02), Status.INCONCLUSIVE),
        (Ratio(1.04, 1.0, 1.08), Status.INCONCLUSIVE),
        (Ratio(0.5, 0.4, 0.6), Status.SLOWER),
    ],
)
def test_ratio_to_verdict(ratio, status):
    assert judge_ratio(ratio)[0] is status


@pytest.mark.parametrize(
    "ratio, limit, status",
    [
        (Ratio(1.02, 0.97, 1.08), 0.1, Status.NO_EFFECT),
        (Ratio(1.08, 1.04, 1.09), 0.1, Status.NO_EFFECT),  # faster, but by less than the limit
        (Ratio(1.0, 0.96, 1.04), 0.02, Status.INCONCLUSIVE),
        (Ratio(1.04, 1.035, 1.045), 0.02, Status.CONFIRMED),
    ],
)
def test_the_no_effect_limit_can_be_set(ratio, limit, status):
    assert judge_ratio(ratio, limit)[0] is status


def test_an_inconclusive_verdict_says_how_much_longer_it_needs():
    budget = Budget(seconds=60)
    # An interval half as wide takes four times as long.
    assert (
        effort_needed(Ratio(1.0, 1 / 1.05**2, 1.05**2), 3, budget, 0.0)
        == "too little to tell: it needs about 4 times as long (--budget 240)"
    )
    quick = replace(budget, rounds=2)
    assert "(without --quick, --budget 240)" in effort_needed(Ratio(1.0, 1 / 1.05**2, 1.05**2), 2, quick, 0.0)
    busy = effort_needed(Ratio(1.18, 0.57, 2.85), 6, budget, 0.59)
    assert "a quieter machine (other programs used 59% of it)" in busy
    assert (
        effort_needed(Ratio(1.0, 0.5, 2.0), 3, budget, None)
        == "its steps vary too much on this machine to tell, however long they are measured"
    )


def test_equal_losses_change_nothing():
    runs = [ended(losses=[1.0, 0.9])]
    assert result_change(runs, [ended(losses=[1.0 + 1e-7, 0.9])], 1e-6) is None


def test_differing_losses_are_reported_by_step():
    change = result_change([ended(losses=[1.0, 0.9])], [ended(losses=[1.0, 0.5])], 1e-6)
    assert "step 2" in change and "0.5" in change and "0.9" in change


def test_losses_are_compared_after_the_same_number_of_steps():
    original = ended(losses=[9.0 - step for step in range(1, 9)])
    together = ended(losses=[5.0, 1.0])
    together.end.loss_steps = (4, 8)
    assert result_change([original], [together], 1e-6) is None
    together.end.losses = (5.0, 0.5)
    assert "step 8 is 0.5 instead of 1" in result_change([original], [together], 1e-6)
    together.end.loss_steps = (40, 80)
    assert result_change([original], [together], 1e-6) is None


def test_a_nondeterministic_script_is_allowed_its_own_spread():
    original = [ended(losses=[1.0]), ended(losses=[1.1])]
    assert result_change(original, [ended(losses=[1.2])], 1e-6) is None
    assert result_change(original, [ended(losses=[9.0])], 1e-6) is not None


def test_differing_data_is_reported():
    a = ended(losses=[1.0], element_spec=[[[None, 4], "float32"]])
    assert result_change([a], [ended(losses=[1.0], element_spec=[[[32, 4], "float32"]])], 1e-6) is None
    assert "float64" in result_change([a], [ended(losses=[1.0], element_spec=[[[None, 4], "float64"]])], 1e-6)
    a, b = ended(epoch_lengths=[10, 10]), ended(epoch_lengths=[5, 5])
    assert "5 steps instead of 10" in result_change([a], [b], 1e-6)


@pytest.mark.parametrize(
    "original, repaired, words",
    [
        (([32, 32, 8], True), ([32, 32, 8], True), None),
        (([32, 32], False), ([32, 32, 8], True), None),  # one of them was too slow to count all samples
        (([32, 32, 8], True), ([32, 32], True), "the data has 64 samples instead of 72"),
        (([32, 32, 8], True), ([32, 16, 24], True), "batch 2 has 16 samples instead of 32"),
    ],
)
def test_samples_are_counted(original, repaired, words):
    a, b = (ended(losses=[1.0], rows=rows, all_rows=whole) for rows, whole in (original, repaired))
    assert result_change([a], [b], 1e-6) == words


def test_varying_batches_are_allowed_if_the_original_varies():
    a, b = (ended(losses=[1.0], rows=rows, all_rows=True) for rows in ([3, 4], [4, 3]))
    assert result_change([a, b], [b], 1e-6) is None
    assert result_change([a, a], [b], 1e-6) is not None


@pytest.mark.parametrize(
    "facts, kind, order",
    [
        ({"element_spec": [], "first_iterator": 2}, "function loop", Ceiling(2, False)),
        ({"element_spec": [], "first_iterator": 0}, "fit", Ceiling(0, False)),
        ({}, "graph loop", Ceiling(None, True)),
        ({"backend": "jax"}, "fit", Ceiling(None, False)),
        ({"backend": "jax"}, "function loop", "no tf.data iterator feeds this training"),
        ({"element_spec": [], "first_iterator": 0}, "prediction loop", "predictions have none"),
        ({}, "fit", "no tf.data iterator feeds this training"),
    ],
)
def test_the_input_of_a_ceiling_or_the_reason_for_none(facts, kind, order):
    scout = ended(**facts)
    scout.end.kind = kind
    assert ceiling_of(scout) == order


@pytest.mark.parametrize(
    "end, words",
    [
        ({"reason": "end", "steps": 2, "kind": "prediction loop"}, "trains for no step, and predicts only 2 times"),
        ({"reason": "exit", "steps": 0, "detail": "3"}, "sys.exit"),
        ({"reason": "fault", "detail": "KeyError: 'x'"}, "fault of kerascheck: KeyError"),
        ({"reason": "end", "steps": 0}, "without a training step"),
        ({"reason": "end", "steps": 1}, "after 1 step:"),
        ({"reason": "exception", "steps": 5, "detail": "ValueError: no", "line": 7}, "ValueError: no at line 7"),
        ({"reason": "exception", "detail": "EOFError", "stdin": True, "line": 2}, "standard input at line 2"),
    ],
)
def test_reasons_why_a_run_is_unusable(end, words):
    assert words in unusable_reason(Run(end=TrainingReport(**end)))


def test_a_run_that_trained_is_usable():
    assert unusable_reason(ended()) is None


def test_a_run_without_a_closing_message():
    assert unusable_reason(Run(failure="the process was ended by SIGKILL")) == "the process was ended by SIGKILL"


def test_short_trainings_are_stopped_at_their_last_step():
    run = ended(reason="end", steps=40)
    run.blocks = [block(0.001)]
    plan = timed_plan(run, 0, Budget())
    assert plan.warmup_steps + plan.blocks * plan.block_steps <= 40
    assert plan.blocks >= 8


def test_a_variant_that_ends_during_the_warm_up_gets_a_shorter_plan():
    plan = Plan(warmup_steps=5, warmup_seconds=1.0, block_steps=83, blocks=19)
    long, short = ended(steps=1943), ended(reason="end", steps=200)
    long.blocks = [block(0.01)] * 19
    shorter = shortened(plan, [long, short])
    assert shorter.warmup_steps + shorter.blocks * shorter.block_steps <= 200
    assert (shorter.blocks >= 8, shorter.warmup_seconds) == (True, 0.0)
    short.blocks = [block(0.01)] * 8
    assert shortened(plan, [long, short]) == plan
    assert shortened(plan, [Run(failure="it crashed")]) == plan


@pytest.mark.parametrize(
    ("rounds", "blocks", "status"), [(2, 4, Status.CONFIRMED), (1, 20, Status.NOT_RUN), (3, 2, Status.NOT_RUN)]
)
def test_few_blocks_give_no_verdict_whatever_their_ratio(rounds, blocks, status):
    gathered = PairedRuns(Variant("v", {}), [ended() for _ in range(rounds)], [ended() for _ in range(rounds)])
    for slow, fast in zip(gathered.original_runs, gathered.runs):
        slow.blocks, fast.blocks = [block(0.04)] * blocks, [block(0.01)] * blocks
    gathered.ratio = Ratio(4.0, 3.5, 4.5)
    verdict = judge(gathered)
    assert verdict.status is status
    assert status is Status.CONFIRMED or ("blocks of steps" in verdict.reason and verdict.ratio is None)


@pytest.mark.parametrize(
    ("losses", "tolerance", "status", "same"),
    [
        ([1.0, 0.9], 1e-6, Status.CONFIRMED, True),
        ([1.0, 0.5], 1e-6, Status.CHANGES_RESULTS, False),
        ([1.0, 0.5], None, Status.CONFIRMED, False),  # its fix declares it, but the results still differ
        ([1.0, 0.9], None, Status.CONFIRMED, True),
        ([], None, Status.CONFIRMED, None),
    ],
)
def test_a_verdict_knows_whether_the_results_are_the_same(losses, tolerance, status, same):
    slow, fast = ended(losses=[1.0, 0.9]), ended(losses=losses)
    slow.blocks, fast.blocks = [block(0.04)] * 8, [block(0.01)] * 8
    verdict = judge(PairedRuns(Variant("v", {}, tolerance), [slow] * 2, [fast] * 2, ratio=Ratio(4.0, 3.5, 4.5)))
    assert (verdict.status, verdict.same_results) == (status, same)


@pytest.mark.parametrize(
    ("written", "repaired", "status"),
    [
        ([9.0, 9.4], [4.0, 4.4], Status.CONFIRMED),
        ([4.0, 4.4], [9.0, 9.4], Status.NO_EFFECT),  # reported, but the step times decide
        ([9.0, 4.2], [4.0, 4.4], Status.NO_EFFECT),  # one start of each side is no evidence
        ([9.0], [4.0], Status.NO_EFFECT),
        ([9.0, 9.4], [8.5, 8.6], Status.NO_EFFECT),
        ([9.0, 9.4], [7.0, 7.2], Status.NO_EFFECT),  # chance often separates two pairs of starts
        ([9.0, 9.4, 9.1], [7.0, 7.2, 7.1], Status.CONFIRMED),
    ],
)
def test_retracing_in_the_warm_up_shows_in_the_start(written, repaired, status):
    def run(seconds):
        run = ended()
        run.end.start_seconds, run.blocks = seconds, [block(0.01)] * 10
        return run

    gathered = PairedRuns(
        Variant("v", {}), [*map(run, written), ended()], [*map(run, repaired), ended()], ratio=Ratio(1.0, 0.98, 1.02)
    )
    wide = judge(replace(gathered, ratio=Ratio(1.0, 0.7, 1.4)))
    assert wide.status is Status.INCONCLUSIVE  # later steps may be slower
    verdict = judge(gathered)
    assert verdict.status is status
    if status is Status.CONFIRMED:
        before, after = statistics.median(written), statistics.median(repaired)
        assert verdict.start_seconds == (before, after)
        assert f"{after:.1f} s of processor time instead of {before:.1f} s" in verdict.reason
    elif written == [4.0, 4.4]:
        assert verdict.start_seconds == (4.2, 9.2)
    else:
        assert verdict.start_seconds is None


@pytest.mark.parametrize(
    "late",
    [
        Run(failure="it took too long"),
        Run(failure="the process was ended by SIGKILL (out of memory?)"),
        Run(end=TrainingReport("exception", "ValueError: no", steps=900, line=7)),
    ],
    ids=lambda run: run.failure or "exception",
)
@pytest.mark.parametrize("in_round", [0, 1])
def test_a_script_that_fails_while_it_is_measured_is_not_run(late, in_round, monkeypatch):
    rounds = iter(range(9))

    def measure(scripts, plan, **limits):
        runs = {name: ended() for name in scripts}
        if next(rounds) == in_round:
            runs["v"] = replace(late)
        for name, run in runs.items():
            run.blocks = [block(0.01 if name == "v" else 0.012)] * 9
        return runs

    monkeypatch.setattr("kerascheck.runtime.verify.measuring.measure_in_turn", measure)
    script = Script("/train.py", {})
    ((verdict,), _) = measure_group(script, [Variant("v", {})], Plan(in_turn=True), Budget(), lambda *_: None)
    assert (verdict.status, verdict.reason) == (Status.NOT_RUN, unusable_reason(late))


def timed(monkeypatch, times):
    """Fake rounds in which steps take ``times`` (seconds by name and round); returns the scripts of each round."""
    asked = []

    def measure(scripts, plan, **limits):
        runs = {name: ended(one_cached_batch=True) for name in scripts}
        for name, run in runs.items():
            run.blocks = [block(times(name, len(asked)))] * 12
        asked.append((set(scripts), plan.rows))
        return runs

    monkeypatch.setattr("kerascheck.runtime.verify.measuring.measure_in_turn", measure)
    return asked


def measured(variants=("v",), budget=Budget(seconds=1000), ceiling=None):
    script = Script("/train.py", {})
    return measure_group(
        script, [Variant(name, {}) for name in variants], Plan(in_turn=True), budget, lambda *_: None, ceiling
    )


def test_the_ceiling_is_measured_beside_the_first_round_only(monkeypatch):
    asked = timed(monkeypatch, lambda name, number: 0.005 if name == CEILING else 0.01)
    ((verdict,), beside) = measured(ceiling=Script("/train.py", {}))
    assert asked[0] == ({ORIGINAL, "v", CEILING}, True) and CEILING in beside
    assert all(CEILING not in names for names, _ in asked[1:]) and len(asked) > 1
    assert _analysis(ended(), Ceiling(0, False), beside).largest_input_gain == pytest.approx(2)
    asked.clear()
    assert measured((), ceiling=Script("/train.py", {}))[0] == [] and [names for names, _ in asked] == [
        {ORIGINAL, CEILING}
    ]


def test_each_variant_runs_rounds_until_its_own_decision(monkeypatch):
    # One is twice as fast in every round; the other varies between rounds and is inconclusive.
    asked = timed(
        monkeypatch, lambda name, number: {"fast": 0.005, "odd": 0.01 * (0.8, 1.25)[number % 2]}.get(name, 0.01)
    )
    ((fast, odd), _) = measured(("fast", "odd"))
    assert (fast.status, fast.rounds) == (Status.CONFIRMED, 2)
    assert (odd.status, odd.rounds) == (Status.INCONCLUSIVE, Budget(seconds=1000).most_rounds)
    assert [names for names, _ in asked[:3]] == [{ORIGINAL, "fast", "odd"}] * 2 + [{ORIGINAL, "odd"}]
    # Two rounds show whether a script repeats its batches; later rounds need not count them.
    assert [rows for _, rows in asked[:3]] == [True, True, False]


def test_equal_times_are_no_effect_after_few_rounds(monkeypatch):
    asked = timed(monkeypatch, lambda name, number: 0.01)
    ((verdict,), _) = measured()
    assert verdict.status is Status.NO_EFFECT and 2 < len(asked) <= 4
    assert measured(budget=Budget(rounds=2))[0][0].rounds == 2


@pytest.mark.parametrize("seconds, rounds", [(30, 6), (60, 6), (120, 12), (6000, 21)])
def test_more_time_allows_more_rounds(seconds, rounds):
    assert Budget(seconds=seconds).most_rounds == rounds
    assert Budget(seconds=seconds, rounds=2).most_rounds == 2


def test_the_original_continues_while_a_variant_needs_it():
    def run(*seconds):
        run = Run()
        run.blocks = [block(each) for each in seconds]
        return run

    steady, few, wild = run(*[0.01] * 20), run(*[0.01] * 4), run(*[0.01, 0.05] * 10)
    assert settled({ORIGINAL: steady, "v": steady}) == {ORIGINAL, "v"}
    assert settled({ORIGINAL: steady, "v": steady, "w": few}) == {"v"}
    assert settled({ORIGINAL: steady, "v": wild, CEILING: wild}) == {CEILING}
    assert settled({ORIGINAL: steady, "v": Run(failure="it took too long")}) == {ORIGINAL, "v"}
    assert settled({ORIGINAL: Run(), "v": steady}) == set()


def test_the_warm_up_includes_a_short_first_epoch():
    run = ended(epoch_lengths=[30, 30])
    run.blocks = [block(0.01)]
    assert timed_plan(run, 0, Budget()).warmup_steps > 30


def test_the_number_of_steps_can_be_limited():
    run = ended()
    run.blocks = [block(0.01)]
    for steps in (12, 60, 1000):
        plan = timed_plan(run, 0, Budget(steps=steps))
        assert 3 * plan.blocks * plan.block_steps <= steps
        # A verdict needs this many blocks, however few the steps are.
        assert 2 * plan.blocks >= 8


def test_a_variant_concerns_the_training_whose_lines_it_touches():
    variant = Variant("v", {}, places=(("/a.py", 10, 12),))
    assert concerns(variant, [("/a.py", 12, 12)])
    assert not concerns(variant, [("/a.py", 13, 20), ("/b.py", 10, 12)])
    assert not concerns(variant, [])
    assert concerns(Variant("says nothing of its lines", {}), [])


TWO_FITS = """\
one = make()
one.compile("sgd")
one.fit(x)
two = make()
two.compile("sgd", run_eagerly=True)
two.fit(x)
one.predict(x)
"""


def started(line, number):
    return TrainingStart("fit", number, number, at("/a.py", line))


@pytest.fixture
def two_fits(monkeypatch):
    """Fake processes of a script with two trainings; returns the plan of each."""
    asked = []

    def run_alone(script, plan, **limits):
        asked.append(plan.training)
        if plan.training in ends:
            return ends[plan.training]
        return Run(end=TrainingReport("end"), trainings=[started(3, 0), started(6, 1)])

    def fit(line):
        run = ended()
        run.end.stack, run.end.order, run.end.seconds = at("/a.py", line), 0, 9.0
        return run

    ends = {0: fit(3), 1: fit(6)}
    monkeypatch.setattr("kerascheck.runtime.verify.scouting.run_alone", run_alone)
    return SimpleNamespace(asked=asked, ends=ends)


def targets_of(*lines):
    variants = [Variant(str(line), {}, places=(("/a.py", line, line),)) for line in lines]
    scouts = [first_fit()]
    script = Script("/a.py", {"/a.py": TWO_FITS})
    return assign_trainings(script, variants, scouts, Budget(), lambda *_: None), scouts


def first_fit():
    run = ended()
    run.end.stack, run.end.order = at("/a.py", 3), 0
    return run


def test_a_finding_is_measured_in_the_training_that_uses_its_line(two_fits):
    targets, scouts = targets_of(2, 5)
    assert targets == {"2": 0, "5": 1}
    assert two_fits.asked[1:] == [1] and scouts[1] is two_fits.ends[1]


def test_no_further_training_is_scouted_if_the_first_uses_all_lines(two_fits):
    assert targets_of(1, 2, 3)[0] == {"1": 0, "2": 0, "3": 0}
    assert not two_fits.asked


def test_a_finding_whose_line_no_training_uses_is_not_measured(two_fits):
    assert targets_of(2, 7)[0] == {"2": 0, "7": "no training of this script uses its lines"}


def test_a_finding_whose_training_was_not_reached_is_reported(two_fits):
    two_fits.ends[1] = Run(failure="it took too long")
    assert "its training was not measured: the script made no progress" in targets_of(5)[0]["5"]
    two_fits.ends[10**6] = Run(failure="it took too long", trainings=[started(3, 0)])
    assert "no training that was reached uses its lines" in targets_of(5)[0]["5"]


def test_combined_fixes_are_measured_in_the_training_of_most_of_them(two_fits):
    variants = [Variant(str(line), {}, places=(("/a.py", line, line),)) for line in (2, 4, 5)]
    everything = Variant("all", {}, places=tuple(place for v in variants for place in v.places))
    script = Script("/a.py", {"/a.py": TWO_FITS})
    assert assign_trainings(script, [*variants, everything], [first_fit()], Budget(), lambda *_: None) == {
        "2": 0,
        "4": 1,
        "5": 1,
        "all": 1,
    }
    two = [variants[0], variants[1], replace(everything, places=variants[0].places + variants[1].places)]
    assert (
        "more than one of the fixes" in assign_trainings(script, two, [first_fit()], Budget(), lambda *_: None)["all"]
    )


def test_a_finding_without_a_fix_gets_an_analysis_but_no_verdict(two_fits):
    variants = [Variant("look", {}, places=(("/a.py", 5, 5),), measured=False)]
    result = compare(Script("/a.py", {"/a.py": TWO_FITS}), variants, Budget(), ceilings=False)
    assert result.scouts == [two_fits.ends[0], two_fits.ends[1]] and not result.verdicts


@pytest.mark.parametrize(
    "text, count",
    [
        (TWO_FITS, 2),
        ("def train(m): m.fit(x)\ntrain(a)\ntrain(b)", 2),
        ("def train(m): m.fit(x)\ntrain(a)", 1),
        ("def step(): optimizer.apply_gradients(g)\nfor x in y: step()", 1),
        ("x = 1", 0),
        ("def f(:", 0),
    ],
)
def test_trainings_are_counted_by_their_calls(text, count):
    assert training_calls([text]) == count


@pytest.mark.parametrize(
    "chosen, asked",
    [
        (TrainingSelector(number=2), [1]),
        (TrainingSelector(line=6), [10**6, 1]),
        (TrainingSelector(line=3, path="a.py"), [10**6, 0]),
    ],
)
def test_a_training_can_be_selected(two_fits, chosen, asked):
    variants = [Variant(str(line), {"/a.py": str(line)}, places=(("/a.py", line, line),)) for line in (1, 4)]
    result = compare(Script("/a.py", {"/a.py": TWO_FITS}), variants, Budget(training=chosen), ceilings=False)
    assert two_fits.asked[: len(asked)] == asked
    (other,) = (v for v in result.verdicts if "does not use its lines" in v.reason)
    assert other.name == ("1" if asked[-1] else "4")


def test_a_missing_training_cannot_be_selected(two_fits):
    script = Script("/a.py", {"/a.py": TWO_FITS})
    assert (
        "no training was reached at line 7: there are some at line 3, 6"
        in compare(script, [], Budget(training=TrainingSelector(line=7))).failure
    )
    assert "training 3 was not reached" in compare(script, [], Budget(training=TrainingSelector(number=3))).failure


def test_prediction_loops_that_are_too_short_are_skipped(monkeypatch):
    def predictions(steps, line):
        run = ended(reason="end", steps=steps)
        run.end.kind, run.end.stack = "prediction loop", at("/a.py", line)
        return run

    found = {0: predictions(2, 10), 1: predictions(16, 20), 2: ended(reason="end", steps=0)}
    asked = []

    def run_alone(script, plan, **limits):
        asked.append((plan.kind, plan.training))
        return found[plan.training]

    monkeypatch.setattr("kerascheck.runtime.verify.scouting.run_alone", run_alone)
    variants = [
        Variant(name, {}, places=(("/a.py", line, line),), predicts=True) for name, line in (("few", 10), ("many", 20))
    ]
    scouts = [ended()]
    targets = assign_trainings(Script("/a.py", {"/a.py": "x = 1\n" * 20}), variants, scouts, Budget(), lambda *_: None)
    assert targets == {
        "few": "its predictions are made inside a training, too few, or not in the time allowed",
        "many": 1,
    }
    assert asked == [("prediction loop", 0), ("prediction loop", 1), ("prediction loop", 2)]
    assert scouts[1] is found[1]


def test_stages_are_named_by_source_line():
    found = stages(FACTS)
    assert [(s.name, s.place) for s in found] == [
        ("Prefetch", None),
        ("MapAndBatch", ("/a.py", 4)),
        ("TensorSlice", ("/a.py", 3)),
    ]
    assert found[1].seconds_per_batch == pytest.approx(0.1)
    assert sum(s.share for s in found) == pytest.approx(1)


def test_the_ceiling_bounds_the_gain_of_input_fixes():
    scout = ended(**WIRE_FACTS)
    bound = analyse(0.01, scout, 2.0)
    assert bound.input_bound == pytest.approx(0.5)
    assert bound.ceiling_seconds == pytest.approx(0.005)
    assert max(bound.stages, key=lambda stage: stage.share).name == "MapAndBatch"
    assert can_matter("KC101", bound) is None
    busy = analyse(0.005, scout, 0.99)
    assert busy.input_bound == 0
    assert "does not wait for data" in can_matter("KC101", busy)
    assert can_matter("KC401", busy) is None


def test_input_is_called_irrelevant_only_if_measured_precisely():
    scout = ended(**WIRE_FACTS)
    assert can_matter("KC101", analyse(0.005, scout, 1.01, gain_error=0.01))
    assert can_matter("KC101", analyse(0.005, scout, 1.01, gain_error=0.2)) is None


def test_a_stage_without_a_line_is_attributed_to_tensorflow_if_others_have_lines():
    known = analyse(0.01, ended(**WIRE_FACTS), None)
    assert [where(stage, known) for stage in known.stages] == ["added by TensorFlow", "/a.py:4", "/a.py:3"]
    unknown = analyse(0.01, ended(runtime_nodes=WIRE_FACTS["runtime_nodes"]), None)
    assert {where(stage, unknown) for stage in unknown.stages} == {"place unknown"}


def test_losses_at_different_steps_are_not_called_invisible():
    def run(steps):
        run = ended(losses=[1.0] * len(steps))
        run.end.loss_steps, run.blocks = tuple(steps), [block(0.01)] * 10
        return run

    gathered = PairedRuns(Variant("v", {}), [run([1, 2])] * 2, [run([40, 80])] * 2, ratio=Ratio(1.0, 0.98, 1.02))
    assert judge(gathered).remark == "the results could not be compared: no step showed a loss in both"


def test_an_unmeasured_ceiling_gives_a_reason():
    unknown = analyse(0.01, ended(**WIRE_FACTS), None, "it took too long")
    assert unknown.input_bound is None and unknown.missing == ["ceiling with one cached batch: it took too long"]
    assert can_matter("KC101", unknown) is None


def test_disturbed_blocks_are_dropped_if_enough_remain():
    quiet, loud = block(0.01, other_load=0.05), block(0.01, other_load=0.6)
    pairs = [(quiet, quiet)] * 20 + [(quiet, loud)] * 20
    assert quiet_pairs(pairs) == pairs[:20]
    pairs = [(quiet, quiet)] * 5 + [(loud, loud)] * 20
    assert quiet_pairs(pairs) == pairs
    unknown = [(block(0.01), block(0.01))] * 20
    assert quiet_pairs(unknown) == unknown


def test_with_an_asynchronous_device_a_step_is_a_share_of_its_block():
    ahead = [block(0.1, ticks=(*[0.001] * 9, 0.991)) for _ in range(10)]
    for facts, seconds in (({"gpus": ["Made Up 9000"]}, 0.1), ({}, 0.001)):
        runs = [ended(**facts), ended(**facts)]
        for run in runs:
            run.blocks = ahead
        gathered = PairedRuns(Variant("v", {}), runs, runs, None, Ratio(1, 0.99, 1.01))
        assert judge(gathered).step_seconds == (seconds, seconds)
        assert step_seconds(runs[0]) == seconds
