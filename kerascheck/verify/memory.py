"""Evidence kept in the user's project: ``.kerascheck/evidence.json``.

A verdict is kept under a key that survives line moves: rule, text of the statement without its layout, and the name
of the function that it stands in. It is used only while the code of that function, the versions of the frameworks and
the machine class are those that it was measured with.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerascheck.finding import Finding
from kerascheck.verify.files import write_whole

if TYPE_CHECKING:
    from kerascheck.source import Source
    from kerascheck.verify.result import Verification

_FILE = Path(".kerascheck", "evidence.json")
_SCHEMA = 1
_LARGEST = 2000
"""Entries kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verdict from an earlier run."""

    status: str
    """A value of :class:`kerascheck.verify.compare.Status`."""
    reason: str
    ratio: float | None
    low: float | None
    high: float | None
    date: str
    versions: Mapping[str, str]

    def __str__(self) -> str:
        if self.ratio is None:
            return self.status
        return f"{self.status} x{self.ratio:.2f} [{self.low:.2f}-{self.high:.2f}]"


def project_folder(path: str | os.PathLike[str]) -> Path:
    """The project that a file belongs to: the nearest folder above with a ``.kerascheck`` folder, ``pyproject.toml`` or ``.git``."""
    start = Path(os.path.abspath(path)).parent
    for folder in (start, *start.parents):
        if any((folder / name).exists() for name in (".kerascheck", "pyproject.toml", ".git")):
            return folder
    return start


def key(finding: Finding, source: Source) -> tuple[str, str]:
    """(key, state): the key names the finding across line moves, the state changes when the code around it changes."""
    statement, name, body = _surroundings(finding, source)
    identity = "\0".join((finding.code, name, statement))
    return _digest(identity), _digest(body)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _surroundings(finding: Finding, source: Source) -> tuple[str, str, str]:
    """The finding's statement, the qualified name of its function, and that function's code, all without layout."""
    line = finding.location.line
    if finding.location.cell is not None:
        cell = next(c for c in source.cells if c.index == finding.location.cell)
        line += source.line_of(cell.start) - 1
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return source.text.splitlines()[line - 1].strip(), "", source.text
    names: list[str] = []
    scope: ast.AST = tree
    smallest: ast.stmt | None = None
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        for child in ast.iter_child_nodes(node):
            first, last = getattr(child, "lineno", None), getattr(child, "end_lineno", None)
            if first is None or not first <= line <= last:
                if first is None:
                    pending.append(child)
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.append(child.name)
                scope = child
            elif isinstance(child, ast.stmt):
                smallest = child
            pending.append(child)
    statement = ast.unparse(smallest) if smallest is not None else ""
    return statement, ".".join(names), ast.unparse(scope)


def remember(result: Verification) -> Path | None:
    """Keep the verdicts on single findings; returns the file, or None if there was nothing to keep or it cannot be written."""
    fresh = {}
    for verdict in result.comparison.verdicts:
        repair = result.repairs.get(verdict.name)
        if repair is None or len(repair.findings) != 1 or verdict.name.startswith("all together") or verdict.ratio is None:
            continue
        finding = repair.findings[0]
        source = result.linted.sources[os.path.abspath(finding.location.path)]
        identity, state = key(finding, source)
        ratio = verdict.ratio
        fresh[identity] = {
            "rule": finding.code,
            "state": state,
            "status": verdict.status.value,
            "reason": verdict.reason,
            "ratio": ratio.value,
            "low": ratio.low,
            "high": ratio.high,
            "date": time.strftime("%Y-%m-%d"),
            "versions": result.versions,
            "machine": dict(result.machine),
        }
    if not fresh:
        return None
    path = project_folder(result.linted.script) / _FILE
    kept = {k: v for k, v in _read(path).items() if k not in fresh}
    entries = dict([*kept.items(), *fresh.items()][-_LARGEST:])
    try:
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            # Evidence belongs to a machine: it is not for the repository, unless its owner says so.
            ignore = path.parent / ".gitignore"
            if not ignore.exists():
                write_whole(ignore, "*\n")
        write_whole(path, json.dumps({"version": _SCHEMA, "evidence": entries}, indent=1) + "\n")
    except OSError:
        return None
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or content.get("version") != _SCHEMA or not isinstance(content.get("evidence"), dict):
        return {}
    return content["evidence"]


def recall(
    findings: Iterable[Finding], sources: Mapping[str, Source], versions: Mapping[str, str] | None = None
) -> dict[Finding, Evidence]:
    """What earlier runs on this machine class say about ``findings``.

    ``sources``: by the path of the findings' locations. ``versions``: of installed frameworks by name, see
    :func:`installed_versions` (the default); evidence from others is left out, and so is evidence about code that has changed since.
    """
    from kerascheck.verify.compare import machine

    versions = installed_versions() if versions is None else versions
    found: dict[Finding, Evidence] = {}
    files: dict[Path, dict[str, Any]] = {}
    here = json.loads(json.dumps(machine()))
    for finding in findings:
        path = project_folder(finding.location.path) / _FILE
        entries = files.setdefault(path, _read(path)) if path in files or path.exists() else {}
        source = sources.get(finding.location.path)
        if not entries or source is None:
            continue
        identity, state = key(finding, source)
        entry = entries.get(identity)
        try:
            if entry is None or entry["state"] != state or entry["machine"] != here:
                continue
            if any(versions.get(name) not in (None, version) for name, version in entry["versions"].items()):
                continue
            found[finding] = Evidence(
                entry["status"], entry["reason"], entry["ratio"], entry["low"], entry["high"], entry["date"], entry["versions"]
            )
        except (KeyError, TypeError, AttributeError):
            continue  # written by another program
    return found


def installed_versions() -> dict[str, str]:
    """Versions of the frameworks in this environment, without importing them."""
    from importlib import metadata

    found = {}
    for name in ("keras", "tensorflow"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
