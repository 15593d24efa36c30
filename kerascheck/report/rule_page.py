"""The documentation of a rule, as ``kerascheck rule`` prints it."""

from __future__ import annotations

import difflib
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kerascheck.catalog import measured, published
from kerascheck.catalog.measured import DEVICES
from kerascheck.catalog.registry import RuleSpec
from kerascheck.catalog.rule import RequirementsRule, Rule
from kerascheck.fixes.proofs import all_obligations
from kerascheck.report.text import wrapped

_MARK = re.compile(r"[ \t]*# ?KC[A-Z]?\d{3}(?::\w+)?(?: KC[A-Z]?\d{3}(?::\w+)?)*[ \t]*$")
"""Comments in examples that name the expected findings of a line, for tests."""
_ITEM = re.compile(r"- ")
_WIDTH = 115
"""Columns of text in docstrings, without their indentation of four."""


_SILENT, _NEXT, _SAFETY = "## When it stays silent\n", "## Use instead\n", "## Fix safety\n"


def documentation(spec: RuleSpec) -> str:
    """The rule's docstring with generated lists added.

    "When it stays silent" ends with the programs that the rule does not apply to. "Fix safety" ends with the obligations
    that its fix must prove.
    """
    return _with_exceptions(_with_obligations(spec.documentation.strip(), spec), spec)


def _with_obligations(text: str, spec: RuleSpec) -> str:
    if not spec.proves or _SAFETY not in text:
        return text
    known = all_obligations()
    listed = [line for name in spec.proves for line in _item(f"`{name}`: {known[name].statement}")]
    before, heading, after = text.partition(_SAFETY)
    own, following, rest = after.partition("\n## ")
    obligations = "\n".join(("A fix is safe only with a proof of each of these:", "", *listed))
    return f"{before}{heading}{own.rstrip()}\n\n{obligations}\n{following}{rest}"


def _with_exceptions(text: str, spec: RuleSpec) -> str:
    exceptions = [line for each in spec.applies.exceptions() for line in _item(each)]
    if not exceptions:
        return text
    if _SILENT not in text:
        head, following, tail = text.partition(_NEXT)
        text = f"{head.rstrip()}\n\n{_SILENT}\n{following}{tail}"
    before, silent, after = text.partition(_SILENT)
    own, heading, rest = after.partition("\n## ")
    first, gap, others = own.strip().partition("\n\n")
    joint = "\n" if first.startswith("- ") else "\n\n"
    listed = joint.join(filter(None, (first, "\n".join(exceptions))))
    return f"{before}{silent}\n{listed}{gap}{others}\n{heading}{rest}"


def _item(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False)


def sections(spec: RuleSpec) -> dict[str, str]:
    """The sections of the rule's documentation, text by heading, in order."""
    parts = re.split(r"^## +(.+?) *$", documentation(spec), flags=re.MULTILINE)
    return {heading: text.strip() for heading, text in zip(parts[1::2], parts[2::2])}


def example(spec: RuleSpec) -> str:
    """The unified diff from the slow script to the fast one; empty if the rule lacks one of them."""
    if spec.kind is RequirementsRule:
        return "\n".join(
            filter(
                None,
                (
                    _diff(spec.folder, slow, spec.folder / "fast" / slow.name)
                    for slow in sorted((spec.folder / "slow").iterdir())
                ),
            )
        )
    return change(spec.folder)


def change(folder: Path) -> str:
    """The unified diff from slow.py to fast.py of a folder, without the marks for tests; empty if it lacks one of them."""
    slow, fast = folder / "slow.py", folder / "fast.py"
    return _diff(folder, slow, fast) if slow.is_file() and fast.is_file() else ""


def _diff(folder: Path, slow: Path, fast: Path) -> str:
    before, after = (path.relative_to(folder).as_posix() for path in (slow, fast))
    return "\n".join(difflib.unified_diff(_lines(slow), _lines(fast), before, after, lineterm=""))


def _lines(path: Path) -> list[str]:
    return [_MARK.sub("", line) for line in path.read_text(encoding="utf-8").splitlines()]


