"""The options of the command ``verify``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify.budget import Budget, TrainingSelector
    from kerascheck.runtime.verify.remote.target import Target


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of ``verify``, named as click names them."""

    rule: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    budget: float
    """Seconds per variant."""
    quick: bool
    steps: int | None
    no_effect: float
    """As a share: 0.05 is 5 %."""
    training: TrainingSelector | None
    start_limit: float
    """Seconds until the training must have begun."""
    python: str
    """Interpreter that runs the script; empty until :func:`kerascheck.cli.verify.verify` has chosen one."""
    on: str | None
    include: tuple[str, ...]
    apply: bool
    yes: bool
    scaling: bool
    again: bool
    jobs: int
    output_format: str
    output_file: str | None
    no_memory: bool
    color: str
    target: Target | None = None
    """What ``on`` names; None for this machine."""

    @property
    def limits(self) -> Budget:
        """How long to measure, and in which training."""
        from kerascheck.runtime.verify.budget import Budget

        return Budget(
            self.budget,
            self.steps,
            self.start_limit,
            no_effect=self.no_effect,
            training=self.training,
            rounds=2 if self.quick else None,
        )

    def configuration(self, spec: RuleSpec | None = None) -> Configuration:
        """The linter's settings, with the rules that the options choose, or with the rule ``spec`` alone."""
        from kerascheck.project.config import Configuration, overrides_from

        if spec is None:
            return Configuration(overrides_from({"select": self.select, "ignore": self.ignore}))
        return Configuration(overrides_from({"select": (spec.code,), "ignore": self.ignore, "pedantic": True}))
