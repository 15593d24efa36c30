"""Statistics on synthetic step times, without a clock."""

import random

import pytest

from kerascheck.finding import is_no_effect
from kerascheck.runtime.verify.stats import (
    FIRST_LOOK,
    Ratio,
    disagreement,
    is_settled,
    looks_in,
    percentiles,
    speedup,
    t_quantile,
)


def noisy(level, count, seed, spread=0.1, bursts=0.1):
    """Step times around ``level``, with random spread and bursts of three times the length."""
    generator = random.Random(seed)
    return [
        level * generator.lognormvariate(0, spread) * (3 if generator.random() < bursts else 1) for _ in range(count)
    ]


def rounds(level, seed, count=3, blocks=80):
    return [noisy(level, blocks, (seed, number).__hash__()) for number in range(count)]


def test_twice_as_fast_is_found_within_its_interval():
    ratio = speedup(rounds(0.02, 1), rounds(0.01, 2))
    assert ratio.low < 2 < ratio.high
    assert ratio.width < 0.05


def test_an_uninformative_interval_is_not_printed():
    assert str(Ratio(1.2, 1.1, 1.314)) == "x1.20 [1.10-1.31]"
    assert str(Ratio(1.05, 1e-9, 2e8)) == "x1.05 [no interval: the rounds differ too much]"


def test_intervals_of_equal_variants_nearly_always_contain_one():
    held = sum(r.low <= 1 <= r.high for r in (speedup(rounds(1, 2 * i), rounds(1, 2 * i + 1)) for i in range(40)))
    assert held >= 35


def test_drift_common_to_both_sides_cancels():
    drift = [1 + 2 * i / 100 for i in range(100)]
    ratio = speedup([[0.011 * d for d in drift]] * 2, [[0.010 * d for d in drift]] * 2)
    assert ratio.value == pytest.approx(1.1)
    assert ratio.width == pytest.approx(speedup([[0.011] * 100] * 2, [[0.010] * 100] * 2).width)


def test_the_result_is_deterministic():
    a, b = rounds(1, 5), rounds(1.1, 6)
    assert speedup(a, b) == speedup(a, b)


def test_rounds_that_differ_as_a_whole_widen_the_interval():
    same = speedup([[1.0] * 50] * 3, [[1.0] * 50] * 3)
    apart = speedup([[1.0] * 50] * 3, [[0.8] * 50, [1.0] * 50, [1.25] * 50])
    assert same.width < 0.03
    assert apart.low < 0.8 and apart.high > 1.25


def test_one_round_gives_a_wide_interval():
    alone = speedup([[2.0] * 50], [[1.0] * 50])
    assert alone.low < 1 < alone.high and alone.value == pytest.approx(2)
    assert speedup([[2.0] * 50] * 2, [[1.0] * 50] * 2).low > 1.8


def test_more_looks_widen_the_interval():
    widths = [speedup(rounds(1, 1), rounds(1, 2), looks=looks).width for looks in (1, 2, 5, 20)]
    assert widths == sorted(widths) and widths[0] < widths[-1]
    assert [looks_in(count) for count in (1, 2, 3, 6, 11, 12, 21, 99)] == [1, 1, 2, 5, 10, 15, 20, 20]


@pytest.mark.parametrize(
    "probability, freedom, value",
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 10, 2.228),
        (0.995, 4, 4.604),
        (0.9995, 3, 12.924),
        (0.975, 100, 1.984),
    ],
)
def test_quantiles_of_t_are_those_of_the_tables(probability, freedom, value):
    assert t_quantile(probability, freedom) == pytest.approx(value, abs=2e-3)


def until_decided(seed, processes, blocks, ratio=1.0, most=6):
    """The intervals of all looks until one decides, on synthetic processes.

    Their speeds vary by ``processes``, and their blocks by ``blocks``.
    """
    generator = random.Random(seed)
    a, b, looks = [], [], []
    while len(a) < most and not (
        looks and (looks[-1].low > 1.03 or looks[-1].high < 1 / 1.03 or is_no_effect(looks[-1].low, looks[-1].high))
    ):
        for side, level in ((a, ratio), (b, 1.0)):
            process = level * generator.lognormvariate(0, processes / 2**0.5)
            side.append(
                [
                    process * generator.lognormvariate(0, blocks) * (3 if generator.random() < 0.1 else 1)
                    for _ in range(30)
                ]
            )
        if len(a) >= FIRST_LOOK:
            looks.append(speedup(a, b, looks=looks_in(most)))
    return looks


@pytest.mark.parametrize("processes, blocks", [(0.01, 0.03), (0.03, 0.05), (0.02, 0.15)])
def test_looking_after_every_round_keeps_the_error_rate(processes, blocks):
    all_looks = [until_decided(seed, processes, blocks) for seed in range(60)]
    missed = sum(any(not look.low <= 1 <= look.high for look in looks) for looks in all_looks)
    assert missed <= 6  # 5 % of 60, plus chance
    assert not any(looks[-1].low > 1.03 or looks[-1].high < 1 / 1.03 for looks in all_looks)


def test_a_large_effect_is_detected_at_the_first_look():
    decided = [until_decided(seed, 0.02, 0.05, 1.9) for seed in range(20)]
    assert all(looks[-1].low > 1.5 for looks in decided) and sum(len(looks) == 1 for looks in decided) >= 18


def test_a_round_is_settled_once_its_noise_is_small():
    quiet, loud = noisy(1, 40, 1, spread=0.01, bursts=0), noisy(1, 40, 2, spread=0.3)
    assert is_settled(quiet, quiet[::-1]) and not is_settled(quiet[:6], quiet[:6])
    assert not is_settled(quiet, loud)
    assert is_settled([30 * x for x in quiet], loud)  # the noise is small beside the effect


def test_correlated_blocks_increase_the_noise():
    generator = random.Random(3)
    walk, value = [], 0.0
    for _ in range(80):
        value = 0.9 * value + generator.gauss(0, 0.02)
        walk.append(1 + value)
    shuffled = generator.sample(walk, len(walk))
    assert speedup([walk] * 3, [[1.0] * 80] * 3).width > speedup([shuffled] * 3, [[1.0] * 80] * 3).width


def test_blocks_without_a_counterpart_are_ignored():
    assert speedup([[1, 1, 100]], [[1, 1]]).value == 1


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError):
        speedup([[]], [[]])
    with pytest.raises(ValueError):
        speedup([[1.0]], [])


def test_disagreement_of_losses():
    assert disagreement([1.0, 2.0], [1.0, 2.0, 9.0]) == 0
    assert disagreement([1.0, 2.0], [1.0, 1.0]) == pytest.approx(0.5)
    nan = float("nan")
    assert disagreement([nan], [nan]) == 0
    assert disagreement([nan], [1.0]) == float("inf")


def test_percentiles():
    assert percentiles([3, 1, 2, 4], [0, 0.5, 1]) == [1, 3, 4]
