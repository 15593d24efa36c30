"""Operations against the peaks of the hardware, on made-up traces."""

import json
from dataclasses import replace

import pytest
from verify.made_up import FACTS

from kerascheck.finding import Finding, Location, Severity
from kerascheck.knowledge import cards
from kerascheck.runtime.verify.messages import ModelFacts
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import OwnerTime, StepTrace
from kerascheck.runtime.why import kept_peaks, roofline
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.json_report import _layers
from kerascheck.runtime.why.kept_peaks import KeptPeaks
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.report_text import render
from kerascheck.runtime.why.roofline import Roof
from kerascheck.runtime.why.step import Part, Step

CPU = Peaks("some processor, 2 cores", {"float32": 100e9}, 10e9, True)
A100 = "NVIDIA A100-SXM4-40GB"


def row(kind, seconds, flops, size, dtype="float32"):
    return OwnerTime("layer", kind.lower(), kind, 1, seconds, 0.0, ("/a.py", 4), None, flops, size, dtype)


def traced(*rows, **more):
    total = sum(each.seconds for each in rows)
    return StepTrace(**{"rows": rows, "total_seconds": total, "steps": 3, "seconds_per_step": total, **more})


def step(trace, peaks=CPU, gpus=(), **more):
    facts = replace(FACTS, step_trace=trace, peaks=peaks, **more)
    return Step("fit", 0.01, {Part.COMPUTE: 0.009}, ("/a.py", 30), [("/a.py", 1, 30)], gpus=gpus, facts=facts)


@pytest.mark.parametrize(
    ("flops", "size", "roof"),
    [
        (0.8e9, 10e6, Roof.COMPUTE),
        (0.01e9, 80e6, Roof.MEMORY),
        (0.01e9, 10e6, Roof.NEITHER),
        (0.01e9, 300e6, Roof.CACHES),
        (0.5e9, 300e6, Roof.COMPUTE),
        (0.5e9, 60e6, Roof.MEMORY),
    ],
)
def test_the_nearer_roof_limits_an_operation(flops, size, roof):
    place = roofline.place_of(row("Dense", 0.01, flops, size), CPU)
    assert place.roof is roof and place.intensity == flops / size
    assert (place.flops_per_second, place.bytes_per_second) == pytest.approx((flops * 100, size * 100))


def test_no_share_of_computing_is_above_all():
    """A peak that was measured under load is too low."""
    assert roofline.place_of(row("Dense", 0.01, 5e9, 1e6), CPU).compute_share == 1.0


@pytest.mark.parametrize(
    "unknown", [row("LSTM", 0.01, None, 1.0), row("LSTM", 0.01, 1.0, None), row("LSTM", 0.0, 1, 1)]
)
def test_unknown_work_has_no_place(unknown):
    assert roofline.place_of(unknown, CPU) is None


def test_a_type_without_a_peak_is_compared_with_the_memory_only():
    place = roofline.place_of(row("Dense", 0.01, 0.9e9, 60e6, "bfloat16"), CPU)
    assert place.compute_share is None and place.roof is Roof.MEMORY


def test_threads_that_share_an_operation_count_once():
    """Two threads take 10 ms each in a step of 10 ms."""
    trace = traced(row("Dense", 0.02, 0.8e9, 1e6), seconds_per_step=0.01, total_flops=0.8e9, total_bytes=1e6)
    assert roofline.overlap_of(trace) == 2
    assert roofline.place_of_all(trace, CPU).compute_share == pytest.approx(0.8)
    assert _layers(step(trace))["rows"][0]["roof"]["compute_share"] == pytest.approx(0.8)


def test_a_gpu_has_the_published_peaks():
    peaks = roofline.peaks_of(step(None, gpus=(A100,)))
    assert (peaks.flops["tensorfloat32"], peaks.bytes, peaks.measured) == (156e12, 1555e9, False)
    assert "datasheet" in peaks.source
    assert roofline.peaks_of(step(None, gpus=("Some Card",))) is None


def test_products_of_float32_use_tensorfloat32_where_the_card_has_it():
    peaks = roofline.peaks_of(step(None, gpus=(A100,)))
    assert roofline.used_type(row("Dense", 1, 1, 1), peaks) == "tensorfloat32"
    assert roofline.used_type(row("ReLU", 1, 1, 1, ""), peaks) == "float32"
    assert roofline.used_type(row("Dense", 1, 1, 1), CPU) == "float32"


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("NVIDIA H100 80GB HBM3", 3350), ("NVIDIA H100 PCIe", 2000), ("NVIDIA H200", 4800),
        ("NVIDIA A100-SXM4-80GB", 2039), ("NVIDIA A100 80GB PCIe", 1935), ("NVIDIA A10", 600), ("NVIDIA A10G", None),
        ("Tesla T4", 320), ("Tesla V100-SXM2-16GB", 900), ("NVIDIA L40S", 864), ("NVIDIA L4", 300),
        ("NVIDIA GeForce RTX 4090", 1008), ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", None), ("GRID T4-8Q", None), ("NVIDIA GeForce RTX 3090 Ti", None),
    ],
)  # fmt: skip
def test_peaks_by_name(name, gigabytes):
    found = cards.peaks_of(name)
    assert (None if found is None else found.bytes / 1e9) == gigabytes


