"""Generates the other pages of the site: a page for each rule, their index, README.md and its neighbours.

A hook of MkDocs. The build generates the pages from the folders of the rules and the measurements; ``kerascheck rule``
prints the same parts.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
# Import from the checkout, not from an installed package.
sys.path.insert(0, str(ROOT))

import kerascheck  # noqa: E402
from kerascheck.catalog import measured, pages, registry  # noqa: E402
from kerascheck.catalog.registry import RuleSpec  # noqa: E402
from kerascheck.lint import pipeline  # noqa: E402
from kerascheck.project.config import DOCS_URL, Configuration, Selection, Settings  # noqa: E402
from kerascheck.project.discovery import File as Script  # noqa: E402
from kerascheck.report import rule_page  # noqa: E402
from kerascheck.source import display_path  # noqa: E402

_FAMILIES = {
    "pipeline": "Input pipeline",
    "layers": "Layers and graphs",
    "device": "Devices and precision",
    "training": "Training loops",
    "distribution": "Distribution",
    "measurement": "Measuring",
    "environment": "Environment",
    "suppression": "Suppression",
}
_ROOT_PAGES = {
    **{path.name: path.name.lower() for path in ROOT.glob("*.md")},
    "README.md": "index.md",
    "CITATION.cff": "CITATION.cff",
    "editors/vscode/README.md": "vscode.md",
}
_FENCE = re.compile(r" *(```|~~~)")
_LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_WIDTH, _LEFT, _ROW = 420, 48, 44


def on_config(config: Any) -> Any:
    """Add the page of every rule to the navigation, and the published addresses."""
    if kerascheck.REPOSITORY:
        config.repo_url = kerascheck.REPOSITORY
    if kerascheck.SITE:
        config.site_url = DOCS_URL
        config.extra["version"] = {"provider": "mike"}
    (rules,) = (entry["Rules"] for entry in config.nav if "Rules" in entry)
    for family, specs in _by_family():
        rules.append({_FAMILIES.get(family, family): [{f"{spec.code} {spec.name}": _source(spec)} for spec in specs]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for path, text in _made():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Convert GitHub Markdown to Python-Markdown, and links to those of the site."""
    return _spaced(_relinked(markdown, page.file.src_uri))


def _made() -> Iterator[tuple[str, str]]:
    for name, path in _ROOT_PAGES.items():
        yield path, (ROOT / name).read_text(encoding="utf-8")
    specs = registry.rule_specs()
    yield "rules/index.md", _index()
    names = {spec.name for spec in specs}
    for spec in specs:
        yield _source(spec), _page(spec, names)


def _source(spec: RuleSpec) -> str:
    return pages.path(spec.name).rstrip("/") + ".md"


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _by_family() -> list[tuple[str, list[RuleSpec]]]:
    families: dict[str, list[RuleSpec]] = {}
    for spec in registry.rule_specs():
        families.setdefault(spec.folder.parent.name, []).append(spec)
    return sorted(families.items(), key=lambda item: item[1][0].code)


# --- Markdown ----------------------------------------------------------------------------------------


def _relinked(markdown: str, page: str) -> str:
    """Convert links between files of the repository into links between pages."""
    names = {name: path for path, name in _ROOT_PAGES.items()}
    source = names.get(page, f"docs/{page}")

    def target(match: re.Match[str]) -> str:
        meant = (ROOT / source).parent.joinpath(match[1]).resolve()
        if meant == ROOT / "docs":
            return "guide.md"
        if meant.is_relative_to(ROOT) and (name := meant.relative_to(ROOT).as_posix()) in _ROOT_PAGES:
            return _ROOT_PAGES[name]
        if meant.parent == ROOT / "rules":
            return f"rules/index.md#{_anchor(_FAMILIES[meant.name])}"
        if meant.parent.parent == ROOT / "rules":
            return next(_source(spec) for spec in registry.rule_specs() if spec.folder.resolve() == meant)
        return meant.relative_to(ROOT / "docs").as_posix() if meant.is_relative_to(ROOT / "docs") else match[1]

    # Pages of rules have no path in the repository.
    return markdown if page.startswith("rules/") else _outside_code(markdown, lambda line: _LINK.sub(target, line))


