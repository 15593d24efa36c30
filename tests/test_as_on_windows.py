"""``check``, ``--fix``, ``doctor`` and the server without fork, signals and modules that Windows lacks."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MAPPED = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: x / 255).batch(3)\n"
MAPPED += "tf.keras.Sequential().fit(ds)\n"
COMMAND = [sys.executable, str(HERE / "as_on_windows.py")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent)}


def run(folder, *arguments):
    return subprocess.run([*COMMAND, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8")


def test_check_spawns_its_workers(tmp_path):
    # More files than one process takes.
    for number in range(60):
        (tmp_path / f"train{number}.py").write_text(MAPPED)
    ran = run(tmp_path, "check", "--isolated", "--select", "KC103", "--output-format", "json", ".")
    assert ran.returncode == 1 and ran.stderr == "", ran.stderr
    assert json.loads(ran.stdout)["summary"]["warning"] == 60


def test_fix_keeps_line_ends_encoding_and_names(tmp_path):
    script = tmp_path / "entraînement é.py"
    text = f"# -*- coding: latin-1 -*-\n# é\n{MAPPED}".replace("\n", "\r\n")
    script.write_bytes(text.encode("latin-1"))
    ran = run(tmp_path, "check", "--isolated", "--select", "KC103", "--fix", script.name)
    assert (ran.returncode, ran.stderr) == (0, f"Fixed {script.name}: 1 x KC103 (map-before-batch)\n"), ran.stderr
    fixed = text.replace(".map(lambda x: x / 255).batch(3)", ".batch(3).map(lambda x: x / 255)")
    assert script.read_bytes() == fixed.encode("latin-1") != text.encode("latin-1")


@pytest.mark.slow
def test_doctor_reports(tmp_path):
    ran = run(tmp_path, "doctor", "--output-format", "json")
    assert ran.returncode in (0, 1) and ran.stderr == "", ran.stderr
    assert isinstance(json.loads(ran.stdout), dict)


@pytest.mark.parametrize("command", ["why", "verify"])
def test_commands_that_run_scripts_need_wsl(command, tmp_path):
    (tmp_path / "train.py").write_text("raise SystemExit('the script was run')\n")
    ran = run(tmp_path, command, "train.py")
    assert ran.returncode != 0 and ran.stdout == ""
    assert ran.stderr == f"kerascheck: error: {command} needs signals that Windows does not have; use WSL\n"


@pytest.mark.skipif(find_spec("pygls") is None, reason="needs pygls: pip install kerascheck[server]")
def test_server_reports_findings(tmp_path):
    from server.session import Plain

    with subprocess.Popen(
        [*COMMAND, "server"], cwd=tmp_path, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        plain = Plain(server)
        plain.ask("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        plain.notify("initialized", {})
        plain.open((tmp_path / "train.py").as_uri(), MAPPED)
        assert "KC103" in [each["code"] for each in plain.diagnostics()["diagnostics"]]
        plain.ask("shutdown", None)
        plain.notify("exit", None)
