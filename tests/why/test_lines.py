"""Lines over all cells of a notebook, and within a cell."""

import json

from kerascheck.finding import Location
from kerascheck.runtime.why.lines import Lines
from kerascheck.source import read

CELLS = ["# Title", "import keras\n%matplotlib inline\n", "x = 1\nmodel.fit(x)\n"]


def notebook(tmp_path):
    cells = [
        {"cell_type": "code" if number else "markdown", "metadata": {}, "source": text} | ({"outputs": [], "execution_count": None} if number else {})
        for number, text in enumerate(CELLS)
    ]  # fmt: skip
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return str(path)


def test_lines_of_a_notebook_are_shown_within_their_cell(tmp_path):
    path = notebook(tmp_path)
    lines = Lines({path: read(path)})
    where, first, last = lines.span(Location(path, 2, 2, 0, 2, 12))
    assert (where, first) == (path, last)
    assert lines.text(path, first) == "model.fit(x)"
    assert lines.shown(path, first) == "train.ipynb cell 3:2"
    assert lines.commands() == 1


def test_lines_of_scripts_stay_as_they_are(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("import keras\nx = 1\n")
    lines = Lines({str(path): read(path)})
    assert lines.span(Location(str(path), None, 2, 0, 2, 5)) == (str(path), 2, 2)
    assert lines.shown(str(path), 2) == "train.py:2"
    assert lines.text(str(path), 9) == ""


def test_neighbours_of_a_line_stay_in_its_cell(tmp_path):
    path = notebook(tmp_path)
    lines = Lines({path: read(path)})
    assert [number for number, _, _ in lines.around(path, 1, 2)] == [1, 2]
    _, last, _ = lines.span(Location(path, 2, 2, 0, 2, 12))
    assert lines.around(path, last, 2) == [(1, "x = 1", False), (2, "model.fit(x)", True)]


def test_lines_are_counted_as_python_counts_them(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("a = 1\n\x0c\nb = 2\n")
    lines = Lines({str(path): read(path)})
    assert lines.text(str(path), 3) == "b = 2"
    assert lines.around(str(path), 5, 2) == [] == lines.around("/other.py", 1, 2)
