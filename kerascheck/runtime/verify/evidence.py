"""Evidence for the rules: every rule's slow.py measured against its fast.py."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kerascheck.catalog.measured import DEVICES, Device, Measurement, Row, cell
from kerascheck.catalog.registry import RuleSpec
from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison, compare
from kerascheck.runtime.verify.findings import ABOUT_EPOCHS, ABOUT_PREDICTIONS
from kerascheck.runtime.verify.machine_class import MachineClass, machine
from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status

_ORDER = (
    Status.CONFIRMED,
    Status.CHANGES_RESULTS,
    Status.SLOWER,
    Status.NO_EFFECT,
    Status.INCONCLUSIVE,
    Status.NOT_RUN,
)


def has_example(folder: Path) -> bool:
    """Whether the folder contains a slow.py and a fast.py to measure."""
    return all((folder / name).is_file() for name in ("slow.py", "fast.py"))


def example_variants(spec: RuleSpec) -> list[Variant]:
    """The fast.py of a rule in the place of its slow.py: one variant per changed place, for they
    may belong to several trainings."""
    slow, fast = spec.folder / "slow.py", spec.folder / "fast.py"
    tolerance, predicts = spec.rule.loss_tolerance, spec.rule.code in ABOUT_PREDICTIONS
    before, after = slow.read_text(encoding="utf-8"), fast.read_text(encoding="utf-8")
    changes = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False).get_opcodes()
    return [
        Variant(
            f"line {first + 1}",
            {str(slow): after},
            tolerance,
            ((str(slow), first + 1, max(first + 1, last)),),
            predicts,
            whole_epochs=spec.rule.code in ABOUT_EPOCHS,
        )
        for kind, first, last, _, _ in changes
        if kind != "equal"
    ]


def measure_example(
    spec: RuleSpec, budget: Budget, progress: Progress, environment: Mapping[str, str] | None = None
) -> Comparison:
    """Measure one rule with additional variables in its ``environment``; raises OSError if a file is missing."""
    slow = spec.folder / "slow.py"
    script = Script(str(slow), {str(slow): slow.read_text(encoding="utf-8")}, environment=environment or {})
    with gpu.Sampler() as sampler:
        comparison = compare(script, example_variants(spec), budget, progress, ceilings=False)
    return gpu.doubted(comparison, sampler.summary(), sampler.failure)


def row(code: str, name: str, comparison: Comparison) -> Row:
    """One row of the table, with a column for the CPU or the GPU that the example ran on."""
    gpus = comparison.scout.facts.gpus
    device: Device = "gpu" if gpus else "cpu"
    entry: Row = {"code": code, "name": name}
    entry[device] = measurement(comparison, replace(machine(), gpu=gpus[0]) if gpus else machine())
    return entry


def measurement(comparison: Comparison | None, where: MachineClass) -> Measurement:
    """One column of a row: the verdict with the clearest result. ``comparison``: None if nothing was run."""
    verdicts = sorted(
        comparison.verdicts if comparison else (),
        key=lambda v: (_ORDER.index(v.status), -(v.ratio.value if v.ratio is not None else 0)),
    )
    best = verdicts[0] if verdicts else None
    facts = comparison.scout.facts if comparison else TrainingFacts()
    failure = comparison.failure if comparison else None
    return {
        "status": best.status.value if best else Status.NOT_RUN.value,
        "reason": (best.reason if best else failure or "slow.py and fast.py do not differ"),
        "ratio": round(best.ratio.value, 2) if best and best.ratio else None,
        "low": round(best.ratio.low, 2) if best and best.ratio else None,
        "high": round(best.ratio.high, 2) if best and best.ratio else None,
        "machine": where.as_dict(),
        "versions": {
            key: facts.versions[key] for key in ("keras", "tensorflow", "jax", "torch") if facts.versions.get(key)
        },
        "date": time.strftime("%Y-%m-%d"),
    }


def merge(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """``old`` rows with the columns of ``new`` ones, by code; a column that was never measured is missing.

    An inconclusive column replaces no other one.
    """
    rows = {entry["code"]: entry.copy() for entry in old}
    for entry in new:
        merged = rows.setdefault(entry["code"], {"code": entry["code"], "name": entry["name"]})
        merged["name"] = entry["name"]
        for device in DEVICES:
            if device in entry and not (device in merged and _shows_nothing(entry[device])):
                merged[device] = entry[device]
    return [rows[code] for code in sorted(rows)]


def _shows_nothing(column: Measurement) -> bool:
    return column["status"] == Status.INCONCLUSIVE.value


def render(rows: Sequence[Row]) -> Iterator[str]:
    """The table as Markdown lines."""
    yield "| rule | CPU | GPU |"
    yield "|---|---|---|"
    for entry in rows:
        cells = (cell(entry.get(device)).replace("|", "\\|") for device in DEVICES)
        yield f"| {entry['code']} {entry['name']} | " + " | ".join(cells) + " |"


def collect(
    specs: Sequence[RuleSpec], budget: Budget, progress: Progress, tell: Callable[[Row], None]
) -> Iterator[Row]:
    """Measure ``specs`` one after the other; ``tell`` is called with every finished row."""
    for spec in specs:
        if not has_example(spec.folder):
            continue
        prefix = spec.rule.code
        comparison = measure_example(spec, budget, lambda text, left: progress(f"{prefix}: {text}", left))
        entry = row(spec.rule.code, spec.rule.name, comparison)
        tell(entry)
        yield entry
