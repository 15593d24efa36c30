"""What code is judged for: the TensorFlow, the Keras and the backend that settings, requirements and the code itself tell, in this order."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from kerascheck.knowledge.runtime import (
    KERAS_3_SINCE,
    KERAS_RELEASES,
    NEWEST_TENSORFLOW,
    TENSORFLOW_RELEASES,
    Runtime,
    newest_allowed,
    oldest_allowed,
    parse_version,
)
from kerascheck.project.config import Settings
from kerascheck.project.requirements import Pin

_LAST_1 = (1, 15)
_LAST_MULTI_BACKEND = (2, 4)
"""Keras before this one is a package of its own, made for TensorFlow 2.1 and older."""


class VersionSource(enum.Enum):
    """What tells a version, where no requirement does."""

    BY_SETTING = enum.auto()
    BY_CODE = enum.auto()
    BY_TENSORFLOW = enum.auto()
    """It goes with the TensorFlow that was told."""
    BY_KERAS = enum.auto()
    BY_NOTHING = enum.auto()
    """The default."""


class VersionHints:
    """What a module's code tells of the versions that it is written for; here that of none, which tells nothing."""

    @property
    def is_of_tensorflow_1(self) -> bool:
        """Whether no other version runs it."""
        return False

    @property
    def is_of_multi_backend_keras(self) -> bool:
        """Whether it is for a Keras that is a package of its own."""
        return False

    @property
    def is_of_keras_2(self) -> bool:
        """Whether it is for a Keras before version 3."""
        return False

    @property
    def backend(self) -> str | None:
        """The backend of Keras that it chooses."""
        return None


@dataclass(frozen=True, slots=True)
class Target:
    """The versions that a module is judged for, each with what tells it: a requirement, or something else."""

    runtime: Runtime
    tensorflow: Pin | VersionSource
    keras: Pin | VersionSource
    backend: VersionSource

    @property
    def assumed(self) -> str | None:
        """The version that is assumed, as "TensorFlow 2.21", where none is told or an older Keras than 3 is allowed, too; else None."""
        if _leaves(self.tensorflow, TENSORFLOW_RELEASES, KERAS_3_SINCE) or _leaves(self.keras, KERAS_RELEASES, (3, 0)):
            return None
        return "TensorFlow {}.{}".format(*self.runtime.tensorflow)


def _leaves(told: Pin | VersionSource, releases: tuple[tuple[int, int], ...], since: tuple[int, int]) -> bool:
    """Whether a setting or a requirement allows no release but those since one."""
    if isinstance(told, Pin):
        oldest = oldest_allowed(told.specifier, releases)
        return oldest is not None and oldest >= since
    return told is VersionSource.BY_SETTING


def target_of(settings: Settings, pins: Mapping[str, Pin], signs: VersionHints) -> Target:
    """The versions for a module.

    Args:
        pins: the bounds of its requirements, by package: see :func:`~kerascheck.project.requirements.pinned_versions`.
    """
    tensorflow, told = _tensorflow(settings, pins, signs)
    pinned = newest_allowed(pins["keras"].specifier, KERAS_RELEASES) if "keras" in pins else None
    # Beside a newer TensorFlow it is tf.keras that counts.
    multi_backend = settings.keras is None and (
        pinned is not None and pinned < _LAST_MULTI_BACKEND and (tensorflow or (2, 1)) <= (2, 1)
        or pinned is None and tensorflow is None and signs.is_of_multi_backend_keras
    )  # fmt: skip
    if tensorflow is None:
        tensorflow, told = (
            ((2, 1), VersionSource.BY_KERAS) if multi_backend else (NEWEST_TENSORFLOW, VersionSource.BY_NOTHING)
        )
    keras, keras_told = _keras(settings, pins, signs, pinned, multi_backend, tensorflow)
    backend = settings.backend or signs.backend
    backend_told = (
        VersionSource.BY_SETTING
        if settings.backend
        else VersionSource.BY_CODE
        if signs.backend
        else VersionSource.BY_NOTHING
    )
    return Target(
        Runtime(tensorflow, keras, backend or "tensorflow", multi_backend, pinned or KERAS_RELEASES[-1]),
        told,
        keras_told,
        backend_told,
    )


def _tensorflow(
    settings: Settings, pins: Mapping[str, Pin], signs: VersionHints
) -> tuple[tuple[int, int] | None, Pin | VersionSource]:
    if settings.target_tensorflow is not None:
        return parse_version(settings.target_tensorflow), VersionSource.BY_SETTING
    if "tensorflow" in pins:
        return newest_allowed(pins["tensorflow"].specifier, TENSORFLOW_RELEASES), pins["tensorflow"]
    return (_LAST_1, VersionSource.BY_CODE) if signs.is_of_tensorflow_1 else (None, VersionSource.BY_NOTHING)


def _keras(
    settings: Settings,
    pins: Mapping[str, Pin],
    signs: VersionHints,
    pinned: tuple[int, int] | None,
    multi_backend: bool,
    tensorflow: tuple[int, int],
) -> tuple[int, Pin | VersionSource]:
    if settings.keras is not None:
        return int(settings.keras), VersionSource.BY_SETTING
    if multi_backend or signs.is_of_keras_2:
        return 2, pins["keras"] if multi_backend and pinned is not None else VersionSource.BY_CODE
    if pinned is not None:
        return max(pinned[0], 2), pins["keras"]
    return 3 if tensorflow >= KERAS_3_SINCE else 2, VersionSource.BY_TENSORFLOW
