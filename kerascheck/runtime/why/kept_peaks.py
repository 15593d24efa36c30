"""Peaks of this processor that earlier runs measured, in the cache folder."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import replace
from pathlib import Path

from kerascheck.cache.folder import Folder, folder_for
from kerascheck.lint.pipeline import processors
from kerascheck.runtime.plain import plain, restored
from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.source import dependencies

_VERSION = 1
_CPUINFO = "/proc/cpuinfo"
MOST_LOAD_KEPT = 0.1
"""Largest share of the machine that other programs may use while peaks are measured that are kept."""


class KeptPeaks:
    """Peaks by framework and version, for one processor and number of cores.

    Args:
        path: of the script; its project has the cache folder, unless ``KERASCHECK_CACHE_DIR`` names another one.
    """

    def __init__(self, path: str):
        folder = folder_for([path], os.environ.get("KERASCHECK_CACHE_DIR") or None)
        self._folder = None if folder is None else Folder(folder)
        self._processor = f"{processor()}, {processors()} cores"
        self._name = dependencies.digest_of(["peaks", str(_VERSION), self._processor]) + ".json"
        self.known = self._read()
        """Peaks by framework and version, such as "jax 0.10.0"."""

    def _read(self) -> dict[str, Peaks]:
        content = None if self._folder is None else self._folder.read(self._name)
        try:
            return {name: restored(Peaks, each, name) for name, each in (content or {}).items()}
        except (ValueError, AttributeError):  # of another version
            return {}

    def completed(self, facts: TrainingFacts) -> TrainingFacts:
        """``facts`` with known peaks, or with the name of the processor; keeps new peaks of a quiet machine."""
        if facts.peaks is None:
            return replace(facts, peaks=self.known.get(facts.peaks_of or ""))
        peaks = replace(facts.peaks, hardware=self._processor)
        if self._folder is not None and facts.peaks_of and (peaks.busy_others or 0.0) <= MOST_LOAD_KEPT:
            self.known[facts.peaks_of] = peaks
            self._folder.write({self._name: {name: plain(each) for name, each in self.known.items()}})
        return replace(facts, peaks=peaks)


def processor() -> str:
    """Name of the processor, such as "AMD EPYC 7763"; its architecture where the system does not say."""
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", Path(_CPUINFO).read_text(encoding="utf-8"), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()
