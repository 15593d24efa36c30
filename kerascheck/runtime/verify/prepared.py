"""A script that is linted and ready to be measured, here or elsewhere."""

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
    """A script to run, and the findings that its results are about."""

    linted: Linted
    repairs: Sequence[Repair]
    run: Script
    command: str
    """For people."""

    @property
    def variants(self) -> list[Variant]:
        """Variants to compare the script with, and to analyse trainings for."""
        return [*(repair.variant for repair in self.repairs), *looks(self.linted, self.repairs)]

    def result(self, comparison: Comparison, machine: MachineClass, gpu: GpuSummary | None) -> Verification:
        """Combine a comparison on a machine with the findings."""
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
    """Lint ``script`` and make its variants.

    ``directory``: where it runs, and what its command is relative to (None: the working directory). ``spec``: the
    rule whose slow.py the script is. Raises NotAScript and ConfigError as ``findings_of`` does.
    """
    linted = findings_of(script, configuration)
    made = repairs(linted, every=spec is not None)
    if spec is not None and not made:
        # Not every rule repairs by itself what its example shows repaired.
        from kerascheck.runtime.verify.evidence import example_variants

        made = [Repair(replace(variant, name=f"fast.py, {variant.name}"), ()) for variant in example_variants(spec)]
    texts = {path: source.text for path, source in linted.sources.items()}
    command = shlex.join(["python", os.path.relpath(linted.script, directory), *arguments])
    return Prepared(linted, made, Script(linted.script, texts, tuple(arguments), directory, python), command)
