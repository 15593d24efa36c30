"""The leading layer of trainings with a known heavy part, by ``kerascheck why``."""

import json
import os
import subprocess
import sys

import pytest
from why.heavy_models import HEAVY, OTHER_FORMS, HeavyModel

pytestmark = [pytest.mark.slow, pytest.mark.alone]

IN_THE_SUITE = ("one huge convolution", "an expensive metric", "an optimizer of many small variables")
"""One of each role. The others take about half a minute each as well; run them with ``KERASCHECK_ALL_MODELS=1``."""
NO_OPERATIONS = {("a Lambda in NumPy", "torch")}
"""PyTorch calls NumPy as ordinary Python, which its profiler does not trace."""


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
@pytest.mark.parametrize("name", HEAVY if os.environ.get("KERASCHECK_ALL_MODELS") else IN_THE_SUITE)
def test_the_heavy_part_leads_with_its_line(tmp_path, name, backend):
    pytest.importorskip(backend)
    if (name, backend) in NO_OPERATIONS:
        pytest.skip("its heavy part runs no operation")
    found = leads(tmp_path, HEAVY[name], KERAS_BACKEND=backend)
    first = found["rows"][0]
    if name == "a Lambda in NumPy":  # nobody knows what it computes
        assert first["flops"] is None and first["roof"] is None
    else:
        assert first["flops"] > 0 and first["bytes"] > 0
        peaks = found["peaks"]
        assert peaks["measured"] and peaks["flops"]["float32"] > peaks["bytes"] > 1e8


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_the_heavy_part_leads_in_other_forms_of_training(tmp_path, name):
    if "JAX" in name:
        pytest.importorskip("jax")
    if "tf-keras" in name:
        pytest.importorskip("tf_keras")
    found = leads(tmp_path, OTHER_FORMS[name])
    assert found["rows"][0]["flops"] > 0


def leads(tmp_path, heavy: HeavyModel, **environment: str):
    """The layers of the report of a training, after a check of the first one."""
    script = tmp_path / "train.py"
    script.write_text(heavy.script())
    command = [sys.executable, "-m", "kerascheck", "why", str(script), "--python", sys.executable]
    result = subprocess.run(
        [*command, "--output-format", "json"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["layers"]
    first = found["rows"][0]
    assert (first["role"], first["kind"]) == (heavy.role, heavy.kind)
    assert heavy.line in script.read_text().splitlines()[first["place"]["line"] - 1]
    assert found["unattributed_share"] < 0.3
    return found
