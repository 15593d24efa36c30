"""Evidence stored in the user's project: ``.kerascheck/evidence.json``.

Each verdict is stored per machine under a key that survives line moves. The key consists of rule, file, function name
and the text of the statement without its layout. A verdict counts only if nothing that it depends on has changed: the
code of the function and of its dependencies in the file, the framework versions, and the machine class.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from kerascheck.finding import NO_EFFECT, Evidence, Finding, is_no_effect
from kerascheck.runtime.verify.files import write_whole

if TYPE_CHECKING:
    from kerascheck.catalog.measured import MachineJson
    from kerascheck.runtime.verify.result import Verification
    from kerascheck.source import Source

_FILE = Path(".kerascheck", "evidence.json")
_SCHEMA = 1
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NO_STATE = ""
"""State without code: it never matches, so the evidence counts as outdated."""
_LARGEST = 2000
"""Maximum number of entries; the oldest are dropped first."""


class _EntryJson(TypedDict):
    """A verdict on a finding in the file: what :func:`remember` writes. Entries that are read may be anybody's."""

    rule: str
    state: str
    """Of the code that was measured, see :func:`key`."""
    status: str
    reason: str
    ratio: float
    low: float
    high: float
    no_effect: float
    """As a share, see :attr:`kerascheck.runtime.verify.budget.Budget.no_effect`."""
    date: str
    """YYYY-MM-DD."""
    versions: Mapping[str, str]
    machine: MachineJson


def project_folder(path: str | os.PathLike[str]) -> Path:
    """Project folder of a file: the nearest parent that contains ``.kerascheck``, ``pyproject.toml`` or ``.git``."""
    start = Path(os.path.abspath(path)).parent
    for folder in (start, *start.parents):
        if any((folder / name).exists() for name in (".kerascheck", "pyproject.toml", ".git")):
            return folder
    return start


def key(finding: Finding, source: Source) -> tuple[str, str]:
    """(key, state): the key identifies the finding across line moves; the state changes with the code it depends on."""
    path = os.path.abspath(finding.location.path)
    name, statement, code = _surroundings(finding, source)
    identity = (finding.code, os.path.relpath(path, project_folder(path)).replace(os.sep, "/"), name, *statement)
    return _digest("\0".join(identity)), _digest("\0".join(code))


def _on(identity: str, machine: MachineJson) -> str:
    """Key of a finding's measurements on one machine, since every machine has a separate entry."""
    return f"{identity}@{_digest(json.dumps(machine, sort_keys=True))}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _surroundings(finding: Finding, source: Source) -> tuple[str, Sequence[str], Sequence[str]]:
    """Context of a finding without layout.

    Returns:
        The qualified name of its function, the parts that distinguish it from other findings there, and the code that
        its evidence depends on.
    """
    place, text = finding.location, source.text
    before = source.lines_above(place.cell)
    first, last = place.line + before, place.end_line + before
    every = text.splitlines()
    lines = every[first - 1 : last]
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    found = "".join("".join(lines).split())
    tree = _parse(text)
    if tree is None:
        return "", [found], [text]
    names: list[str] = []
    around: list[ast.stmt] = []
    node: ast.AST | None = tree
    while node is not None:
        node = next((child for child in _placed_children(node) if child.lineno <= first <= child.end_lineno), None)
        if isinstance(node, ast.stmt):
            around.append(node)
            if isinstance(node, _DEFINITIONS):
                names.append(node.name)
    begin = around[-1].lineno if around and not isinstance(around[-1], _DEFINITIONS) else first
    earlier = "".join("".join([*every[begin - 1 : first - 1], every[first - 1][: place.column - 1]]).split())
    # Links of one chain may have the same text.
    same = [found] * (1 + earlier.count(found))
    if not names:
        return "", [*same, *_statement(tree, around)], [ast.unparse(tree)]
    return ".".join(names), [*same, *_statement(around[0], around)], _with_what_it_uses(around[0], tree)


@functools.lru_cache(maxsize=1)
def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _statement(scope: ast.AST, around: Sequence[ast.stmt]) -> tuple[str, str]:
    """Text of the innermost statement, and the number of equal ones above it in ``scope``."""
    if not around or isinstance(around[-1], _DEFINITIONS):
        return "", "0"
    text, line = ast.unparse(around[-1]), around[-1].lineno
    same = (n for n in ast.walk(scope) if type(n) is type(around[-1]) and n.lineno < line and ast.unparse(n) == text)
    return text, str(sum(1 for _ in same))


