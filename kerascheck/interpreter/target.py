"""Target versions: TensorFlow, Keras and the backend, from settings, requirements and code, in this order."""

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
"""Older versions of Keras are a separate package, for TensorFlow 2.1 and older."""


class VersionSource(enum.Enum):
    """The source of a version that is not from a requirement."""

    BY_SETTING = enum.auto()
    BY_CODE = enum.auto()
    BY_TENSORFLOW = enum.auto()
    """Implied by the TensorFlow version."""
    BY_KERAS = enum.auto()
    BY_NOTHING = enum.auto()
    """The default."""


class VersionHints:
    """Version hints from a module's code; this base class provides none."""

    @property
    def is_of_tensorflow_1(self) -> bool:
        """Whether the code runs only with TensorFlow 1."""
        return False

    @property
    def is_of_multi_backend_keras(self) -> bool:
        """Whether the code is for a Keras that is a separate package."""
        return False

    @property
    def is_of_keras_2(self) -> bool:
        """Whether the code is for a Keras before version 3."""
        return False

    @property
    def backend(self) -> str | None:
        """The Keras backend that the code selects."""
        return None


@dataclass(frozen=True, slots=True)
class Target:
    """The target versions of a module, each with its source: a requirement or a :class:`VersionSource`."""

    runtime: Runtime
    tensorflow: Pin | VersionSource
    keras: Pin | VersionSource
    backend: VersionSource

    @property
    def assumed(self) -> str | None:
        """The assumed version, such as "TensorFlow 2.21"; None if the source sets it.

        Also counts as assumed if several versions, and some before Keras 3, are allowed.
        """
        if _leaves(self.tensorflow, TENSORFLOW_RELEASES, KERAS_3_SINCE) or _leaves(self.keras, KERAS_RELEASES, (3, 0)):
            return None
        return "TensorFlow {}.{}".format(*self.runtime.tensorflow)


def _leaves(source: Pin | VersionSource, releases: tuple[tuple[int, int], ...], since: tuple[int, int]) -> bool:
    """Whether a setting or a requirement excludes all releases before one, or names a single release."""
    if isinstance(source, Pin):
        oldest = oldest_allowed(source.specifier, releases)
        return oldest is not None and (oldest >= since or oldest == newest_allowed(source.specifier, releases))
    return source is VersionSource.BY_SETTING


def target_of(settings: Settings, pins: Mapping[str, Pin], hints: VersionHints) -> Target:
    """The target versions of a module.

    Args:
        pins: the bounds of its requirements, by package: see
            :func:`~kerascheck.project.requirements.pinned_versions`.
    """
    tensorflow, source = _tensorflow(settings, pins, hints)
    pinned = newest_allowed(pins["keras"].specifier, KERAS_RELEASES) if "keras" in pins else None
    # Newer TensorFlow versions use tf.keras.
    multi_backend = settings.keras is None and (
        pinned is not None and pinned < _LAST_MULTI_BACKEND and (tensorflow or (2, 1)) <= (2, 1)
        or pinned is None and tensorflow is None and hints.is_of_multi_backend_keras
    )  # fmt: skip
    if tensorflow is None:
        tensorflow, source = (
            ((2, 1), VersionSource.BY_KERAS) if multi_backend else (NEWEST_TENSORFLOW, VersionSource.BY_NOTHING)
        )
    keras, keras_source = _keras(settings, pins, hints, pinned, multi_backend, tensorflow)
    backend = settings.backend or hints.backend
    backend_source = (
        VersionSource.BY_SETTING
        if settings.backend
        else VersionSource.BY_CODE
        if hints.backend
        else VersionSource.BY_NOTHING
    )
    return Target(
        Runtime(tensorflow, keras, backend or "tensorflow", multi_backend, pinned or KERAS_RELEASES[-1]),
        source,
        keras_source,
        backend_source,
    )


def _tensorflow(
    settings: Settings, pins: Mapping[str, Pin], hints: VersionHints
) -> tuple[tuple[int, int] | None, Pin | VersionSource]:
    if settings.target_tensorflow is not None:
        return parse_version(settings.target_tensorflow), VersionSource.BY_SETTING
    if "tensorflow" in pins:
        return newest_allowed(pins["tensorflow"].specifier, TENSORFLOW_RELEASES), pins["tensorflow"]
    return (_LAST_1, VersionSource.BY_CODE) if hints.is_of_tensorflow_1 else (None, VersionSource.BY_NOTHING)


def _keras(
    settings: Settings,
    pins: Mapping[str, Pin],
    hints: VersionHints,
    pinned: tuple[int, int] | None,
    multi_backend: bool,
    tensorflow: tuple[int, int],
) -> tuple[int, Pin | VersionSource]:
    if settings.keras is not None:
        return int(settings.keras), VersionSource.BY_SETTING
    if multi_backend or hints.is_of_keras_2:
        return 2, pins["keras"] if multi_backend and pinned is not None else VersionSource.BY_CODE
    if pinned is not None:
        return max(pinned[0], 2), pins["keras"]
    return 3 if tensorflow >= KERAS_3_SINCE else 2, VersionSource.BY_TENSORFLOW
