"""Shared parts of the HTML reports.

A report is one page without network access or JavaScript, for light and dark themes and for wide and narrow screens.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable, Sequence

from kerascheck.report.common import plain

STYLE = """
:root { color-scheme: light dark; --page: #fbfaf7; --card: #fff; --ink: #1d2330; --soft: #5c6575; --line: #dfe1e6;
  --before: #b4572b; --after: #1f6f8b; --good: #1a7f47; --bad: #b3261e; --warn: #8a6100; --add: #e3f4e8; --del: #fbe5e1; }
@media (prefers-color-scheme: dark) { :root { --page: #14171d; --card: #1c2129; --ink: #e7e9ee; --soft: #a2abba;
  --line: #343b47; --before: #f0986b; --after: #6cc0dc; --good: #63cf90; --bad: #ff8a80; --warn: #e6b957;
  --add: #17352180; --del: #4a201c80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .35rem 0; overflow-wrap: anywhere; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem; }
.head { display: flex; flex-wrap: wrap; gap: .25rem .9rem; align-items: baseline; }
.status { font-weight: 700; }
.not-run { color: var(--bad); }
.ratio { font-size: 1.4rem; font-weight: 700; font-variant-numeric: tabular-nums; }
figure { margin: .75rem 0 0; } figcaption { margin-top: .4rem; } figcaption, .axis { font-size: .85rem; color: var(--soft); }
svg { display: block; width: 100%; height: 3.5rem; border-bottom: 1px solid var(--line); }
.chart { height: 7rem; border: 0; overflow: visible; }
.before { fill: var(--before); background: var(--before); } .after { fill: var(--after); background: var(--after); }
.axis { display: flex; justify-content: space-between; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .35em; }
.stages { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; margin: .75rem 0; padding: 0; }
.stages li { flex: 1 1 9rem; border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; overflow-wrap: anywhere; }
.meter { height: .5rem; border-radius: .25rem; background: var(--line); margin: .35rem 0; }
.meter span { display: block; height: 100%; border-radius: .25rem; background: var(--after); }
.meter.wait span { background: var(--before); }
pre { overflow-x: auto; margin: .75rem 0 0; padding: .6rem 0; border: 1px solid var(--line); border-radius: .4rem; }
pre span { display: block; padding: 0 .75rem; min-width: max-content; white-space: pre; }
pre .add { background: var(--add); } pre .del { background: var(--del); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.scroll { overflow-x: auto; }
"""


def page(title: str, body: Iterable[str], style: str = "") -> str:
    """A complete HTML page.

    Args:
        title: the title as plain text.
        body: pieces of HTML.
        style: additional CSS.
    """
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}{style}</style></head><body><main>",
            *body,
            "</main></body></html>",
        )
    )


def escape(text: str) -> str:
    """``text`` as HTML, with control characters escaped."""
    return html.escape(plain(text))


def lines(texts: Sequence[str], diff: bool = False) -> str:
    """Lines for a ``<pre>`` element; ``diff``: highlight them as a unified diff."""
    kinds = {"+": ' class="add"', "-": ' class="del"', "@": ' class="soft"'} if diff else {}
    return "".join(f"<span{kinds.get(line[:1], '')}>{escape(line) or ' '}</span>" for line in texts)


def table(rows: Iterable[Iterable[object]]) -> str:
    """A table of plain cells."""
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return '<div class="scroll"><table>' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"


def change(name: str, before: str, after: str) -> str:
    """The change of a text as a diff; empty if nothing changed."""
    found = list(difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=2))
    return f"<pre>{lines(found[2:], diff=True)}</pre>" if found else ""