def _with_what_it_uses(definition: ast.stmt, tree: ast.Module) -> list[str]:
    """A definition of a module, with the other statements of the module that it uses directly or indirectly."""
    binding: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for node in ast.walk(statement):
            name = node.name if isinstance(node, _DEFINITIONS) else node.id if isinstance(node, ast.Name) else None
            if name is not None and not isinstance(getattr(node, "ctx", None), ast.Load):
                binding.setdefault(name, []).append(statement)
    used = {definition: None}
    pending = [definition]
    while pending:
        names = {n.id for n in ast.walk(pending.pop()) if isinstance(n, ast.Name)}
        for statement in (s for name in names for s in binding.get(name, ()) if s not in used):
            used[statement] = None
            pending.append(statement)
    return [ast.unparse(statement) for statement in tree.body if statement in used]


def _placed_children(node: ast.AST) -> Iterator[Any]:
    """The nearest descendants that have lines, in order."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed_children(child)


def remember(result: Verification) -> Path | None:
    """Store the verdicts on single findings; returns the file, or None if nothing was stored."""
    from kerascheck.runtime.verify.verdict import Status

    fresh: dict[str, _EntryJson] = {}
    for verdict in result.comparison.verdicts:
        repair = result.repairs.get(verdict.name)
        if (
            repair is None
            or len(repair.findings) != 1
            or verdict.name.startswith("all together")
            or verdict.ratio is None
        ):
            continue
        if verdict.status is Status.INCONCLUSIVE:
            continue  # nothing is known
        finding = repair.findings[0]
        source = result.linted.sources[os.path.abspath(finding.location.path)]
        identity, state = key(finding, source)
        ratio = verdict.ratio
        fresh[_on(identity, result.machine.as_dict())] = {
            "rule": finding.code,
            "state": state,
            "status": verdict.status.value,
            "reason": verdict.reason,
            "ratio": ratio.value,
            "low": ratio.low,
            "high": ratio.high,
            "no_effect": verdict.no_effect,
            "date": time.strftime("%Y-%m-%d"),
            "versions": result.versions,
            "machine": result.machine.as_dict(),
        }
    if not fresh:
        return None
    path = project_folder(result.linted.script) / _FILE
    kept = {k: v for k, v in _read(path).items() if k not in fresh and not _shows_nothing(v)}
    entries = dict([*kept.items(), *fresh.items()][-_LARGEST:])
    try:
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            # Evidence belongs to one machine, so keep it out of the repository unless the owner decides otherwise.
            ignore = path.parent / ".gitignore"
            if not ignore.exists():
                write_whole(ignore, "*\n")
        _write(path, entries)
    except OSError:
        return None
    return path


def outdate(result: Verification, written: Collection[Finding]) -> None:
    """Mark the evidence about the findings of ``result`` as outdated, except those whose fixes were ``written``.

    The step time of the rewritten script differs, even if the code of a finding is the same. The evidence about written
    fixes becomes valid again only if the old code returns.
    """
    path = project_folder(result.linted.script) / _FILE
    entries, changed = _read(path), False
    for finding in result.linted.findings:
        if finding in written:
            continue
        identity, _ = key(finding, result.linted.sources[os.path.abspath(finding.location.path)])
        for name, entry in entries.items():
            if name.split("@")[0] == identity and isinstance(entry, dict):
                entry["state"] = _NO_STATE
                changed = True
    if changed:
        with contextlib.suppress(OSError):
            _write(path, entries)


def _write(path: Path, entries: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps({"version": _SCHEMA, "evidence": entries}, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = content.get("evidence") if isinstance(content, dict) and content.get("version") == _SCHEMA else None
    return found if isinstance(found, dict) else {}


def recall(
    findings: Iterable[Finding],
    sources: Mapping[str, Source],
    versions: Mapping[str, str] | None = None,
    target_of: Callable[[str], str | None] = lambda path: None,
) -> dict[Finding, Evidence]:
    """Look up the evidence of earlier runs about ``findings``.

    Evidence from other versions, other machines or changed code is marked (:attr:`Evidence.outdated`).

    Args:
        sources: by the path of the findings' locations.
        versions: of installed frameworks by name; None: :func:`installed_versions`.
        target_of: returns the TensorFlow version ("2.15") that the settings of a path declare, or None.
    """
    from kerascheck.runtime.verify.machine_class import machine

    versions = installed_versions() if versions is None else versions
    found: dict[Finding, Evidence] = {}
    files: dict[Path, dict[str, Any]] = {}
    here = machine().as_dict()
    for finding in findings:
        path = project_folder(finding.location.path) / _FILE
        entries = files[path] if path in files else files.setdefault(path, _read(path))
        source = sources.get(finding.location.path)
        if not entries or source is None:
            continue
        identity, state = key(finding, source)
        known = [
            _evidence(entry, state, here, versions, target_of(finding.location.path))
            for entry in _entries_of(identity, here, entries)
        ]
        # Prefer valid evidence, then the newest outdated one.
        best = min(filter(None, known), key=lambda evidence: evidence.outdated is not None, default=None)
        if best is not None:
            found[finding] = best
    return found


def _entries_of(identity: str, here: MachineJson, entries: Mapping[str, Any]) -> list[Any]:
    """Entries of a finding: first that of this machine, then those of others, the newest first."""
    own = [
        entries[name] for name in (_on(identity, here), identity) if name in entries
    ]  # the old format, written before 2026-11-24
    others = [entry for name, entry in entries.items() if name.startswith(f"{identity}@") and isinstance(entry, dict)]
    return own + sorted(
        (entry for entry in others if entry not in own), key=lambda entry: str(entry.get("date")), reverse=True
    )


def _evidence(
    entry: Any, state: str, here: MachineJson, installed: Mapping[str, str], target: str | None
) -> Evidence | None:
    """Evidence of an entry; None if it is inconclusive or was written by another program."""
    from kerascheck.runtime.verify.verdict import Status

    try:
        if _is_inconclusive(entry):
            return None
        ratio, low, high = (float(entry[name]) for name in ("ratio", "low", "high"))
        status, date = (
            Status(entry["status"]).value,
            time.strftime("%Y-%m-%d", time.strptime(entry["date"], "%Y-%m-%d")),
        )
        outdated = _why_outdated(entry, state, here, installed, target)
        return Evidence(status, str(entry["reason"]), ratio, low, high, date, entry["versions"], outdated)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _shows_nothing(entry: Any) -> bool:
    try:
        return _is_inconclusive(entry)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False  # written by another program: keep it


def _is_inconclusive(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is inconclusive. Versions up to 0.1 also stored wide intervals as "no effect"."""
    if entry["status"] != "no effect":
        return bool(entry["status"] == "inconclusive")
    return not is_no_effect(float(entry["low"]), float(entry["high"]), float(entry.get("no_effect", NO_EFFECT)))


