"""The notebook that shows the extension, executed as its readers do."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.alone]

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "live" / "why.ipynb"


def outputs(path):
    """The texts that the cells show, in order."""
    notebook = nbformat.read(path, nbformat.NO_CONVERT)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in shown)


def test_the_notebook_runs_and_shows_an_account_and_findings(tmp_path):
    shutil.copy(FIXTURE, tmp_path)
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "why.ipynb"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    text = outputs(tmp_path / "why.ipynb")
    assert "(fit, tensorflow)" in text and "cell 6:2: " in text
    assert "waiting for data" in text
    assert "KC113" in text


def test_its_kept_output_is_that_of_a_run():
    text = outputs(FIXTURE)
    assert "(fit, tensorflow)" in text and "KC113" in text
    assert "/ipykernel" not in text and "site-packages" not in text
