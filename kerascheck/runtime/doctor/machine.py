"""Hardware profile of a machine for the linter."""

from __future__ import annotations

from kerascheck.knowledge.cards import half_types
from kerascheck.project.config import HardwareProfile
from kerascheck.runtime.doctor.snapshot import Snapshot


def machine_for_linter(snapshot: Snapshot) -> HardwareProfile | None:
    """Convert a snapshot to the linter's hardware profile; None if nothing is known about the GPU.

    With several GPUs, the weakest one counts, since a program may run on any. Accelerators of other vendors are
    ignored.
    """
    if not snapshot.gpus:
        unclear = (
            snapshot.system.accelerator is not None
            or snapshot.system.platform == "darwin"
            or snapshot.driver is not None
        )
        return None if unclear else HardwareProfile(None, ())
    judged = [(half_types(gpu.name, gpu.capability), gpu.name) for gpu in snapshot.gpus]
    if any(types is None for types, _ in judged):
        return None
    types, name = min(judged, key=lambda each: len(each[0] or ()))
    return HardwareProfile(name, types or ())
