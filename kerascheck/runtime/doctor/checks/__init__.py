"""The checks: functions of a snapshot. Each returns its observation and its advice."""

from kerascheck.runtime.doctor.checks.common import Result, Status
from kerascheck.runtime.doctor.checks.registry import CHECKS, diagnose

__all__ = ["CHECKS", "Result", "Status", "diagnose"]
