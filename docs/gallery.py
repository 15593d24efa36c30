"""Generates gallery.md from the examples of the rules and their measurements: ``python docs/gallery.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "gallery.md"
ROOT = PAGE.parent.parent
# Import from the checkout, not from an installed package.
sys.path.insert(0, str(ROOT))

from kerascheck.catalog import measured, registry  # noqa: E402
from kerascheck.report import rule_page  # noqa: E402

SHOWN = {
    "KC103": ("", 0),
    "KC101": ("", 0),
    "KC113": ("", 0),
    "KC107": ("", 2),
    "KC401": ("", 0),
    "KC404": ("", 0),
    "KC406": ("", 0),
    "KC407": ("", 0),
    "KC425": ("", 1),
    "KC301": ("gpu", 0),
}
"""Code to folder of the example and number of the hunk of its diff."""
LEAST = 1.2
"""Minimum gain of a pair."""
_CONTEXT = 3
"""Unchanged lines that separate two changes."""

HEAD = f"""\
# Before and after

<!-- Written by `python docs/gallery.py`: change the rules' examples or the measurements, and run it again. -->

Ten changes, each with the gain that was measured on the rule's example. The examples are small and made to show the
problem, so your code gains something else: `kerascheck why train.py --prove` measures it there. Each excerpt is a part
of the change between the example's `slow.py` and `fast.py`; the gain is of the whole change. All gains here are
confirmed and at least {LEAST} times. "x4.60 [3.82-5.54]" means that steps are 4.60 times faster, with the 95 % confidence
interval.
"""


def page() -> str:
    """Text of gallery.md."""
    specs = {spec.code: spec for spec in registry.rule_specs()}
    return "\n".join((HEAD, *(_pair(specs[code], folder, hunk) for code, (folder, hunk) in SHOWN.items())))


def _pair(spec: registry.RuleSpec, folder: str, hunk: int) -> str:
    where = spec.folder / folder
    link = f"../{spec.folder.resolve().relative_to(ROOT).as_posix()}/"
    return "\n".join(
        (
            f"## {spec.summary[0].upper()}{spec.summary[1:]}",
            "",
            f"[{spec.code} {spec.name}]({link}):",
            f"{_gain(spec.code)}.",
            "",
            "```diff",
            _excerpt(rule_page.change(where), hunk),
            "```",
            "",
        )
    )


def _gain(code: str) -> str:
    """The largest confirmed gain of the rule's example, and where it was measured."""
    row = measured.row_of(code) or {}
    cells = [row[device] for device in measured.DEVICES if device in row]
    confirmed = [each for each in cells if each["status"] == "confirmed" and "of" not in each and each["ratio"]]
    best = max(confirmed, key=lambda each: each["ratio"] or 0.0, default=None)
    if best is None or (best["ratio"] or 0.0) < LEAST:
        raise SystemExit(f"docs/gallery.py: {code} has no confirmed gain of {LEAST}: choose another rule in SHOWN")
    return measured.cell(best)


def _excerpt(diff: str, hunk: int) -> str:
    """The first changes of a hunk of a unified diff, and the lines around them."""
    lines = re.split(r"^@@ .*\n", diff, flags=re.MULTILINE)[1:][hunk].rstrip().splitlines()
    changed = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    last = next((here for here, after in zip(changed, changed[1:]) if after - here > _CONTEXT), changed[-1])
    shown = [line.rstrip() for line in lines[: last + _CONTEXT]]
    return "\n".join(shown).strip("\n")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
