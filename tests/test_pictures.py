"""The pictures of README.md and the outputs in docs/tour.md come from runs of fixtures/clicks/train.py."""

import importlib.util
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from command import kerascheck

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
IMAGES = ROOT / "docs" / "images"
RECORDED = (IMAGES / "why.txt").read_text(encoding="utf-8")
MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def output(command):
    """The block of the tour that shows what a command prints."""
    shown = re.findall(r"^```text\n\$ (.*)\n((?:.*\n)*?)```", TOUR, re.MULTILINE)
    return dict(shown)[command]


def lines_of(svg, pictures):
    """The lines that a picture shows, from the positions of its texts."""
    lines = {}
    for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        row = round((float(text.get("y")) - pictures.TOP) / pictures.ROW)
        column = round((float(text.get("x")) - pictures.LEFT) / pictures.CELL)
        assert round(float(text.get("textLength")) / pictures.CELL) == len(text.text)
        lines[row] = lines.get(row, "").ljust(column) + text.text
    return [lines.get(row, "") for row in range(max(lines) + 1)]


def test_pictures_of_the_readme_exist():
    named = re.findall(r"!\[[^\]]+\]\((docs/images/[^)]+)\)", README)
    assert {Path(path).suffix for path in named} == {".svg", ".png"}
    assert all(0 < (ROOT / path).stat().st_size < MOST_BYTES for path in named)


def test_picture_shows_the_recorded_lines(pictures):
    svg = (IMAGES / "why.svg").read_text(encoding="utf-8")
    assert lines_of(svg, pictures) == [line.rstrip() for line in click.unstyle(RECORDED).splitlines()]
    assert svg == pictures.svg(RECORDED), "run python docs/pictures.py --redraw"


def test_picture_escapes_and_colors(pictures):
    svg = pictures.svg(click.style("a <b> & c", fg="red", bold=True) + "  plain\n")
    assert lines_of(svg, pictures) == ["a <b> & c  plain"]
    first, second = (text.attrib for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    assert first["font-weight"] == "700" and "fill" in first and "fill" not in second


def test_readme_has_the_numbers_of_the_recorded_run():
    said = re.findall(r"(?:confirmed )?x\d+\.\d+ \[\d+\.\d+-\d+\.\d+\]", README)
    assert said and all(each in RECORDED for each in said)
    assert re.search(r"waits for data \d+% of its time", README)[0] in " ".join(click.unstyle(RECORDED).split())


def test_tour_shows_what_the_linter_prints(tmp_path, monkeypatch):
    shutil.copy(ROOT / "fixtures" / "clicks" / "train.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert kerascheck("train.py", "--isolated").out.startswith(output("kerascheck train.py"))
    assert kerascheck("train.py", "--diff", "--isolated").out == output("kerascheck train.py --diff")


def test_tour_shows_the_recorded_run():
    why = output("kerascheck why train.py --prove")
    recorded = click.unstyle(RECORDED).splitlines()
    assert why.count("\n") > 5 and all(line in recorded for line in why.splitlines())


def test_guide_shows_the_same_script_and_run():
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    assert (ROOT / "fixtures" / "clicks" / "train.py").read_text(encoding="utf-8") in guide
    shown, *_ = re.findall(r"^\$ kerascheck why train\.py\n((?:.*\n)*?)```", guide, re.MULTILINE)
    recorded = click.unstyle(RECORDED).splitlines()
    assert shown.count("\n") > 5 and all(line in recorded for line in shown.splitlines())
