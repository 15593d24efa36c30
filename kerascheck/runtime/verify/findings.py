"""Variants of source texts from the linter's findings on a script and its local imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kerascheck.finding import Finding
from kerascheck.report.common import place
from kerascheck.runtime.verify.variants import Variant

if TYPE_CHECKING:
    from kerascheck.project.config import Configuration
    from kerascheck.result import LintResult
    from kerascheck.source import Source

TOGETHER = "all together"
ABOUT_PREDICTIONS = frozenset({"KC405"})
"""Rules whose findings do not affect the time of a training step."""


ABOUT_EPOCHS = frozenset({"KC126", "KC130", "KC415"})
"""Rules whose findings cost time at the start of an epoch, which steps inside it do not show."""


class NotAScript(Exception):
    """The file cannot be read, or is not Python; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A script, the modules of its own tree that it imports, and the linter's findings in them."""

    script: str
    """Absolute path."""
    sources: Mapping[str, Source]
    """Text by absolute path, always including the script."""
    findings: Sequence[Finding]
    """Findings with and without a fix; paths are absolute or as the linter shows them."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A variant and the findings that it fixes."""

    variant: Variant
    findings: tuple[Finding, ...]
    left_out: tuple[Finding, ...] = field(default=())
    """Findings whose fix conflicts with an accepted one ("all together" only)."""


def findings_of(script: str | os.PathLike[str], configuration: Configuration) -> Linted:
    """Lint ``script`` and its local imports.

    Raises:
        NotAScript: the script cannot be read or parsed.
        ConfigError: the configuration selects an unknown rule.
    """
    from kerascheck.lint import pipeline
    from kerascheck.project.discovery import File
    from kerascheck.source import display_path

    path, sources = _sources(script)
    files = [File(display_path(each), configuration.for_file(each)) for each in sources]
    outcome = pipeline.lint(files, configuration)
    return Linted(path, sources, measurable(outcome, sources))


def measurable(outcome: LintResult, paths: Container[str]) -> list[Finding]:
    """Findings in files with these absolute paths, also those that are only counted: a measurement shows their worth."""
    tallied = (each for each in outcome.tallied if each.tally is not None and not each.tally.repaired_since)
    found = sorted((*outcome.findings, *tallied), key=lambda finding: finding.sort_key)
    return [each for each in found if os.path.abspath(each.location.path) in paths]


def read_script(script: str | os.PathLike[str]) -> tuple[str, dict[str, str]]:
    """The absolute path of ``script``, and its text and those of its local imports by absolute path.

    Raises:
        NotAScript: the script cannot be read or parsed.
    """
    path, sources = _sources(script)
    return path, {each: source.text for each, source in sources.items()}


def _sources(script: str | os.PathLike[str]) -> tuple[str, dict[str, Source]]:
    from kerascheck.source import Unreadable, read

    path = os.path.abspath(script)
    try:
        main = read(path)
        ast.parse(main.text)
    except (OSError, Unreadable) as problem:
        raise NotAScript(f"{script}: {problem}") from None
    except (SyntaxError, ValueError) as problem:
        raise NotAScript(f"{script}: is not Python that this interpreter runs: {problem}") from None
    sources = {path: main}
    for module in local_imports(path, main.text):
        try:
            sources[module] = read(module)
        except (OSError, Unreadable):
            continue
    return path, sources


def local_imports(path: str, text: str) -> list[str]:
    """Files in or below the script's folder that it imports, directly or indirectly."""
    folder = Path(path).parent
    found: dict[str, None] = {}
    pending = [(Path(path), text)]
    while pending:
        current, text = pending.pop()
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for name, level in _imported(tree):
            base = folder if not level else current.parent.joinpath(*[".."] * (level - 1))
            target = base.joinpath(*name.split(".")) if name else base
            for candidate in (target.with_suffix(".py"), target / "__init__.py"):
                resolved = os.path.abspath(candidate)
                if resolved not in found and resolved != path and candidate.is_file():
                    found[resolved] = None
                    pending.append((Path(resolved), candidate.read_text(encoding="utf-8", errors="replace")))
    return list(found)


