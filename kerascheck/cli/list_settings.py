"""What ``kerascheck config`` prints: every key of the configuration, with what it takes, its default and its option."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kerascheck.finding import Severity
from kerascheck.project.config import SETTINGS, ConfigError, Pattern, Settings, did_you_mean


def described(key: str | None, options: Collection[str]) -> dict[str, dict[str, Any]]:
    """The settings by key, or the one that is named: ``meaning``, ``type``, ``default`` (null: see ``unset``), ``unset`` and ``option``.

    Args:
        key: the one to describe; None: all.
        options: the names of the command line's options, such as ``--select``.

    Raises:
        ConfigError: there is no such key.
    """
    if key is not None and key not in SETTINGS:
        raise ConfigError(f"there is no setting '{key}'{did_you_mean(key, SETTINGS)}")
    return {name: _described(name, options) for name in SETTINGS if key in (None, name)}


def lines(settings: Mapping[str, Mapping[str, Any]], width: int) -> Iterator[str]:
    """The same for people."""
    for key, told in settings.items():
        default = told["unset"] if told["default"] is None else json.dumps(told["default"], ensure_ascii=False)
        yield key
        yield from textwrap.wrap(told["meaning"], width, initial_indent="  ", subsequent_indent="  ")
        for name, value in (("type", told["type"]), ("default", default), ("option", told["option"])):
            if value:
                yield from textwrap.wrap(
                    f"{name}: {value}", width, initial_indent="  ", subsequent_indent="    ",
                    break_long_words=False, break_on_hyphens=False,
                )  # fmt: skip


def _described(key: str, options: Collection[str]) -> dict[str, Any]:
    setting, option = SETTINGS[key], f"--{key}"
    return {
        "meaning": setting.meaning,
        "type": setting.kind,
        "default": _default(key),
        "unset": setting.unset or None,
        "option": option if option in options else None,
    }


def _default(key: str) -> Any:
    """The default as TOML writes it; None where no value stands for it."""
    if SETTINGS[key].unset:
        return None
    value = getattr(Settings(), key.replace("-", "_"), ())
    if isinstance(value, Severity):
        return str(value)
    if key == "per-file-ignores":
        return dict(value)
    return [each.glob if isinstance(each, Pattern) else each for each in value] if isinstance(value, tuple) else value
