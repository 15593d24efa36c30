"""Variants of a script: replacement texts for some of its files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kerascheck.runtime.verify.messages import Span
from kerascheck.runtime.verify.process import Script


@dataclass(frozen=True, slots=True)
class Variant:
    """A script with replacement texts for some files."""

    name: str
    sources: Mapping[str, str]
    """Text by absolute path; other files are unchanged."""
    tolerance: float | None = 1e-6
    """Maximum relative difference of the first losses; None if the fix may change results."""
    places: tuple[Span, ...] = ()
    """Lines that it fixes; they determine the training in which it is measured."""
    predicts: bool = False
    """Whether it is about predictions instead of training."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables of its processes."""
    whole_epochs: bool = False
    """Whether it affects the start of an epoch, so each block should be a whole epoch."""
    measured: bool = True
    """If False, it changes nothing and only requests an analysis of the training that uses ``places``."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """Identity of the code that it runs: equal for variants that run the same code."""
        return tuple(sorted(self.sources.items())), tuple(sorted(self.environment.items()))

    def of(self, script: Script) -> Script:
        """The script to run."""
        return replace(
            script,
            sources={**script.sources, **self.sources},
            environment={**script.environment, **self.environment},
        )


def concerns(variant: Variant, used: Sequence[Span]) -> bool:
    """Whether a training that uses the lines ``used`` runs code that ``variant`` fixes.

    A variant without places concerns every training.
    """
    return not variant.places or any(
        os.path.abspath(path) == other and first <= end and begin <= last
        for path, first, last in variant.places
        for other, begin, end in used
    )


def spans_all_others(variant: Variant, variants: Sequence[Variant]) -> bool:
    """Whether ``variant`` combines the fixes of all others."""
    return (
        variant in variants
        and len(variants) > 1
        and all(set(other.places) < set(variant.places) for other in variants if other is not variant)
    )
