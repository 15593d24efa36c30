"""Ratio of block times, its interval, and whether two variants differ. Pure Python, deterministic.

Times are grouped into *rounds*: one fresh process of each variant, whose blocks run in turn. Block ``i`` of one variant
is measured next to block ``i`` of the other. Disturbance by other programs affects both neighbours, or is an outlier
that the mean of the middle half ignores. Differences between processes (memory layout, thread placement) show between
rounds. A round is therefore the unit of replication: its value is one number, and intervals follow from the variance
between rounds.

Rounds are added until the interval decides. If the interval is checked after every round, a plain 95 % interval misses
too often. Each look therefore uses the nominal level of Pocock's group-sequential test (S. J. Pocock, Biometrika 64,
1977, table 1). The intervals of all looks together contain the true ratio in 95 % of all measurements (repeated
confidence intervals, C. Jennison and B. W. Turnbull, J. R. Statist. Soc. B 51, 1989). Within a round, blocks are added
until its own standard error is small (:func:`is_settled`). A fixed width ends a round, not a favourable value (Y. S.
Chow and H. Robbins, Ann. Math. Statist. 36, 1965).

Two or three rounds say little about the variance between rounds. It is therefore shrunk towards the expectation from
blocks and earlier measurements, as in a moderated t-test (G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004), unless
the rounds contradict it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kerascheck.runtime.verify.json_report import RatioJson

Rounds = Sequence[Sequence[float]]
"""Mean step times in seconds, by round and block."""

MAX_ROUNDS = 21
FIRST_LOOK = 2
"""Rounds before the first look, because a single round shows no differences between processes."""
_LEVELS = {
    1: 0.05,
    2: 0.0294,
    3: 0.0221,
    4: 0.0182,
    5: 0.0158,
    6: 0.0142,
    7: 0.0130,
    8: 0.0120,
    9: 0.0112,
    10: 0.0106,
    15: 0.0086,
    20: 0.0075,
}
"""Nominal level of each look by the number of looks, for 5 % in total (Pocock 1977)."""
_PROCESSES_DIFFER = 0.02
"""Standard deviation of the logarithm of the ratio between two processes of the same script, beyond block noise."""
_PRIOR_ROUNDS = 4
"""Weight of that expectation in rounds (degrees of freedom)."""
_CONTRADICTED = 6.5
"""Ratio of variances above which the expectation is rejected.

It is about the 95 % quantile of F with few and 4 degrees of freedom.
"""
_FEWEST_PAIRS = 10
_WIDEST = 10.0
"""Maximum ratio of an interval's ends at which the interval is informative."""
_SETTLED = 0.7
"""A round needs no finer precision than this multiple of the differences between processes."""
_SETTLED_SHARE = 0.05
"""A round also needs no finer precision than this multiple of its effect."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster B is than A: above 1, B is faster."""

    value: float
    low: float
    high: float

    def as_dict(self) -> RatioJson:
        """Convert to types that JSON knows."""
        return {"value": self.value, "low": self.low, "high": self.high}

    @property
    def width(self) -> float:
        """Half the interval's length relative to the value: 0.05 reads as ±5 %."""
        return (self.high - self.low) / 2 / self.value

    @property
    def interval(self) -> str:
        """The interval for display; if rounds differ by more than a factor of ten, says that there is none."""
        if not 0 < self.low <= self.high <= _WIDEST * self.low:
            return "[no interval: the rounds differ too much]"
        return f"[{self.low:.2f}-{self.high:.2f}]"

    def __str__(self) -> str:
        return f"x{self.value:.2f} {self.interval}"


def speedup(a: Rounds, b: Rounds, *, looks: int = 1) -> Ratio:
    """How many times faster B is than A, with its 95 % interval. A single round gives a nearly uninformative interval.

    ``a`` and ``b`` have the same number of rounds (ValueError otherwise, or without any block). Blocks beyond the
    shorter
    side of a round are ignored. The value of a round is the interquartile mean of the log ratios of adjacent blocks. On
    a
    loaded machine it varies about half as much as the ratio of medians, because adjacent blocks share the load.
    ``looks``: number of planned looks while rounds are added (see above), from :func:`looks_in`.
    """
    if len(a) != len(b):
        raise ValueError("both variants need the same rounds")
    rounds = [logs for logs in (_logs(p, q) for p, q in zip(a, b)) if logs]
    if not rounds:
        raise ValueError("no block was measured")
    return _of_rounds([_middle(logs) for logs in rounds], statistics.fmean(_error(logs) ** 2 for logs in rounds), looks)


