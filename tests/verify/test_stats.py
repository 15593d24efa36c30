"""Statistics on synthetic step times: no clock is asked."""

import random

import pytest

from kerascheck.verify.stats import disagreement, percentiles, speedup


def noisy(level, count, seed, spread=0.1, bursts=0.1):
    """Step times around ``level`` with a spread, and bursts of three times as long."""
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


def test_equal_variants_hold_one_in_nearly_all_repetitions():
    held = sum(r.low <= 1 <= r.high for r in (speedup(rounds(1, 2 * i), rounds(1, 2 * i + 1)) for i in range(40)))
    assert held >= 35


def test_drift_common_to_both_sides_cancels():
    drift = [1 + 2 * i / 100 for i in range(100)]
    a = [[0.011 * d for d in drift]]
    b = [[0.010 * d for d in drift]]
    ratio = speedup(a, b)
    assert ratio.value == pytest.approx(1.1)
    assert ratio.width < 1e-6


def test_the_result_does_not_depend_on_when_it_is_computed():
    a, b = rounds(1, 5), rounds(1.1, 6)
    assert speedup(a, b) == speedup(a, b)


def test_rounds_that_differ_as_a_whole_widen_the_interval():
    same = speedup([[1.0] * 50] * 3, [[1.0] * 50] * 3)
    apart = speedup([[1.0] * 50] * 3, [[0.8] * 50, [1.0] * 50, [1.25] * 50])
    assert same.width == 0
    assert apart.low < 0.95 and apart.high > 1.05


def test_blocks_without_a_counterpart_are_left_out():
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
