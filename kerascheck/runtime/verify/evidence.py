"""Evidence for the rules: every rule's slow.py measured against its fast.py."""

from __future__ import annotations

import contextlib
import difflib
import importlib.metadata
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kerascheck.catalog.measured import DEVICES, Device, Measurement, Row, cell
from kerascheck.catalog.registry import RuleSpec
from kerascheck.catalog.rule import AnyRule
from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison, compare
from kerascheck.runtime.verify.findings import ABOUT_EPOCHS, ABOUT_PREDICTIONS
from kerascheck.runtime.verify.machine_class import MachineClass, machine
from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.quiet import NotQuiet, wait_until_quiet
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import QUIET, Status
from kerascheck.runtime.verify.whole_runs import QUANTITIES, compare_whole_runs

METHOD = 2
"""Number of the way to measure, as rows keep it. A row of an older one is measured again.

2: in turn, in frozen processes, with the result compared (since 2026-11-28).
"""
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
    variants = example_variants(spec)
    with gpu.Sampler() as sampler:
        if variants and spec.measured in QUANTITIES:
            comparison = compare_whole_runs(script, variants[0], QUANTITIES[spec.measured], budget, progress)
        else:
            comparison = compare(script, variants, budget, progress, ceilings=False)
    return gpu.doubted(comparison, sampler.summary(), sampler.failure)


def row(code: str, name: str, comparison: Comparison, of: str = AnyRule.measured) -> Row:
    """One row of the table, with a column for the CPU or the GPU that the example ran on.

    Args:
        of: see :attr:`kerascheck.catalog.rule.AnyRule.measured`.
    """
    gpus = comparison.scout.facts.gpus
    device: Device = "gpu" if gpus else "cpu"
    entry: Row = {"code": code, "name": name}
    entry[device] = measurement(comparison, replace(machine(), gpu=gpus[0]) if gpus else machine(), of)
    return entry


def measurement(comparison: Comparison | None, where: MachineClass, of: str = AnyRule.measured) -> Measurement:
    """One column of a row: the verdict with the clearest result.

    Args:
        comparison: None if nothing was run.
        where: the machine.
        of: see :attr:`kerascheck.catalog.rule.AnyRule.measured`.
    """
    verdicts = sorted(
        comparison.verdicts if comparison else (),
        key=lambda v: (_ORDER.index(v.status), -(v.ratio.value if v.ratio is not None else 0)),
    )
    best = verdicts[0] if verdicts else None
    facts = comparison.scout.facts if comparison else TrainingFacts()
    failure = comparison.failure if comparison else None
    found: Measurement = {
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
        "method": METHOD,
    }
    if of != AnyRule.measured:
        found["of"] = of
    return found


def is_finished(code: str, rows: Sequence[Row], versions: Mapping[str, str]) -> bool:
    """Whether a table has a CPU column for a rule that this method decided on such a machine with these versions."""
    column = next((entry.get("cpu") for entry in rows if entry["code"] == code), None)
    if column is None or column.get("method") != METHOD or _shows_nothing(column):
        return False
    known = column["versions"]
    return column["machine"] == machine().as_dict() and all(known.get(key) in (None, versions[key]) for key in versions)


def installed_versions() -> dict[str, str]:
    """Versions of the frameworks in this environment, by name."""
    found: dict[str, str] = {}
    for name, packages in (("keras", ("keras",)), ("tensorflow", ("tensorflow", "tensorflow-cpu"))):
        for package in packages:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found.setdefault(name, importlib.metadata.version(package))
    return found


def disturbance(comparison: Comparison) -> float | None:
    """The largest share of the machine that other programs used during a measurement, if that is too much; else None."""
    shares = [verdict.others for verdict in comparison.verdicts if verdict.others is not None]
    return max(shares) if shares and max(shares) > QUIET else None


def merge(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """``old`` rows with the columns of ``new`` ones, by code; a column that was never measured is missing.

    A column replaces none of the same method that says more: a decision, then "inconclusive", then "not run".
    """
    rows = {entry["code"]: entry.copy() for entry in old}
    for entry in new:
        merged = rows.setdefault(entry["code"], {"code": entry["code"], "name": entry["name"]})
        merged["name"] = entry["name"]
        for device in DEVICES:
            if device in entry and not _says_more(merged.get(device), entry[device]):
                merged[device] = entry[device]
    return [rows[code] for code in sorted(rows)]


def _says_more(old: Measurement | None, new: Measurement) -> bool:
    """Whether an old column of the same method says more than a new one."""
    if old is None or old.get("method") != new.get("method"):
        return False
    least = (Status.NOT_RUN.value, Status.INCONCLUSIVE.value)
    ranks = [least.index(each["status"]) if each["status"] in least else len(least) for each in (old, new)]
    return ranks[0] > ranks[1]


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
    specs: Sequence[RuleSpec],
    budget: Budget,
    progress: Progress,
    tell: Callable[[Row], None],
    measure: Callable[..., Comparison] = measure_example,
    wait: Callable[[Progress], None] = wait_until_quiet,
) -> Iterator[Row]:
    """Measure ``specs`` one after the other while the machine is quiet.

    Args:
        specs: the rules, all with an example.
        budget: for each rule.
        progress: is told what happens.
        tell: is called with every finished row.
        measure: like :func:`measure_example`.
        wait: returns when the machine is quiet.

    Raises:
        NotQuiet: other programs keep the machine busy.
    """
    for spec in specs:
        prefix = spec.rule.code
        wait(lambda text, left: progress(f"{prefix}: {text}", left))
        comparison = measure(spec, budget, lambda text, left: progress(f"{prefix}: {text}", left))
        if (others := disturbance(comparison)) is not None:
            raise NotQuiet(f"other programs used {others:.0%} of the machine while {prefix} was measured")
        entry = row(spec.rule.code, spec.rule.name, comparison, spec.measured)
        tell(entry)
        yield entry