def _imported(tree: ast.AST) -> Iterable[tuple[str, int]]:
    """Dotted names that may be modules, with the number of leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, 0
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                yield node.module, node.level
            for alias in node.names:
                yield f"{node.module}.{alias.name}" if node.module else alias.name, node.level


def is_about_speed(finding: Finding) -> bool:
    """Whether the fix can change the duration of a training."""
    from kerascheck.catalog import registry

    return registry.find(finding.code).speed


def repairs(linted: Linted, *, every: bool = False) -> list[Repair]:
    """One variant per finding with a fix, and one with all compatible fixes (if there are several).

    ``every``: include findings of rules that are not about speed.
    """
    fixable = [f for f in linted.findings if f.fix is not None and f.fix.edits and (every or is_about_speed(f))]
    made = [repair_of(linted, name, [finding]) for name, finding in zip(_names(fixable), fixable)]
    made = [repair for repair in made if repair.findings]
    if len(made) > 1:
        made.append(repair_of(linted, TOGETHER, fixable))
    return made


def _names(findings: Sequence[Finding]) -> list[str]:
    """A unique name for each finding, since verdicts are assigned by name."""
    short = [f"{finding.code} {finding.name} {place_of(finding)}" for finding in findings]
    return [
        f"{finding.code} {finding.name} {place(finding.location)}" if short.count(name) > 1 else name
        for finding, name in zip(findings, short)
    ]


def looks(linted: Linted, repairs: Sequence[Repair]) -> list[Variant]:
    """One unchanged variant per finding about speed without a fix, which requests an analysis of its training."""
    repaired = {finding for repair in repairs for finding in repair.findings}
    found = []
    for number, finding in enumerate(linted.findings):
        if finding not in repaired and is_about_speed(finding):
            path = os.path.abspath(finding.location.path)
            places = tuple((path, *span) for span in lines_of(linted.sources[path], finding))
            found.append(
                Variant(f"look {number}: {finding.code} {place_of(finding)}", {}, None, places, measured=False)
            )
    return found


def place_of(finding: Finding) -> str:
    """``train.py:7`` or ``train.ipynb:cell 2:7``."""
    location = finding.location
    cell = "" if location.cell is None else f":cell {location.cell_number}"
    return f"{os.path.basename(location.path)}{cell}:{location.line}"


def repair_of(linted: Linted, name: str, findings: Sequence[Finding]) -> Repair:
    """The variant with the fixes of ``findings``, without fixes that conflict with an earlier one in the text."""
    from kerascheck.fixes.apply import compose

    texts, applied, places = {}, [], []
    for path, source in linted.sources.items():
        own = [finding for finding in findings if os.path.abspath(finding.location.path) == path]
        if not own:
            continue
        text, fixes = compose(source.text, [finding.fix for finding in own if finding.fix is not None])
        if text == source.text:
            continue
        texts[path] = text
        for finding in own:
            if finding.fix in fixes:
                applied.append(finding)
                places += [(path, *span) for span in lines_of(source, finding)]
    left_out = tuple(finding for finding in findings if finding not in applied)
    predicts = bool(applied) and all(finding.code in ABOUT_PREDICTIONS for finding in applied)
    whole_epochs = any(finding.code in ABOUT_EPOCHS for finding in applied)
    variant = Variant(name, texts, _tolerance(applied), tuple(places), predicts, whole_epochs=whole_epochs)
    return Repair(variant, tuple(applied), left_out)


def lines_of(source: Source, finding: Finding) -> list[tuple[int, int]]:
    """First and last lines of the finding's location and of the edits of its fix."""
    before = source.lines_above(finding.location.cell)
    spans = [(finding.location.line + before, finding.location.end_line + before)]
    if finding.statement_lines[0]:
        spans.append((finding.statement_lines[0] + before, finding.statement_lines[1] + before))
    return spans + [
        (source.line_of(edit.start), source.line_of(edit.end)) for edit in (finding.fix.edits if finding.fix else ())
    ]


def _tolerance(findings: Sequence[Finding]) -> float | None:
    """The loosest tolerance among the findings' rules; None if one of the fixes declares that it may change results."""
    from kerascheck.catalog import registry

    loosest = 0.0
    for finding in findings:
        rule = registry.find(finding.code).rule
        if finding.fix is None or not finding.fix.is_proven or rule.loss_tolerance is None:
            return None
        loosest = max(loosest, rule.loss_tolerance)
    return loosest
