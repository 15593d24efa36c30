"""The checks: functions of a snapshot, each of which says what it saw and what to do."""

from kerascheck.runtime.doctor.checks.common import Result, Status
from kerascheck.runtime.doctor.checks.registry import CHECKS, diagnose

__all__ = ["CHECKS", "Result", "Status", "diagnose"]
