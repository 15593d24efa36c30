"""Machine class that identifies where evidence was measured."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from kerascheck.catalog.measured import MachineJson


@dataclass(frozen=True, slots=True)
class MachineClass:
    """What a measurement depends on of the machine that it was made on."""

    system: str
    """Such as "Linux", from ``platform.system()``."""
    processor: str
    """Architecture, "x86_64", from ``platform.machine()``."""
    cores: int | None
    """Logical cores; None where the system does not say."""
    gpu: str | None = None
    """The first GPU that the script used, by the name that its framework gives it; None where that is not recorded."""
    driver: str | None = None
    """Version of the NVIDIA driver; None where that is not recorded."""
    on: str | None = None
    """Label of the target of ``--on``; None for the machine that kerascheck runs on."""

    def as_dict(self) -> MachineJson:
        """Convert to what reports and evidence files hold, which leave out what is not recorded."""
        found: MachineJson = {"system": self.system, "processor": self.processor, "cores": self.cores}
        if self.gpu is not None:
            found["gpu"] = self.gpu
        if self.driver is not None:
            found["driver"] = self.driver
        if self.on is not None:
            found["on"] = self.on
        return found


def machine() -> MachineClass:
    """Describe the machine that this process runs on."""
    return MachineClass(platform.system(), platform.machine(), os.cpu_count())
