"""Rewrites of tf.data that the options of a pipeline disable."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.interpreter.values import (
    ExternalInstance,
    Value,
    constant,
    options_of,
)


@dataclass(frozen=True, slots=True)
class Rewrites:
    """The rewrites of tf.data that are disabled for a pipeline.

    ``maps_on`` says whether map_parallelization itself is enabled.
    """

    autotune_off: bool = False
    defaults_off: bool = False
    prefetch_off: bool = False
    maps_off: bool = False
    maps_on: bool = False

    def __or__(self, other: Rewrites) -> Rewrites:
        return Rewrites(
            self.autotune_off or other.autotune_off,
            self.defaults_off or other.defaults_off,
            self.prefetch_off or other.prefetch_off,
            self.maps_off or other.maps_off,
            self.maps_on or other.maps_on,
        )

    @property
    def maps_stay_serial(self) -> bool:
        """Whether map_parallelization does not run."""
        return self.autotune_off or self.maps_off or self.defaults_off and not self.maps_on

    @property
    def no_prefetch(self) -> bool:
        """Whether inject_prefetch does not run."""
        return self.autotune_off or self.defaults_off or self.prefetch_off


def switched_by(options: Value | None) -> Rewrites:
    result = Rewrites()
    for option in options_of(options):
        if not isinstance(option, ExternalInstance):
            continue
        autotune = option.attributes.get("autotune")
        older = option.attributes.get("experimental_optimization") or option.attributes.get(
            "experimental_optimizations"
        )

        def says(owner: Value | None, name: str) -> object:
            return constant(owner.attributes.get(name), None) if isinstance(owner, ExternalInstance) else None

        result |= Rewrites(
            autotune_off=says(autotune, "enabled") is False or says(older, "autotune") is False,
            defaults_off=says(older, "apply_default_optimizations") is False,
            prefetch_off=says(older, "inject_prefetch") is False,
            maps_off=says(older, "map_parallelization") is False,
            maps_on=says(older, "map_parallelization") is True,
        )
    return result
