"""Verdicts on variants, and the rule that derives them from the interval of a ratio."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kerascheck.finding import NO_EFFECT, is_no_effect
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.json_report import LossesJson, SecondsJson, VerdictJson
from kerascheck.runtime.verify.stats import MAX_ROUNDS, Ratio

QUIET = 0.2
"""Maximum share of the machine that other programs may use in an undisturbed measurement."""
_FINEST = 5
"""Ratio of the limit of "no effect" to the narrowest interval that a measurement aims for.

At the limit itself, a measurement needs unlimited time.
"""
_BEYOND_NOISE = 1.03
"""Ratio that the whole interval must exceed, since processes of the same script differ by about this much."""


class Status(enum.Enum):
    """The verdict on a variant."""

    CONFIRMED = "confirmed"
    NO_EFFECT = "no effect"
    """The whole interval lies within the limit."""
    INCONCLUSIVE = "inconclusive"
    """The interval is too wide to decide."""
    SLOWER = "slower"
    CHANGES_RESULTS = "changes results"
    NOT_RUN = "not run"


@dataclass(slots=True)
class Verdict:
    """The measured value of a variant. Pairs contain (original script, variant)."""

    name: str
    status: Status
    reason: str
    ratio: Ratio | None = None
    """Speed-up of steps."""
    step_seconds: tuple[float, float] | None = None
    """Median seconds per step."""
    start_seconds: tuple[float, float] | None = None
    """Processor time until the end of the warm-up, including imports and tracing; only if both sides clearly differ."""
    remark: str = ""
    """A further sentence, such as that results change as the fix announces."""
    training: int = 0
    """Index of the measured training among those of the script."""
    losses: tuple[list[float], list[float]] | None = None
    rounds: int = 0
    blocks: int = 0
    ticks: tuple[Sequence[float], Sequence[float]] = ((), ())
    """Seconds of single steps, as the host sees them."""
    output: str = ""
    """The last lines that a failed variant printed."""
    others: float | None = None
    """Share of the machine that other programs used meanwhile, 0 to 1."""
    no_effect: float = NO_EFFECT
    """See :attr:`kerascheck.runtime.verify.budget.Budget.no_effect`."""
    change: str | None = None
    """Difference of the results, expected or not; None if they agree or could not be compared."""

    @property
    def same_results(self) -> bool | None:
        """Whether the first losses agree; None unless a loss was visible in both."""
        return False if self.change else (True if self.losses and self.losses[0] else None)

    def add_remark(self, text: str) -> None:
        """Append a clause to the remark."""
        self.remark = f"{self.remark}; {text}" if self.remark else text

    def as_dict(self) -> VerdictJson:
        """Convert to JSON types, without single steps and output."""
        return {
            "name": self.name,
            "status": self.status.value,
            "reason": self.reason,
            "remark": self.remark,
            "ratio": None if self.ratio is None else self.ratio.as_dict(),
            "start_seconds": _seconds(self.start_seconds),
            "step_seconds": _seconds(self.step_seconds),
            "losses": _losses(self.losses),
            "others": self.others,
            "no_effect": self.no_effect,
            "training": self.training,
            "rounds": self.rounds,
            "blocks": self.blocks,
        }


def _seconds(pair: tuple[float, float] | None) -> SecondsJson | None:
    return None if pair is None else {"as_written": pair[0], "repaired": pair[1]}


def _losses(pair: tuple[list[float], list[float]] | None) -> LossesJson | None:
    return None if pair is None else {"as_written": _finite(pair[0]), "repaired": _finite(pair[1])}


def _finite(series: Iterable[float]) -> list[float | None]:
    """Replace infinities and NaN, which JSON lacks, by None."""
    return [value if math.isfinite(value) else None for value in series]


def judge_ratio(ratio: Ratio, no_effect: float = NO_EFFECT) -> tuple[Status, str]:
    """Derive the verdict from an interval, with a reason for display.

    Only an interval within the limit shows that there is no effect. If it is neither within the limit nor clear of 1,
    the result is inconclusive.

    Args:
        no_effect: see :attr:`kerascheck.runtime.verify.budget.Budget.no_effect`.
    """
    if ratio.low > _BEYOND_NOISE and ratio.value >= 1 + no_effect:
        return Status.CONFIRMED, f"steps are {ratio.value:.2f} times faster"
    if ratio.high < 1 / _BEYOND_NOISE and ratio.value <= 1 / (1 + no_effect):
        return Status.SLOWER, f"steps take {1 / ratio.value:.2f} times as long"
    if is_no_effect(ratio.low, ratio.high, no_effect):
        return Status.NO_EFFECT, f"steps take as long as before, within {no_effect * 100:.3g} %"
    return Status.INCONCLUSIVE, "the interval is too wide to tell"


def effort_needed(ratio: Ratio, rounds: int, budget: Budget, other_load: float | None) -> str:
    """Explain how much longer or quieter an inconclusive measurement must be, for display.

    An interval narrows with the square root of the time. The required time follows from its width and from the width at
    which it lies within the limit or clear of 1.

    Args:
        rounds: number of measured rounds.
        other_load: share of the machine that other programs used.
    """
    distance, width = abs(math.log(ratio.value)), math.log(ratio.high / ratio.low) / 2
    limit = math.log1p(budget.no_effect)
    room = distance - math.log(_BEYOND_NOISE) if distance >= limit else limit - distance
    times = max(2, round((width / max(room, limit / _FINEST)) ** 2))
    needs = []
    if times * rounds <= MAX_ROUNDS:
        quick = "without --quick, " if budget.rounds is not None else ""
        needs.append(f"about {times} times as long ({quick}--budget {math.ceil(times * budget.seconds)})")
    if other_load is not None and other_load > QUIET:
        needs.append(f"a quieter machine (other programs used {other_load:.0%} of it)")
    if not needs:
        return "its steps vary too much on this machine to tell, however long they are measured"
    return f"too little to tell: it needs {' or '.join(needs)}"
