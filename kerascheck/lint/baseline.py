"""Baselines: files of known findings, so that runs report only new ones."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kerascheck.finding import Finding, Severity
from kerascheck.project.config import ConfigError, Settings
from kerascheck.report.report import code_of
from kerascheck.source.reading import display_path, read_bytes

if TYPE_CHECKING:
    from kerascheck.source import Source

_VERSION = 1
_MARK = "kerascheck-baseline"
_LONGEST_TEXT = 100


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    """One finding of a baseline, identified by path, code and fingerprint; the text is for readers."""

    path: str
    """Relative to the folder of the baseline, with forward slashes."""
    code: str
    text: str
    """The first line of the finding, shortened."""
    fingerprint: str
    """The hash of its lines without white space and comments."""
    severity: Severity
    pedantic: bool = False


class Baseline:
    """The entries of a baseline; each hides one finding.

    Args:
        path: the file; raises :class:`ConfigError` if it is missing or no baseline.
    """

    def __init__(self, path: str):
        folder = _real(os.path.dirname(os.path.abspath(path)))
        self._entries: dict[tuple[str, str], dict[str, list[Entry]]] = {}
        for entry in _read(path):
            place = os.path.normpath(os.path.join(folder, entry.path))
            self._entries.setdefault((entry.code, entry.fingerprint), {}).setdefault(place, []).append(entry)

    def hide(
        self, findings: Iterable[Finding], sources: Mapping[str, Source], checked: Collection[str]
    ) -> Iterator[Finding]:
        """Yield the findings that the baseline hides; each uses up one entry.

        An entry matches findings in its own file first. It then matches the same code in another file, if its own file
        is gone or was checked without a match: the file was renamed, or the code was moved.

        Args:
            findings: sorted by location.
            sources: the source of every path that has a finding.
            checked: the files that were checked completely.
        """
        elsewhere = []
        for finding in findings:
            entries = self._entries.get(_key(finding, sources), {})
            own = entries.get(place_of(finding.location.path))
            if own:
                own.pop()
                yield finding
            elif entries:
                elsewhere.append((finding, entries))
        places = set(map(place_of, checked)) if elsewhere else set()
        for finding, entries in elsewhere:
            free = (own for place, own in sorted(entries.items()) if own and (place in places or _is_gone(place)))
            if found := next(free, None):
                found.pop()
                yield finding

    def gone(self, checked: Mapping[str, Settings], tops: Sequence[str]) -> int:
        """Count the unused entries whose finding is gone.

        Args:
            checked: the settings of the files that were checked completely.
            tops: the requested files and folders; an entry for a missing file below them counts as gone.
        """
        left = [(place, own) for entries in self._entries.values() for place, own in entries.items() if own]
        if not left:
            return 0
        settings = {place_of(path): each for path, each in checked.items()}
        folders = [os.path.join(place_of(top), "") for top in tops]
        found = 0
        for place, own in left:
            if place in settings:
                found += sum(_would_be_reported(entry, place, settings[place]) for entry in own)
            elif any(os.path.join(place, "").startswith(folder) for folder in folders) and _is_gone(place):
                found += len(own)
        return found


def write(path: str, findings: Sequence[Finding], sources: Mapping[str, Source]) -> None:
    """Write a baseline of findings, grouped by file, in an order independent of line numbers.

    Raises:
        ConfigError: the file exists and is no baseline.
        OSError: the file cannot be written.
    """
    if os.path.isfile(path) and (there := read_bytes(path)).strip() and _MARK.encode() not in there:
        raise ConfigError(f"{display_path(path)}: this is no baseline of kerascheck, so it is not overwritten")
    folder = _real(os.path.dirname(os.path.abspath(path)))
    entries = sorted(_entry(finding, sources, folder) for finding in findings)
    lines = ",\n".join(f"    {json.dumps(_object(entry), ensure_ascii=False)}" for entry in entries)
    listed = f"[\n{lines}\n  ]" if entries else "[]"
    data = f'{{\n  "{_MARK}": {_VERSION},\n  "findings": {listed}\n}}\n'.encode("utf-8", "backslashreplace")
    # Imported here because most runs write no baseline.
    from kerascheck.source.writing import write_atomically

    write_atomically(path, data, create=True)


def fingerprint(finding: Finding, source: Source | None) -> str:
    """A hash of a finding's code that survives a move within or between files: 16 hexadecimal digits."""
    return hashlib.sha256(code_of(finding, source).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def place_of(path: str) -> str:
    """The absolute path of a file with symbolic links in its folder resolved."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(_real(folder), name)


@functools.lru_cache(maxsize=10_000)
def _real(folder: str) -> str:
    return os.path.realpath(folder)


def _key(finding: Finding, sources: Mapping[str, Source]) -> tuple[str, str]:
    return finding.code, fingerprint(finding, sources.get(finding.location.path))


def _is_gone(place: str) -> bool:
    return not os.path.lexists(place)


def _would_be_reported(entry: Entry, place: str, settings: Settings) -> bool:
    """Whether a run with these settings reports the finding, if it is there."""
    from kerascheck.catalog import registry
    from kerascheck.lint.analyze_file import is_left_out

    spec = next((each for each in registry.enabled(settings.selections) if each.code == entry.code), None)
    return (
        spec is not None
        and entry.severity >= settings.min_severity
        and (settings.pedantic or not entry.pedantic)
        and not is_left_out(settings, place, entry.code, spec.name)
    )


def _entry(finding: Finding, sources: Mapping[str, Source], folder: str) -> Entry:
    place, path = finding.location, place_of(finding.location.path)
    source = sources[place.path]
    text = source.line_text(source.offset(source.lines_above(place.cell) + place.line, 1)).strip()
    try:
        path = os.path.relpath(path, folder)
    except ValueError:
        # There is no relative path to another drive.
        pass
    return Entry(
        path.replace(os.sep, "/"),
        finding.code,
        text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}...",
        fingerprint(finding, source),
        finding.severity,
        finding.pedantic,
    )


def _object(entry: Entry) -> dict[str, Any]:
    return {
        "path": entry.path,
        "code": entry.code,
        "severity": str(entry.severity),
        **({"pedantic": True} if entry.pedantic else {}),
        "fingerprint": entry.fingerprint,
        "text": entry.text,
    }


def _read(path: str) -> list[Entry]:
    shown = display_path(path)
    again = f"write it again with --write-baseline {shown}"
    try:
        data = read_bytes(path)
        if _MARK.encode() not in data:
            raise ConfigError(f"{shown}: this is no baseline of kerascheck; name the file that --write-baseline wrote")
        document = json.loads(data.decode())
    except FileNotFoundError:
        raise ConfigError(f"{shown}: no such baseline; write it with --write-baseline {shown}") from None
    except OSError as problem:
        raise ConfigError(f"{shown}: the baseline cannot be read: {problem.strerror or problem}") from None
    except json.JSONDecodeError as problem:
        raise ConfigError(
            f"{shown}:{problem.lineno}: the baseline is damaged, it is no JSON ({problem.msg}); {again}"
        ) from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{shown}: the baseline is damaged, it is no JSON; {again}") from None
    if not isinstance(document, dict) or document.get(_MARK) != _VERSION:
        raise ConfigError(f"{shown}: the baseline was written by another version of kerascheck; {again}")
    try:
        return [_parsed(each) for each in document["findings"]]
    except (KeyError, TypeError, ValueError):
        raise ConfigError(f"{shown}: the baseline is damaged, an entry lacks a part; {again}") from None


def _parsed(entry: Any) -> Entry:
    """Raises KeyError, TypeError and ValueError."""
    path, code, text, known_by, severity = (entry[each] for each in ("path", "code", "text", "fingerprint", "severity"))
    if not all(isinstance(each, str) and "\0" not in each for each in (path, code, text, known_by, severity)):
        raise TypeError
    return Entry(path, code, text, known_by, Severity[severity.upper()], bool(entry.get("pedantic")))