def _why_outdated(
    entry: Mapping[str, Any], state: str, here: MachineJson, installed: Mapping[str, str], target: str | None
) -> str | None:
    """Reason why an entry is outdated, for display; None if it is valid. A malformed entry raises an exception."""
    if entry["state"] != state:
        return "the code has changed since"
    if entry["machine"] != here:
        where = entry["machine"]
        if "on" in where:
            return f"on {_word(where['on'])}"
        return f"on another machine ({int(where['cores'])} cores {_word(where['processor'])})"
    if _is_of_others(entry["versions"], installed, target):
        return "with " + ", ".join(f"{_word(name)} {_word(version)}" for name, version in entry["versions"].items())
    return None


def _word(text: str) -> str:
    """Return ``text`` if it is a plain word, else raise ValueError: anyone may have written the file."""
    if not re.fullmatch(r"(?:(?:ssh|ray)://|slurm:)?[\w.+-]{1,80}", text):
        raise ValueError(text)
    return text


def _is_of_others(measured: Mapping[str, str], installed: Mapping[str, str], target: str | None) -> bool:
    """Whether evidence is from other versions than those that the code runs on, if these are known."""
    if target is not None and "tensorflow" in measured:
        # A target does not include the patch release.
        return measured["tensorflow"].split(".")[:2] != target.split(".")[:2]
    return any(installed.get(name) not in (None, version) for name, version in measured.items())


def installed_versions() -> dict[str, str]:
    """Versions of the frameworks in this environment, determined without importing them."""
    from importlib import metadata

    from kerascheck.runtime.verify.result import FRAMEWORKS

    found = {}
    for name in FRAMEWORKS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
