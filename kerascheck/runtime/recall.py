"""What ``verify`` has measured of the findings of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerascheck.finding import Evidence, Finding
    from kerascheck.result import LintResult


def recall(outcome: LintResult, targets: Mapping[str, str | None]) -> Mapping[Finding, Evidence]:
    """The evidence of findings; costs a look per folder where ``verify`` never ran.

    Args:
        targets: the TensorFlow that the settings of each path state.
    """
    folders: set[str] = set()
    for path in {finding.location.path for finding in outcome.findings}:
        folder = os.path.dirname(os.path.abspath(path))
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    kept = [path for folder in folders if os.path.exists(path := os.path.join(folder, ".kerascheck", "evidence.json"))]
    # A pipe would be waited for.
    if not kept or not all(map(os.path.isfile, kept)):
        return {}
    from kerascheck.runtime.verify import memory

    return memory.recall(outcome.findings, outcome.sources, target_of=targets.get)