def fitted(page: str, width: int) -> str:
    """A page with paragraphs and list items wrapped to ``width`` columns; code, tables and headings stay unchanged."""
    shown: list[str] = []
    paragraph: list[str] = []
    is_code = False

    def end() -> None:
        if paragraph:
            head = "- " if _ITEM.match(paragraph[0]) else ""
            shown.extend(
                wrapped(" ".join(line.strip() for line in paragraph).removeprefix(head), width, head, " " * len(head))
            )
            paragraph.clear()

    for line in page.splitlines():
        is_fence = line.startswith("```")
        is_code = is_code is not is_fence
        if is_code or is_fence or not line or line.startswith(("#", "|", "    ")):
            end()
            shown.append(line)
            continue
        if _ITEM.match(line):
            end()
        paragraph.append(line)
    end()
    return "\n".join(shown)


def as_text(spec: RuleSpec) -> str:
    """The page of a rule as text."""
    shown = [*parts(spec)]
    if has_evidence(spec):
        shown.append(evidence_of(spec))
    return "\n\n".join(shown)


def parts(spec: RuleSpec) -> Iterator[str]:
    """The heading of a rule's page, a line about its severity, its documentation, and the example if it has one."""
    default = "on by default" if spec.on_by_default else "off until selected"
    yield f"# {spec.name} ({spec.code})"
    yield f"Usual severity: {spec.severity}, {default}." + (f" It comes from {spec.by}." if spec.by else "")
    yield documentation(spec)
    if diff := example(spec):
        yield f"## Example\n\n```diff\n{diff}\n```"


def has_evidence(spec: RuleSpec) -> bool:
    """Whether the page of a rule has the section of :func:`evidence_of`: its example runs, or it is about speed."""
    return spec.kind is Rule or spec.speed


def evidence_of(spec: RuleSpec) -> str:
    """The section with measurements of the example and with published figures: heading, sentence and lines."""
    slow, fast = ("slow.py", "fast.py") if spec.kind is Rule else ("slow/", "fast/")
    interval = ", with the 95 % interval" if measured.row_of(spec.code) else ""
    return f"## Evidence\n\nWhat {fast} gains over {slow}{interval}:\n\n{_evidence(spec)}"


def _evidence(spec: RuleSpec) -> str:
    columns = measured.for_rule(spec.code)
    lines = [f"- {column}" for column in columns or ()] or [_unmeasured(spec)]
    if spec.evidence_note:
        lines += ["", spec.evidence_note]
    if not _is_measured_on_gpu(spec) and (figures := published.for_rule(spec.code)):
        lines += ["", "Published by others, not measured by us:", "", *(f"- {figure}" for figure in figures)]
    return "\n".join(lines)


def _unmeasured(spec: RuleSpec) -> str:
    if spec.kind is not Rule:
        return "Not measured: no script runs."
    if not spec.speed:
        return "Not measured: the rule is not about speed."
    return f"Not measured yet; 'kerascheck evidence {spec.code}' runs both on your machine."


def _is_measured_on_gpu(spec: RuleSpec) -> bool:
    return "gpu" in (measured.row_of(spec.code) or {})


def as_list(specs: Sequence[RuleSpec]) -> str:
    """A list of rules, one per line."""
    width = max(len(spec.name) for spec in specs)
    return "\n".join(f"{spec.code}  {spec.name:{width}}  {spec.summary}" for spec in specs)


def as_json(specs: Sequence[RuleSpec], *, single: bool) -> str:
    """The rules as JSON: one object if ``single``, else a list of objects."""
    described = [_describe(spec) for spec in specs]
    return json.dumps(described[0] if single else described, indent=2, ensure_ascii=False)


def _describe(spec: RuleSpec) -> dict[str, Any]:
    row = measured.row_of(spec.code)
    return {
        "code": spec.code,
        "name": spec.name,
        "severity": str(spec.severity),
        "on_by_default": spec.on_by_default,
        "fixed_by_default": spec.fixed_by_default,
        "speed": spec.speed,
        "summary": spec.summary,
        "documentation": documentation(spec),
        "sections": sections(spec),
        "example": example(spec),
        "evidence_note": spec.evidence_note or None,
        "published": [asdict(figure) for figure in published.for_rule(spec.code)],
        "evidence": {device: row.get(device) if row is not None else None for device in DEVICES},
    }
