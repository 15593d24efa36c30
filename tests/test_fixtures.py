"""Whole projects under fixtures/, linted through the command that a user types."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
PROJECTS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))
KEYS = ("path", "cell", "line", "code", "name", "severity", "pedantic")


def entry(finding):
    values = {key: finding.get(key) for key in KEYS}
    values["pedantic"] = bool(values["pedantic"])
    values["path"] = Path(os.path.normpath(values["path"])).as_posix()
    return tuple(values[key] for key in KEYS)


def order(found):
    path, cell, line, code, *_ = found
    return path, cell or 0, line, code


def expected(project):
    return json.loads((FIXTURES / project / "expected.json").read_text(encoding="utf-8"))


def source_line(project, path, cell, line):
    text = (FIXTURES / project / path).read_text(encoding="utf-8")
    if cell is not None:
        text = "".join(json.loads(text)["cells"][cell]["source"])
    return text.splitlines()[line - 1].strip()


def describe(project, found):
    path, cell, line, code, name, severity, pedantic = found
    place = f"{path}:{line}" if cell is None else f"{path}:cell {cell}:{line}"
    try:
        text = source_line(project, path, cell, line)
    except (IndexError, OSError):
        text = "(no such line)"
    return f"    {place} {code} {name} {severity}{' pedantic' * pedantic}\n        {text}"


def lint(project):
    # fixture modules called config or utils must not shadow what kerascheck imports
    search = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search)), "PYTHONSAFEPATH": "1"}
    command = [
        sys.executable,
        "-m",
        "kerascheck",
        ".",
        "--isolated",
        "--pedantic",
        "--output-format",
        "json",
        "--exit-zero",
    ]
    done = subprocess.run(command, cwd=FIXTURES / project, env=env, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)["findings"]


def test_there_are_projects():
    assert len(PROJECTS) >= 8


@pytest.mark.parametrize("project", PROJECTS)
def test_expected_report_is_well_formed(project):
    entries = [entry(finding) for finding in expected(project)]
    assert entries == sorted(set(entries), key=order)
    for path, cell, line, code, name, severity, pedantic in entries:
        assert source_line(project, path, cell, line), f"{path}:{line} is an empty line"
        assert code.startswith("KC") and name and severity in ({"info"} if pedantic else {"error", "warning", "info"})


@pytest.mark.parametrize("project", PROJECTS)
def test_report(project):
    wanted = {entry(finding) for finding in expected(project)}
    found = {entry(finding) for finding in lint(project)}
    missing = [describe(project, item) for item in sorted(wanted - found, key=order)]
    unexpected = [describe(project, item) for item in sorted(found - wanted, key=order)]
    report = [f"fixtures/{project}: {len(missing)} missing, {len(unexpected)} unexpected"]
    report += ["  missing:", *missing] if missing else []
    report += ["  unexpected:", *unexpected] if unexpected else []
    assert not missing and not unexpected, "\n".join(report)