def _spaced(markdown: str) -> str:
    """Add the blank line before a list and the indentation in it that Python-Markdown requires."""
    block, in_list = "", False

    def spaced(line: str) -> str:
        nonlocal block, in_list
        is_item = bool(_ITEM.match(line))
        if not line.strip():
            block = ""
        elif not block:
            in_list = is_item or in_list and line.startswith(" ")
            block = "item" if is_item else "text"
            return f"    {line.lstrip()}" if in_list and not is_item else line
        elif is_item and block == "text":
            block, in_list = "item", True
            return f"\n{line}"
        return line

    return _outside_code(markdown, spaced)


def _outside_code(markdown: str, change: Any) -> str:
    """Apply ``change`` to every line of ``markdown`` outside of fences and indented blocks."""
    is_code, changed = False, []
    for line in markdown.split("\n"):
        is_fence = bool(_FENCE.match(line))
        is_code ^= is_fence
        changed.append(line if is_code or is_fence else change(line))
    return "\n".join(changed)


# --- the page of a rule ------------------------------------------------------------------------------


def _page(spec: RuleSpec, names: set[str]) -> str:
    family = _FAMILIES.get(spec.folder.parent.name, spec.folder.parent.name)
    heading, status, *parts = rule_page.parts(spec)
    parts = [_cross_linked(part, names - {spec.name}) for part in parts]
    if rule_page.has_evidence(spec):
        parts.append(_evidence(spec))
    if f'<a id="{spec.code}">' in (ROOT / "docs" / "precision.md").read_text(encoding="utf-8"):
        parts.append(f"How often its findings are right: [precision](../precision.md#{spec.code}).")
    return "\n\n".join((heading, f"*{family}.* {status}", *parts))


def _cross_linked(text: str, names: set[str]) -> str:
    def linked(match: re.Match[str]) -> str:
        return f"[{match[0]}]({match[1]}.md)" if match[1] in names else match[0]

    return _outside_code(text, lambda line: re.sub(r"(?<!\[)`([a-z0-9-]+)`(?!\])", linked, line))


def _evidence(spec: RuleSpec) -> str:
    columns = _columns(measured.row_of(spec.code))
    heading, sentence, rest = rule_page.evidence_of(spec).split("\n\n", 2)
    return "\n\n".join(filter(None, (heading, sentence, _plot(columns), rest)))


def _columns(row: measured.Row | None) -> dict[str, measured.Measurement]:
    """The measurements of a rule by device, those alone that there are."""
    return {} if row is None else {device: row[device] for device in measured.DEVICES if device in row}


