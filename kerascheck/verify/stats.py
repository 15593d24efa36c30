"""From block times to a ratio, its interval and whether two variants differ. Pure Python, deterministic.

Times come as *rounds*: one fresh process of each variant, whose blocks ran in turn, so that block ``i`` of one variant
was measured next to block ``i`` of the other. Disturbance by other programs hits both neighbours, or shows as an
outlier that medians ignore; what differs from process to process (memory layout, thread placement) shows between rounds.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Rounds = Sequence[Sequence[float]]
"""Mean step times in seconds, by round and block."""

_RESAMPLES = 2000
_CONFIDENCE = 0.95
_ONE_ROUND = 2.0
"""How much wider the interval is made when nothing is known of the variance between rounds."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster B is than A: above 1, B is faster."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Half the interval's length relative to the value: 0.05 reads as ±5 %."""
        return (self.high - self.low) / 2 / self.value


def speedup(a: Rounds, b: Rounds, *, seed: int = 0) -> Ratio:
    """How many times faster B is than A, with its 95 % bootstrap interval.

    ``a`` and ``b`` have the same number of rounds (ValueError otherwise, or without any block); in a round, blocks
    beyond the shorter side are left out. The estimate is the interquartile mean of the ratios of neighbouring blocks:
    on a machine loaded by others its interval is about half as wide as that of the ratio of medians, because the two
    neighbours share the load. Rounds are resampled first, then the pairs within them.
    """
    if len(a) != len(b):
        raise ValueError("both variants need the same rounds")
    rounds = [[math.log(x / y) for x, y in zip(p, q) if x > 0 and y > 0] for p, q in zip(a, b)]
    rounds = [logs for logs in rounds if logs]
    if not rounds:
        raise ValueError("no block was measured")
    value = statistics.fmean(map(_middle, rounds))
    generator = random.Random(seed)
    resampled = sorted(
        statistics.fmean(_middle(generator.choices(logs, k=len(logs))) for logs in generator.choices(rounds, k=len(rounds)))
        for _ in range(_RESAMPLES)
    )
    tail = round((1 - _CONFIDENCE) / 2 * _RESAMPLES)
    # Resampling a handful of rounds shows too little of the variance between them.
    widen = math.sqrt(len(rounds) / (len(rounds) - 1)) if len(rounds) > 1 else _ONE_ROUND
    low, high = (value + widen * (bound - value) for bound in (resampled[tail], resampled[-1 - tail]))
    return Ratio(math.exp(value), math.exp(min(low, value)), math.exp(max(high, value)))


def _middle(values: Sequence[float]) -> float:
    """Mean of the middle half."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut : len(ordered) - cut])


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
