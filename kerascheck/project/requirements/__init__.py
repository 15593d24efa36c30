"""Requirements files: the packages that they require, and the versions that they pin."""

from kerascheck.project.requirements.file import Requirement, RequirementsFile
from kerascheck.project.requirements.folders import parts, stating
from kerascheck.project.requirements.kinds import is_about_tensorflow, is_named_for_gpu, kind_of
from kerascheck.project.requirements.packages import Pin, Stated
from kerascheck.project.requirements.sagemaker import estimator_versions, estimators, launchers
from kerascheck.project.requirements.versions import (
    command_versions,
    invalidate,
    lets_memory_grow,
    pinned_versions,
    script_versions,
    wants_cpu,
)

__all__ = [
    "Pin",
    "Requirement",
    "RequirementsFile",
    "Stated",
    "command_versions",
    "estimator_versions",
    "estimators",
    "invalidate",
    "is_about_tensorflow",
    "is_named_for_gpu",
    "kind_of",
    "launchers",
    "lets_memory_grow",
    "parts",
    "pinned_versions",
    "script_versions",
    "stating",
    "wants_cpu",
]
