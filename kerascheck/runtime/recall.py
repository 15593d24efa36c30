"""Look-up of the evidence from ``verify`` for the findings of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerascheck.finding import Evidence, Finding
    from kerascheck.result import LintResult


def recall(outcome: LintResult, targets: Mapping[str, str | None]) -> Mapping[Finding, Evidence]:
    """Return the evidence about findings, tallied ones too. Folders in which ``verify`` never ran cost one look-up each.

    Args:
        targets: the TensorFlow version that the settings of each path declare.
    """
    folders: set[str] = set()
    findings = [*outcome.findings, *outcome.tallied]
    for path in {finding.location.path for finding in findings}:
        folder = os.path.dirname(os.path.abspath(path))
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    kept = [path for folder in folders if os.path.exists(path := os.path.join(folder, ".kerascheck", "evidence.json"))]
    # Skip pipes, because reading one blocks.
    if not kept or not all(map(os.path.isfile, kept)):
        return {}
    from kerascheck.runtime.verify import memory

    return memory.recall(findings, outcome.sources, target_of=targets.get)
