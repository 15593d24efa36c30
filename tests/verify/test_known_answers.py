"""Whole verifications of small trainings with known answers (scripts/README.md).

No time is asserted, only verdicts: the correct one, or none on a busy machine.
"""

import difflib
import os
from pathlib import Path

import pytest

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import compare
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status

FOLDER = Path(__file__).parent / "scripts"
NAMES = sorted(path.name.removesuffix(".fixed.txt") for path in FOLDER.glob("*.fixed.txt"))
BACKENDS = {"keras3_any_backend": "tensorflow", "torch_loop": "torch", "jax_loop": "jax", "legacy_keras": "tf_keras"}

# A verdict depends on the load of the machine: run 'pytest -m timing' on an idle one.
pytestmark = [pytest.mark.slow, pytest.mark.timing]


def answer(name):
    """(script, variant, verdict) of a script with a known answer."""
    path = FOLDER / f"{name}.py"
    text = path.read_text()
    first, repaired = (FOLDER / f"{name}.fixed.txt").read_text().split("\n", 1)
    changes = difflib.SequenceMatcher(None, text.splitlines(), repaired.splitlines(), autojunk=False).get_opcodes()
    places = tuple((str(path), i + 1, max(i + 1, j)) for kind, i, j, _, _ in changes if kind != "equal")
    # Parallel random maps draw in another order, and their fixes declare that results change.
    tolerance = None if "tf.image.random" in text or "tf.random" in text else 1e-5
    return str(path), text, Variant("repaired", {str(path): repaired}, tolerance, places), Status(first.split(": ")[1])


@pytest.mark.parametrize("name", NAMES)
def test_known_answer(name, tmp_path):
    if name in BACKENDS:
        pytest.importorskip(BACKENDS[name])
    path, text, variant, expected = answer(name)
    before = set(os.listdir(FOLDER))
    environment = {"KERAS_BACKEND": "tensorflow"} if name == "keras3_any_backend" else {}
    script = Script(path, {path: text}, directory=str(tmp_path), environment=environment)
    result = compare(script, [variant], Budget())
    assert result.failure is None, result.scout.output
    (verdict,) = result.verdicts
    busy = verdict.status is Status.INCONCLUSIVE and (verdict.others or 0.0) > 0.1
    assert verdict.status is expected or busy, f"{verdict.reason} {verdict.ratio} {verdict.output}"
    assert not os.listdir(tmp_path), "files were left behind"
    assert set(os.listdir(FOLDER)) == before
