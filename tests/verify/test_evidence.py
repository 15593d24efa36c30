"""The evidence table of the rules."""

from types import SimpleNamespace

from verify.made_up import ended

from kerascheck.catalog import measured
from kerascheck.runtime.verify import evidence
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status, Verdict


def comparison(*verdicts, gpus=None):
    return Comparison("slow.py", ended(versions={"tensorflow": "2.21.0"}, gpus=gpus or []), verdicts=list(verdicts))


def test_every_changed_place_is_a_variant_of_the_whole_fast_text(tmp_path):
    (tmp_path / "slow.py").write_text("a\nb\nc\nd\n")
    (tmp_path / "fast.py").write_text("a\nB\nc\nd\ne\n")
    spec = SimpleNamespace(folder=tmp_path, rule=SimpleNamespace(code="KC101", loss_tolerance=1e-6))
    variants = evidence.example_variants(spec)
    assert [v.places[0][1:] for v in variants] == [(2, 2), (5, 5)]
    assert {text for v in variants for text in v.sources.values()} == {"a\nB\nc\nd\ne\n"}
    assert not any(variant.predicts for variant in variants)
    spec.rule.code = "KC405"
    assert all(variant.predicts for variant in evidence.example_variants(spec))


def test_a_row_prefers_the_training_with_a_confirmed_effect():
    none = Verdict("line 3", Status.NO_EFFECT, "", Ratio(1, 0.9, 1.1))
    large = Verdict("line 9", Status.CONFIRMED, "", Ratio(1.9, 1.8, 2.0))
    row = evidence.row("KC101", "serial-map", comparison(none, large))
    assert (row["cpu"]["status"], row["cpu"]["ratio"]) == ("confirmed", 1.9)
    assert "gpu" not in row


def test_columns_of_cpu_and_gpu_are_kept_apart():
    large = Verdict("line 9", Status.CONFIRMED, "", Ratio(1.9, 1.8, 2.0))
    cpu = evidence.row("KC101", "serial-map", comparison(large))
    gpu = evidence.row("KC101", "serial-map", comparison(large, gpus=["Made Up 9000"]))
    assert "(Made Up 9000, tensorflow" in measured.for_rule("KC101", [gpu])[1]
    assert set(evidence.merge([cpu], [gpu])[0]) == {"code", "name", "cpu", "gpu"}
    first, second = measured.for_rule("KC101", [cpu])
    assert (
        first.startswith("CPU: confirmed x1.90 [1.80-2.00] per step (")
        and "tensorflow 2.21.0, 20" in first
        and " cores " in first
    )
    assert second == "GPU: unmeasured"
    assert measured.for_rule("KC999", [cpu]) is None


def test_inconclusive_results_replace_only_those_that_say_less():
    known = evidence.row(
        "KC101", "serial-map", comparison(Verdict("line 9", Status.CONFIRMED, "", Ratio(1.9, 1.8, 2.0)))
    )
    unknown = evidence.row(
        "KC101", "serial-map", comparison(Verdict("line 9", Status.INCONCLUSIVE, "", Ratio(1.2, 0.6, 2.8)))
    )
    assert evidence.merge([known], [unknown]) == [known]
    failed = {"code": "KC101", "name": "serial-map", "cpu": unknown["cpu"] | {"status": "not run", "ratio": None}}
    assert evidence.merge([failed], [unknown]) == [unknown] == evidence.merge([unknown], [failed])
    older = known | {"cpu": known["cpu"] | {"method": evidence.METHOD - 1}}
    assert evidence.merge([older], [unknown]) == [unknown]
    assert evidence.merge([], [unknown]) == [unknown] and evidence.merge([unknown], [known]) == [known]


def test_a_rule_that_does_not_run_gives_a_reason():
    failed = comparison()
    failed.failure = "the script ended without a training step"
    assert "without a training step" in evidence.row("KC1", "n", failed)["cpu"]["reason"]
