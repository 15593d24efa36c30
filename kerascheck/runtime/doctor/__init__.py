"""Diagnosis of a machine: takes a snapshot of it, and checks what keeps Keras from training fast.

>>> from kerascheck.runtime.doctor import diagnose, take_snapshot
>>> results = diagnose(take_snapshot())
"""

from kerascheck.runtime.doctor.checks import Result, Status, diagnose
from kerascheck.runtime.doctor.look import take_snapshot
from kerascheck.runtime.doctor.machine import machine_for_linter
from kerascheck.runtime.doctor.snapshot import Snapshot

__all__ = ["Result", "Snapshot", "Status", "diagnose", "machine_for_linter", "take_snapshot"]
