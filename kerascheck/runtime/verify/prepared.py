"""A linted script that is ready to be measured, here or on another machine."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kerascheck.runtime.verify.findings import Linted, Repair, findings_of, looks, repairs
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.result import Verification

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify.compare import Comparison
    from kerascheck.runtime.verify.gpu_summary import GpuSummary
    from kerascheck.runtime.verify.machine_class import MachineClass
    from kerascheck.runtime.verify.variants import Variant


@dataclass(frozen=True, slots=True)
class Prepared:
    """A script to run, and the findings that its results refer to."""

    linted: Linted
    repairs: Sequence[Repair]
    run: Script
    command: str
    """Command line for display."""

    @property
    def variants(self) -> list[Variant]:
        """Variants to compare with the script, and variants that only request an analysis."""
        return [*(repair.variant for repair in self.repairs), *looks(self.linted, self.repairs)]

    def result(self, comparison: Comparison, machine: MachineClass, gpu: GpuSummary | None) -> Verification:
        """Combine a comparison with the machine that ran it and with the findings."""
        return Verification(
            comparison,
            self.linted,
            {repair.variant.name: repair for repair in self.repairs},
            machine,
            self.command,
            gpu,
        )


def prepare(
    script: str,
    arguments: Sequence[str],
    configuration: Configuration,
    *,
    python: str = sys.executable,
    directory: str | None = None,
    spec: RuleSpec | None = None,
) -> Prepared:
    """Lint ``script`` and create its variants.

    ``directory``: working directory of the run, to which the shown command is relative (None: the current one).
    ``spec``: rule whose slow.py the script is. Raises NotAScript and ConfigError like ``findings_of``.
    """
    linted = findings_of(script, configuration)
    made = repairs(linted, every=spec is not None)
    if spec is not None and not made:
        # Some rules have no fix for the change that their example shows.
        from kerascheck.runtime.verify.evidence import example_variants

        made = [Repair(replace(variant, name=f"fast.py, {variant.name}"), ()) for variant in example_variants(spec)]
    texts = {path: source.text for path, source in linted.sources.items()}
    command = shlex.join(["python", os.path.relpath(linted.script, directory), *arguments])
    return Prepared(linted, made, Script(linted.script, texts, tuple(arguments), directory, python), command)
