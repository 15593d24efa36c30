"""The command ``config``: list the settings of configuration files, or describe one."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import click

from kerascheck.cli import completers
from kerascheck.cli.check import check
from kerascheck.finding import Severity
from kerascheck.project.config import SETTINGS, ConfigError, Pattern, Settings, did_you_mean


@click.command("config", short_help="List the settings, or describe one.")
@click.argument("key", required=False, shell_complete=completers.setting)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config_command(key: str | None, output_format: str) -> int:
    """List the settings of configuration files, or describe KEY: what it takes, its default and its option."""
    from kerascheck.report.text import terminal_columns

    options = {name for parameter in check.params for name in parameter.opts}
    try:
        settings = _descriptions(key, options)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    if output_format == "json":
        click.echo(json.dumps(settings, indent=2, ensure_ascii=False))
    else:
        for line in _lines(settings, min(terminal_columns(), 120)):
            click.echo(line)
    return 0


def _descriptions(key: str | None, options: Collection[str]) -> dict[str, dict[str, Any]]:
    """Describe all settings or one: ``meaning``, ``type``, ``default`` (null: see ``unset``), ``unset`` and ``option``.

    Args:
        key: the one to describe; None: all.
        options: the names of command-line options, such as ``--select``.

    Raises:
        ConfigError: the key is unknown.
    """
    if key is not None and key not in SETTINGS:
        raise ConfigError(f"there is no setting '{key}'{did_you_mean(key, SETTINGS)}")
    return {name: _description(name, options) for name in SETTINGS if key in (None, name)}


def _lines(settings: Mapping[str, Mapping[str, Any]], width: int) -> Iterator[str]:
    """The descriptions as text."""
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


def _description(key: str, options: Collection[str]) -> dict[str, Any]:
    setting, option = SETTINGS[key], f"--{key}"
    return {
        "meaning": setting.meaning,
        "type": setting.kind,
        "default": _default(key),
        "unset": setting.unset or None,
        "option": option if option in options else None,
    }


def _default(key: str) -> Any:
    """The default as TOML writes it; None if no value expresses it."""
    if SETTINGS[key].unset:
        return None
    value = getattr(Settings(), key.replace("-", "_"), ())
    if isinstance(value, Severity):
        return str(value)
    if key == "per-file-ignores":
        return dict(value)
    return [each.glob if isinstance(each, Pattern) else each for each in value] if isinstance(value, tuple) else value