def _plot(columns: Mapping[str, measured.Measurement]) -> str:
    """Plot of the speed-up intervals of the fixed example, in the colors of the page."""
    shown = {device: column for device, column in columns.items() if column["ratio"] is not None}
    if not shown:
        return ""
    bounds = [float(value) for column in shown.values() for value in (column["low"], column["high"])]
    low, high = min(0.8, *bounds), max(2.0, *bounds)
    span = math.log(high / low)
    right = _WIDTH - 16

    def x(ratio: float) -> float:
        return round(_LEFT + (right - _LEFT) * math.log(ratio / low) / span, 1)

    bottom = _ROW * len(shown)
    drawn = list(_axis([tick for tick in _ticks(high / low) if low <= tick <= high], x, bottom))
    for number, (device, column) in enumerate(shown.items()):
        drawn += _interval(device, column, x, _ROW * number + _ROW // 2)
    said = "; ".join(
        f"{device.upper()} {column['ratio']} times, 95 % interval {column['low']} to {column['high']}"
        for device, column in shown.items()
    )
    size = f'viewBox="0 0 {_WIDTH} {bottom + 40}" style="width:100%;max-width:{_WIDTH + 60}px;height:auto"'
    text = 'fill="currentColor" font-size="13" font-family="inherit"'
    return f'<svg role="img" aria-label="{escape(said)}" {size} {text}>{"".join(drawn)}</svg>'


def _ticks(span: float) -> Iterable[float]:
    """Round ratios, few enough that their labels do not overlap."""
    steps = (1.0, 1.5, 2.0, 3.0, 5.0) if span < 10 else (1.0, 2.0, 5.0) if span < 100 else (1.0,)
    return [step * 10.0**power for power in range(-3, 5) for step in steps]


def _axis(ticks: Sequence[float], x: Any, bottom: int) -> Iterator[str]:
    for tick in ticks:
        faint = 'stroke-opacity="0.2"' if tick != 1 else 'stroke-dasharray="4 3"'
        yield f'<line x1="{x(tick)}" x2="{x(tick)}" y1="0" y2="{bottom}" stroke="currentColor" {faint}/>'
        yield f'<text x="{x(tick)}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>'
    middle = (_LEFT + _WIDTH - 16) / 2
    yield f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle">times as fast as slow.py (95 % interval)</text>'


def _interval(device: str, column: measured.Measurement, x: Any, y: int) -> Iterator[str]:
    color = "var(--md-accent-fg-color, currentColor)"
    left, right = x(column["low"]), x(column["high"])
    yield f'<text x="0" y="{y + 5}">{device.upper()}</text>'
    yield f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="{color}" stroke-width="3"/>'
    for end in (left, right):
        yield f'<line x1="{end}" x2="{end}" y1="{y - 6}" y2="{y + 6}" stroke="{color}" stroke-width="3"/>'
    yield f'<circle cx="{x(column["ratio"])}" cy="{y}" r="5" fill="{color}"/>'
    yield f'<text x="{x(column["ratio"])}" y="{y - 10}" text-anchor="middle">{column["ratio"]:g}</text>'


# --- the index ---------------------------------------------------------------------------------------


def _index() -> str:
    rows = {row["code"]: row for row in measured.read_table()}
    fixes = _fixes()
    text = [
        "# Rules",
        f"{len(registry.rule_specs())} rules, by family. *Gain* is how many times faster the steps of the rule's example "
        "became, where that was confirmed: the examples are small and made to show the problem, so your code gains something else. "
        "*Fix* is what kerascheck rewrites in the example: `safe` with `--fix`, `unsafe` with `--unsafe-fixes`, `on request` "
        "where the rule is selected by its name.",
    ]
    for family, specs in _by_family():
        text += [f"## {_FAMILIES.get(family, family)}", "\n".join(_table(specs, fixes, rows))]
    return "\n\n".join(text) + "\n"


def _table(specs: Iterable[RuleSpec], fixes: Mapping[str, str], rows: Mapping[str, measured.Row]) -> Iterator[str]:
    yield "| rule | what is wrong | severity | fix | gain |"
    yield "|---|---|---|---|---|"
    for spec in specs:
        default = "" if spec.on_by_default else ", off by default"
        yield (
            f"| [{spec.code} {spec.name}]({spec.name}.md) | {spec.summary} | {spec.severity}{default} "
            f"| {fixes.get(spec.code, '–')} | {_gain(rows.get(spec.code))} |"
        )


def _gain(row: measured.Row | None) -> str:
    confirmed = [
        f"{column['ratio']:g} ({device.upper()})"
        for device, column in _columns(row).items()
        if column["status"] == "confirmed" and column["ratio"] is not None and column["low"] > 1
    ]
    return ", ".join(confirmed) or "–"


def _fixes() -> dict[str, str]:
    """Applicability of the fixes in the rule's example, by code."""
    scripts = []
    for spec in registry.rule_specs():
        settings = Settings(selections=(Selection(select=(spec.code,)),))
        slow = spec.folder / "slow"
        paths = sorted(slow.iterdir()) if slow.is_dir() else [slow.with_suffix(".py")]
        scripts += [Script(display_path(path), settings) for path in paths]
    found: dict[str, set[str]] = {}
    for finding in pipeline.lint(scripts, Configuration(isolated=True)).findings:
        if finding.fix is not None:
            found.setdefault(finding.code, set()).add(finding.fix.applicability.value)
    return {code: ", ".join(sorted(applied)) for code, applied in found.items()}