def test_peaks_belong_to_known_cards_and_follow_the_types():
    for pattern, peaks in cards.PEAKS:
        assert peaks.source.startswith("NVIDIA") and 300e9 <= peaks.bytes <= 5e12, pattern
        rates = [peaks.flops[kind] for kind in ("float32", "tensorfloat32", "bfloat16") if kind in peaks.flops]
        assert rates == sorted(rates), pattern


# Sentences --------------------------------------------------------------------------------------------------------


def test_rows_are_named_by_their_roof():
    trace = traced(
        row("Conv2D", 0.006, 0.5e9, 1e6), row("BatchNormalization", 0.003, 1e6, 25e6, ""), row("Tiny", 1e-4, 1, 1)
    )
    assert list(roofline.sentences(step(trace))) == [
        "Compute-bound: Conv2D 66%, at 83% of the 100 GFLOP/s that the processor does in float32",
        "Memory-bound: BatchNormalization 33%, at 83% of the 10 GB/s that its memory gives",
    ]
    *_, fused = roofline.sentences(step(trace, model=ModelFacts()))
    assert fused.endswith("gives; XLA (jit_compile=True) fuses such operations")
    text = "\n".join(render(diagnose(step(trace), [], Lines({})), 80))
    assert "  Compute-bound: Conv2D 66%" in text and all(len(line) <= 80 for line in text.splitlines())


def test_what_is_near_no_roof_is_called_so():
    trace = traced(row("Dense", 0.01, 1e6, 10e6), total_flops=1e6, total_bytes=10e6)
    (said,) = roofline.sentences(step(trace))
    assert said.startswith(
        "Far from both limits: Dense 100%, at less than 1% of what the processor computes and 10% of"
    )
    (said,) = roofline.sentences(step(traced(row("SGD", 0.01, 1e6, 300e6, ""))))
    assert said == "Served from caches: SGD 100%; it moves 30 GB/s, more than the 10 GB/s of the memory"


def test_load_makes_nothing_far_from_the_limits():
    far, near = traced(row("Dense", 0.01, 1e6, 10e6)), traced(row("Dense", 0.01, 0.8e9, 10e6))
    assert list(roofline.sentences(replace(step(far), busy_others=0.5))) == []
    assert list(roofline.sentences(replace(step(far), load_changed=True))) == []
    assert list(roofline.sentences(replace(step(near), busy_others=0.5)))


def test_a_faster_type_of_the_card_is_named():
    trace = traced(row("Dense", 0.01, 1e12, 1e6))
    *_, said = roofline.sentences(step(trace, gpus=(A100,)))
    assert said == "TensorFloat-32: this card does 156 TFLOP/s so, and 312 TFLOP/s in bfloat16"
    *_, said = roofline.sentences(step(traced(row("Dense", 0.01, 0.1e12, 1e6)), gpus=("Tesla T4",)))
    assert said == "float32 without Tensor Cores: this card does 8.1 TFLOP/s so, and 65 TFLOP/s in float16"


def test_short_kernels_with_an_idle_gpu_are_launch_bound():
    trace = traced(row("Dense", 0.0036, 1e9, 1e6), kernels=600.0, busy_seconds=0.0036, seconds_per_step=0.01)
    (said,) = roofline.sentences(step(trace, gpus=(A100,)))
    assert said.startswith("Launch-bound: 600 kernels of 6 µs a step, and the GPU idles 64% of it; larger batches give")
    (said,) = roofline.sentences(step(trace, gpus=(A100,), model=ModelFacts()))
    assert "larger batches or XLA (jit_compile=True) give it longer kernels" in said
    assert not roofline.is_launch_bound(replace(trace, kernels=6.0))
    assert not roofline.is_launch_bound(replace(trace, busy_seconds=0.009))
    assert not roofline.is_launch_bound(traced(row("Dense", 1, 1, 1)))


def test_peaks_beside_other_programs_are_no_limits():
    trace = traced(row("Dense", 0.01, 0.8e9, 1e6))
    busy = step(trace, replace(CPU, busy_others=0.5))
    assert list(roofline.sentences(busy)) == [] and "50% of this machine" in roofline.remark(busy)
    assert _layers(busy)["rows"][0]["roof"] is None and _layers(busy)["peaks"]["busy_others"] == 0.5
    little = step(trace, replace(CPU, busy_others=0.15))
    assert list(roofline.sentences(little)) and "can be higher" in roofline.remark(little)
    assert roofline.remark(step(trace)) is None


def test_shares_are_of_the_step():
    trace = traced(row("Dense", 0.01, 0.8e9, 1e6))
    half = replace(trace, busy_seconds=trace.seconds_per_step / 2)
    assert "Dense 50%" in next(roofline.sentences(step(half)))
    assert list(roofline.sentences(step(replace(trace, busy_seconds=trace.seconds_per_step / 20)))) == []


