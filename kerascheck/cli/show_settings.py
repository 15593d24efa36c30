"""Output of ``--show-settings``: the settings of a file or folder, inferred values, and the source of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from kerascheck.catalog import registry
from kerascheck.finding import Severity
from kerascheck.interpreter.target import Target, VersionHints, VersionSource, target_of
from kerascheck.project.config import Configuration, Pattern, Settings
from kerascheck.project.requirements import Pin, Stated, kind_of, pinned_versions
from kerascheck.source import display_path, read

_PRINTED_APART = ("origin", "extend", "selections", "stated_in", "machine", "obeys_comments")
_NEEDED_BY_TENSORFLOW = {"python": "Python", "numpy": "NumPy"}


def lines(
    path: str, configuration: Configuration, baseline: tuple[str | None, str | None] = (None, None)
) -> Iterator[str]:
    """Yield lines of the form ``key = value  (source)``. For a script, versions are also inferred from its code.

    Args:
        baseline: the command-line option that sets the baseline, None if none does, and the file that it names.

    Raises:
        ConfigError: a setting cannot be used.
        ValueError: the script cannot be read or parsed.
    """
    folder = os.path.abspath(path) if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    settings = configuration.for_folder(folder)
    registry.validate(settings)
    option, named = baseline
    if option is not None:
        settings = replace(settings, baseline=named, stated_in={**settings.stated_in, "baseline": (option,)})
    target = _target(path, folder, settings)
    inferred = {
        "target-tensorflow": (target.runtime.tensorflow_version, target.tensorflow),
        "keras": (target.runtime.keras, target.keras),
        "backend": (target.runtime.backend, target.backend),
    }
    yield f"configuration file = {settings.origin or 'none'}"
    extended = "none" if settings.extend is None else display_path(settings.extend)
    yield f"extend = {extended}  ({_stated(settings, 'extend')})"
    yield from _selection(settings)
    for key in (item.name.replace("_", "-") for item in fields(settings) if item.name not in _PRINTED_APART):
        if key in inferred:
            value, told = inferred[key]
            default = "default: the newest known" if key == "target-tensorflow" else "default"
            yield f"{key} = {value}  ({_place(told, path, settings, key) or default})"
        else:
            value = getattr(settings, key.replace("-", "_"))
            value = {pattern.glob: rules for pattern, rules in value} if key == "per-file-ignores" else value
            yield f"{key} = {_written(value)}  ({_stated(settings, key)})"
    yield "rules = " + " ".join(spec.code for spec in registry.enabled(settings.selections))


def _target(path: str, folder: str, settings: Settings) -> Target:
    from kerascheck.lint.trigger_search import mentions_keras

    if os.path.isfile(path) and kind_of(path) is None:
        source = read(path)
        if mentions_keras(source.text.encode("utf-8", "surrogatepass")):
            from kerascheck.lint.analyze_file import Analysis, FileResult

            result = FileResult(path)
            module = Analysis([source]).load(source, settings, result)
            if module is None:
                raise ValueError(result.errors[0].message)
            target: Target = module.target
            return target
    return target_of(settings, pinned_versions(os.path.join(folder, "train.py")), VersionHints())


def _selection(settings: Settings) -> Iterator[str]:
    levels = list(settings.selections)
    chosen = max((index for index, level in enumerate(levels) if level.select is not None), default=0)
    # ``select`` of a later level replaces all earlier levels.
    select, levels = (levels[chosen].select if levels else None), levels[chosen:]
    yield f"select = {'the rules that are on by default' if select is None else _written(select)}  ({_stated(settings, 'select')})"
    yield f"extend-select = {_written([rule for level in levels for rule in level.extend_select])}  ({_stated(settings, 'extend-select')})"
    yield f"ignore = {_written([rule for level in levels for rule in level.ignore])}  ({_stated(settings, 'ignore', 'extend-ignore')})"


def _stated(settings: Settings, *keys: str) -> str:
    return ", ".join(dict.fromkeys(place for key in keys for place in settings.stated_in.get(key, ()))) or "default"


def _place(told: Pin | VersionSource, path: str, settings: Settings, key: str) -> str | None:
    """The source of a version; None for the default."""
    if isinstance(told, Pin):
        return _requirement(told.stated, path)
    return {
        VersionSource.BY_SETTING: _stated(settings, key),
        VersionSource.BY_CODE: f"from the code of {path}",
        VersionSource.BY_TENSORFLOW: "from target-tensorflow",
        VersionSource.BY_KERAS: "from keras",
    }.get(told)


def _requirement(stated: Stated, path: str) -> str:
    if not stated.path:
        return f"{path}: {stated.name}{stated.specifier}"
    place = display_path(stated.path) + (f":{stated.line}" if stated.line else "")
    needed = _NEEDED_BY_TENSORFLOW.get(stated.name.lower())
    return f"{place}, the newest for its {needed}" if needed else place


def _written(value: Any) -> str:
    """Format a value as in the configuration file, but without quotation marks around single words."""
    if value is None or isinstance(value, Severity):
        return str(value).lower()
    if isinstance(value, tuple):
        value = [item.glob if isinstance(item, Pattern) else item for item in value]
    return json.dumps(value, ensure_ascii=False)
