"""Record a run of ``kerascheck why`` and draw the pictures of README.md from it.

    python docs/pictures.py           runs fixtures/clicks/train.py, needs the extra "verify" and Chromium
    python docs/pictures.py --redraw  draws docs/images/why.svg again from docs/images/why.txt

The first form writes the report as the terminal shows it, with its colors, into docs/images/why.txt. It takes about two
minutes. It stops if other programs use the machine: their load changes the numbers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Import from the checkout, not from an installed package.
sys.path.insert(0, str(ROOT))

import click  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PROJECT = ROOT / "fixtures" / "clicks"
COMMAND = "kerascheck why train.py --prove"
_COLUMNS = 100  # of the terminal
_BUDGET = 60.0  # seconds that --prove may measure, its default

# The sizes of the picture, in pixels. Most monospaced fonts are 0.6 times as wide as high.
CELL, ROW, LEFT, TOP = 8.4, 19, 20, 46
_FONT = 14
_PAPER, _INK, _DOTS = "#1f2430", "#d9dee8", ("#ec6a5e", "#f4bf4f", "#61c554")
_COLORS = {"31": "#ff8a80", "32": "#8bd49c", "33": "#ffd479", "34": "#82b1ff", "35": "#e0a3ff", "36": "#7fd7e8"}
_STYLES = {"1": 'font-weight="700"', "2": 'opacity="0.7"'}
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")
_RUN = re.compile(r"\S+(?: \S+)*")

_PAGE_WIDTH, _PAGE_HEIGHT = 900, 1000
_MOST_COLORS = 64


def main(arguments: list[str]) -> int:
    """Write the pictures; exit code 2 if that is impossible here."""
    if arguments == ["--redraw"]:
        _write(IMAGES / "why.svg", svg((IMAGES / "why.txt").read_text(encoding="utf-8")))
        return 0
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if arguments or browser is None:
        print(__doc__ if arguments else "docs/pictures.py: no Chromium on PATH: install it", file=sys.stderr)
        return 2
    text, page = _recorded()
    _write(IMAGES / "why.txt", text)
    _write(IMAGES / "why.svg", svg(text))
    _photograph(page, IMAGES / "why-page.png", browser)
    return 0


def svg(text: str) -> str:
    """Draw a terminal that shows ``text``.

    Args:
        text: lines with the escape sequences of colors.
    """
    shown = text.splitlines()
    width = round(2 * LEFT + CELL * max(len(click.unstyle(line)) for line in shown))
    height = TOP + ROW * len(shown)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="{_FONT}" fill="{_INK}" xml:space="preserve">',
        f"<title>{escape(click.unstyle(shown[0]))}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{_PAPER}"/>',
        *(f'<circle cx="{LEFT + 20 * number}" cy="18" r="5" fill="{color}"/>' for number, color in enumerate(_DOTS)),
    ]
    for number, line in enumerate(shown):
        drawn += _line(line, TOP + ROW * number)
    return "\n".join([*drawn, "</svg>", ""])


def _line(line: str, y: int) -> Iterator[str]:
    """Every run of words at its column: so columns align in any font."""
    column, style = 0, ""
    for text, codes in _styled(line):
        style = " ".join(filter(None, (_STYLES.get(code) or _fill(code) for code in codes)))
        for run in _RUN.finditer(text):
            x, length = LEFT + CELL * (column + run.start()), CELL * len(run[0])
            yield (
                f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"'
                f"{style and ' ' + style}>{escape(run[0], quote=False)}</text>"
            )
        column += len(text)


def _fill(code: str) -> str:
    color = _COLORS.get(code)
    return f'fill="{color}"' if color else ""


def _styled(line: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The texts of a line, each with the codes that apply to it."""
    active: tuple[str, ...] = ()
    texts = _ESCAPE.split(line)
    for text, codes in zip(texts[::2], ["", *texts[1::2]]):
        active = () if codes in ("0", "") else (*active, *codes.split(";"))
        if text:
            yield text, active


def _recorded() -> tuple[str, str]:
    """The report of one run as the terminal shows it, and as a page."""
    from kerascheck.cli.why import problems
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify.budget import Budget
    from kerascheck.runtime.verify.compare import compare
    from kerascheck.runtime.verify.findings import findings_of, read_script, repairs
    from kerascheck.runtime.verify.process import Script
    from kerascheck.runtime.why import report_html, report_text
    from kerascheck.runtime.why.explain import explain_training
    from kerascheck.runtime.why.wording import is_busy

    os.chdir(PROJECT)
    path, texts = read_script("train.py")
    run = Script(path, texts, ())
    answer = explain_training(
        run, lambda: findings_of("train.py", Configuration()), lambda run: problems(run.facts, sys.executable)
    )
    assert answer.diagnosis is not None, answer.failure
    if is_busy(answer.diagnosis.step):
        sys.exit("docs/pictures.py: other programs use this machine: run it again when they have ended")
    lines = [click.style(f"$ {COMMAND}", bold=True), *report_text.render(answer.diagnosis, _COLUMNS, click.style, None)]
    finding = report_text.provable(answer.diagnosis)
    assert finding is not None, "nothing to prove"
    (repair,) = repairs(replace(answer.linted, findings=[finding]))
    verdicts = compare(run, [repair.variant], Budget(_BUDGET), lambda *_: None, ceilings=False).verdicts
    for verdict in verdicts:
        lines += report_text.proof(verdict, click.style)
    return "\n".join(lines) + "\n", report_html.render(answer, None, verdicts)


def _photograph(page: str, picture: Path, browser: str) -> None:
    """Write a picture of the top of a page."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        source, taken = Path(folder, "why.html"), Path(folder, "why.png")
        source.write_text(page, encoding="utf-8")
        size = f"--window-size={_PAGE_WIDTH},{_PAGE_HEIGHT}"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--screenshot={taken}", size]
        subprocess.run([browser, *options, source.as_uri()], check=True, capture_output=True, timeout=120)
        Image.open(taken).convert("RGB").quantize(_MOST_COLORS).save(picture, optimize=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