def test_what_is_unknown_is_said():
    trace = traced(row("LSTM", 0.01, None, None))
    assert list(roofline.sentences(step(trace))) == [] and "100% of the operations" in roofline.remark(step(trace))
    assert roofline.remark(step(replace(trace, counted=False))) is None
    assert "Some Card" in roofline.remark(step(trace, gpus=("Some Card",)))
    assert "no shape" in roofline.remark(step(trace, failures={"costs": "ValueError: no shape"}))
    assert roofline.remark(step(None)) is None


# Bounds -----------------------------------------------------------------------------------------------------------


def gain(*rows, gpu=A100):
    return roofline.gain_in_half(step(traced(*rows), gpus=(gpu,)), Part.COMPUTE)


def test_16_bit_types_gain_what_the_roof_leaves():
    """Computing takes 90 % of a step."""
    compute, memory = row("Dense", 0.01, 0.8 * 1.56e12, 1e6), row("ReLU", 0.01, 1e6, 0.9 * 15.55e9, "")
    neither = row("Tiny", 0.01, 1e6, 1e6)
    assert gain(compute) == pytest.approx(1 / (0.1 + 0.9 / 2))
    assert gain(memory) == pytest.approx(1 / (0.1 + 0.9 / 2))
    assert gain(neither) == pytest.approx(1.0)
    assert gain(memory, neither) == pytest.approx(1 / (0.1 + 0.9 * (0.5 + 0.25)))
    assert gain(row("Dense", 0.01, 0.8 * 8.1e10, 1e6), gpu="Tesla T4") == pytest.approx(1 / (0.1 + 0.9 / (65 / 8.1)))


def test_no_bound_where_peaks_or_types_are_unknown():
    assert gain(row("Dense", 0.01, 1e9, 1e6), gpu="Some Card") is None
    assert gain(row("Dense", 0.01, 1e9, 1e6), gpu="NVIDIA GeForce GTX 1080 Ti") is None
    assert gain(row("Dense", 0.01, None, None)) == pytest.approx(1 / (0.1 + 0.9 / 2))


@pytest.mark.parametrize(("flops", "leads"), [(0.8 * 1.56e12, True), (1e6, False)])
def test_mixed_precision_is_advised_where_it_can_gain(flops, leads):
    finding = Finding(
        "KC301", "missing-mixed-precision", Severity.INFO, Location("/a.py", None, 4, 0, 4, 9), "Set a policy.", "b"
    )
    trace = traced(row("Dense", 0.01, flops, 1e6))
    (advice,) = diagnose(step(trace, gpus=(A100,)), [finding], Lines({})).advice
    assert advice.leads is leads
    assert advice.largest_gain == (pytest.approx(1 / (0.1 + 0.9 / 2)) if leads else None)


def test_the_limit_of_a_gpu_names_what_can_help():
    def limit(*rows, **more):
        return diagnose(step(traced(*rows, **more), gpus=(A100,)), [], Lines({})).advice[0].text

    assert "mixed precision" in limit(row("Dense", 0.01, 0.8 * 1.56e12, 1e6))
    assert "mixed precision" not in limit(row("Dense", 0.01, 1e6, 1e6))
    idle = limit(row("Dense", 0.0036, 1e9, 1e6), kernels=600.0, busy_seconds=0.0036, seconds_per_step=0.01)
    assert "larger batches" in idle and "mixed precision" not in idle


# Kept peaks -------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASCHECK_CACHE_DIR", str(tmp_path / "cache"))
    return lambda: KeptPeaks(str(tmp_path / "train.py"))


def measured(busy):
    return replace(FACTS, peaks=replace(CPU, hardware="", busy_others=busy), peaks_of="jax 0.10.0")


def test_peaks_are_measured_once(kept):
    first = kept().completed(measured(0.02))
    assert first.peaks.hardware.endswith("cores")
    assert list(kept().known) == ["jax 0.10.0"]
    later = kept().completed(replace(FACTS, peaks_of="jax 0.10.0"))
    assert later.peaks == first.peaks
    assert kept().completed(replace(FACTS, peaks_of="tensorflow 2.21.0")).peaks is None


def test_peaks_under_load_are_not_kept(kept):
    assert kept().completed(measured(0.5)).peaks.busy_others == 0.5
    assert not kept().known


def test_another_processor_has_its_own_peaks(kept, monkeypatch):
    kept().completed(measured(0.0))
    monkeypatch.setattr(kept_peaks, "processor", lambda: "another one")
    assert not kept().known


def test_damaged_peaks_count_as_missing(kept, tmp_path):
    kept().completed(measured(0.0))
    (file,) = (tmp_path / "cache").glob("*.json")
    content = json.dumps({"jax 0.10.0": {"hardware": 3}})
    from kerascheck.source import dependencies

    file.write_text(dependencies.digest(content.encode()) + "\n" + content)
    assert not kept().known
