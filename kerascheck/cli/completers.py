"""Completers: functions that complete the values of options and arguments in a shell.

Every command refers to them, so the module imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The codes and names of rules."""
    return _items(_codes_and_names(), incomplete)


def rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The codes and names of rules and ``ALL``, appended to a list separated by commas."""
    before, comma, word = incomplete.rpartition(",")
    there = before.split(",")
    known = [("ALL", "every rule"), *_codes_and_names()]
    return _items([each for each in known if each[0] not in there], word, before + comma)


def setting(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The keys of the configuration."""
    from kerascheck.project.config import SETTINGS

    return _items([(key, setting.meaning) for key, setting in SETTINGS.items()], incomplete)


def path(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Files and folders; the shell lists them."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def folder(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Folders; the shell lists them."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def _codes_and_names() -> Iterator[tuple[str, str]]:
    """The words that name one rule, with a description; none if third-party rules are unusable."""
    from kerascheck.catalog import registry
    from kerascheck.project.config import ConfigError

    try:
        specs = registry.rule_specs()
    except ConfigError:
        return
    yield from ((spec.code, f"{spec.name}: {spec.summary}") for spec in specs)
    yield from ((spec.name, f"{spec.code}: {spec.summary}") for spec in specs)


def _items(known: Iterable[tuple[str, str]], incomplete: str, before: str = "") -> list[CompletionItem[str]]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(before + word, help=text) for word, text in known if word.startswith(incomplete)]