def ratio_of_runs(a: Sequence[float], b: Sequence[float], *, looks: int = 1) -> Ratio:
    """How many times more A needs than B, with its 95 % interval; each side has one value above 0 per process.

    Args:
        looks: see :func:`speedup`.

    Raises:
        ValueError: there is no pair of values.
    """
    logs = _logs(a, b)
    if not logs:
        raise ValueError("no run was measured")
    return _of_rounds(logs, 0.0, looks)


def _of_rounds(means: Sequence[float], within: float, looks: int) -> Ratio:
    """The ratio by the log ratios of rounds; ``within`` is the mean square of their own errors."""
    value = statistics.fmean(means)
    expected = _PROCESSES_DIFFER**2 + within
    freedom = len(means) - 1
    seen = statistics.variance(means) if freedom else 0.0
    if not freedom or seen <= _CONTRADICTED * expected:
        seen = (_PRIOR_ROUNDS * expected + freedom * seen) / (_PRIOR_ROUNDS + freedom)
        freedom += _PRIOR_ROUNDS
    half = t_quantile(1 - _LEVELS[looks] / 2, freedom) * math.sqrt(seen / len(means))
    if len(means) < FIRST_LOOK:
        half = max(half, _ALONE)
    return Ratio(math.exp(value), math.exp(value - half), math.exp(value + half))


_ALONE = math.log(4)
"""Minimum half-width of an interval from a single round, because processes can differ by more than blocks show."""


def looks_in(rounds: int) -> int:
    """Number of looks if at most this many rounds are measured."""
    return next(looks for looks in _LEVELS if looks >= min(rounds, MAX_ROUNDS) - FIRST_LOOK + 1)


def is_settled(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether further blocks of this round add nothing.

    That is so if its noise is small beside the differences between processes or beside its effect.
    """
    logs = _logs(a, b)
    if len(logs) < _FEWEST_PAIRS:
        return False
    return _error(logs) <= max(_SETTLED * _PROCESSES_DIFFER, _SETTLED_SHARE * abs(_middle(logs)))


def noise(a: Sequence[float], b: Sequence[float]) -> float:
    """Standard error of the logarithm of a round's ratio, from its blocks."""
    return _error(_logs(a, b))


def _logs(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [math.log(x / y) for x, y in zip(a, b) if x > 0 and y > 0]


def _middle(values: Sequence[float]) -> float:
    """Mean of the middle half."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def _error(values: Sequence[float]) -> float:
    """Standard error of :func:`_middle`, from the winsorized variance.

    Source: J. W. Tukey and D. H. McLaughlin, Sankhya A 25, 1963. It is larger if neighbours are correlated. With too
        few
    values it is 1, which is enormous.
    """
    count, cut = len(values), len(values) // 4
    if count < 4:
        return 1.0
    ordered = sorted(values)
    low, high = ordered[cut], ordered[count - 1 - cut]
    kept = [min(max(value, low), high) for value in values]
    variance = statistics.variance(kept)
    alike = _alike(kept) if variance else 0.0
    return math.sqrt(variance / count * (1 + alike) / (1 - alike)) / (1 - 2 * cut / count)


def _alike(values: Sequence[float]) -> float:
    """Correlation of neighbours, 0 to 0.8."""
    mean = statistics.fmean(values)
    total = sum((x - mean) ** 2 for x in values)
    return min(0.8, max(0.0, sum((x - mean) * (y - mean) for x, y in zip(values, values[1:])) / total))


def t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t for a probability of 0.5 to 1; exact for 1 and 2 degrees of freedom.

    Source: G. W. Hill, Algorithm 396, Commun. ACM 13, 1970.
    """
    tail = 2 * (1 - probability)
    if freedom == 1:
        return math.tan(math.pi / 2 * (1 - tail))
    if freedom == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (freedom - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * freedom
    y = (d * tail) ** (2 / freedom)
    if y > 0.05 + a:
        x = statistics.NormalDist().inv_cdf(tail / 2)
        y = x**2
        if freedom < 5:
            c += 0.3 * (freedom - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y**2)
    else:
        y = (
            (1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y
            - 1
        ) * (freedom + 1) / (freedom + 2) + 1 / y
    return math.sqrt(freedom * y)


def disagreement(a: Sequence[float], b: Sequence[float]) -> float:
    """Largest relative difference of two series of losses over their common length; infinity if one is not finite."""
    worst = 0.0
    for x, y in zip(a, b):
        if not (math.isfinite(x) and math.isfinite(y)):
            if not (math.isnan(x) and math.isnan(y)) and x != y:
                return math.inf
            continue
        worst = max(worst, abs(x - y) / max(abs(x), abs(y), 1e-12))
    return worst


def percentiles(values: Sequence[float], ranks: Sequence[float]) -> list[float]:
    """The values at ``ranks`` (0 to 1), without interpolation; ValueError if there are none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(rank * len(ordered)))] for rank in ranks]
