"""The result of a verification, for all reports and for stored evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kerascheck.finding import Finding
from kerascheck.runtime.plain import plain
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.findings import Linted, Repair, is_about_speed
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.json_report import (
    FindingsVerdictJson,
    TrainingJson,
    VerificationJson,
    finding_json,
)
from kerascheck.runtime.verify.machine_class import MachineClass
from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.observed import Observation, observations
from kerascheck.runtime.verify.scouting import frames
from kerascheck.runtime.verify.verdict import Status, Verdict

FRAMEWORKS = ("keras", "tf-keras", "tensorflow", "jax", "torch")
"""Names of the distributions whose versions affect a measurement."""


@dataclass(slots=True)
class Verification:
    """A script, its findings and the verdicts on them."""

    comparison: Comparison
    linted: Linted
    repairs: Mapping[str, Repair]
    """By the name of the variant; without entry for variants that no finding stands behind."""
    machine: MachineClass
    command: str
    """Command that was run, for display."""
    gpu: GpuSummary | None = None
    """Utilisation, memory, power and clocks while it ran; None without a GPU or without nvidia-ml-py."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the frameworks that the script loaded."""
        return versions_of(self.comparison.scout.facts)

    @property
    def has_several_trainings(self) -> bool:
        """Whether several trainings, or one other than the first, were measured."""
        return len(self.comparison.scouts) > 1 or any(
            (analysis.number or 1) > 1 for analysis in self.comparison.analyses
        )

    @property
    def observations(self) -> list[Observation]:
        """Observations at the places of findings without a fix."""
        measured = [finding for repair in self.repairs.values() for finding in repair.findings]
        return observations(
            self.linted,
            self.comparison.analyses,
            measured,
            [frames(scout.end) for scout in self.comparison.scouts if scout.end],
        )

    @property
    def not_about_speed(self) -> list[Finding]:
        """Findings that no measurement of time can confirm."""
        measured = [finding for repair in self.repairs.values() for finding in repair.findings]
        return [finding for finding in self.linted.findings if finding not in measured and not is_about_speed(finding)]

    @property
    def exit_code(self) -> int:
        """0: no finding is confirmed; 1: one is; 2: nothing could be measured."""
        if self.comparison.failure:
            return 2
        return int(any(v.status is Status.CONFIRMED and not self._is_of_several(v) for v in self.comparison.verdicts))

    def _is_of_several(self, verdict: Verdict) -> bool:
        repair = self.repairs.get(verdict.name)
        return repair is not None and len(repair.findings) > 1

    def as_dict(self) -> VerificationJson:
        """Everything, in types that JSON knows; the schema is ``version`` 1."""
        comparison = self.comparison
        return {
            "version": 1,
            "script": comparison.script,
            "command": self.command,
            "failure": comparison.failure,
            "machine": self.machine.as_dict(),
            "versions": self.versions,
            "seconds": round(comparison.seconds, 1),
            "notes": comparison.notes,
            "trainings": [self._training(number) for number in range(len(comparison.analyses))],
            "verdicts": [self._verdict(verdict) for verdict in comparison.verdicts],
            "observations": [
                {**finding_json(each.finding), "seen": each.seen, "training": each.training, "share": each.share}
                for each in self.observations
            ],
            "not_about_speed": [finding_json(finding) for finding in self.not_about_speed],
            "gpu": plain(self.gpu),
        }

    def _training(self, number: int) -> TrainingJson:
        analysis = self.comparison.analyses[number]
        return {
            "kind": analysis.kind,
            "number": analysis.number,
            "place": analysis.place,
            "step_seconds": analysis.step_seconds,
            "first_step_seconds": analysis.first_step_seconds,
            "ceiling_seconds": analysis.ceiling_seconds,
            "input_bound": analysis.input_bound,
            "largest_input_gain": analysis.largest_input_gain,
            "stages": [stage.as_dict() for stage in analysis.stages],
            "facts": {**_json_facts(analysis.facts), "host_peak_bytes": analysis.host_peak_bytes},
            "not_measured": analysis.missing,
        }

    def _verdict(self, verdict: Verdict) -> FindingsVerdictJson:
        repair = self.repairs.get(verdict.name)
        return {
            **verdict.as_dict(),
            "findings": [finding_json(finding) for finding in (repair.findings if repair else ())],
        }


def versions_of(facts: TrainingFacts) -> dict[str, str]:
    """The versions of the frameworks of a run, in the order of :data:`FRAMEWORKS`."""
    return {name: facts.versions[name] for name in FRAMEWORKS if facts.versions.get(name)}


_ALWAYS = ("epoch_lengths", "first_iterator", "gpus")
_WHERE_KNOWN = (
    "backend", "host_reads_per_step", "device_peak_bytes", "replicas", "alone_seconds_per_batch",
    "alone_first_batch_seconds", "bytes_per_step",
)  # fmt: skip


def _json_facts(facts: TrainingFacts) -> dict[str, Any]:
    """The facts of a diagnosed training in the JSON report, flat."""
    found = {name: plain(getattr(facts, name)) for name in _ALWAYS}
    found |= {name: value for name in _WHERE_KNOWN if (value := getattr(facts, name)) is not None}
    found |= facts.versions
    if facts.element_spec is not None:
        found["element_spec"] = [[plain(part.shape), part.dtype] for part in facts.element_spec]
    if facts.traces is not None:
        found |= {"traces": facts.traces, "traces_by_function": dict(facts.traces_by_function)}
    if facts.validation_places:
        found["validation_places"] = plain(facts.validation_places)
    if facts.feeder is not None:
        found["feeder"] = [facts.feeder.kind, facts.feeder.name, facts.feeder.path, facts.feeder.line]
    if facts.one_cached_batch:
        found["one_cached_batch"] = True
    if facts.model is not None:
        found |= plain(facts.model)
    return found | {f"{name}_failed": why for name, why in facts.failures.items()}
