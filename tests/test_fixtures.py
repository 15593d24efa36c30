"""Whole projects under fixtures/, linted through the command line."""

import json
import os
from pathlib import Path

import pytest
from command import kerascheck

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


def lint():
    """Findings of the project in the working directory."""
    ran = kerascheck(".", "--isolated", "--pedantic", "--output-format", "json", "--exit-zero")
    assert ran.code == 0, ran
    return json.loads(ran.out)["findings"]


def test_projects_exist():
    assert len(PROJECTS) >= 8


@pytest.mark.parametrize("project", PROJECTS)
def test_expected_report_is_well_formed(project):
    entries = [entry(finding) for finding in expected(project)]
    assert entries == sorted(set(entries), key=order)
    for path, cell, line, code, name, severity, pedantic in entries:
        assert source_line(project, path, cell, line), f"{path}:{line} is an empty line"
        assert code.startswith("KC") and name and severity in ({"info"} if pedantic else {"error", "warning", "info"})


@pytest.mark.parametrize("project", PROJECTS)
def test_report_equals_the_expected_one(project, monkeypatch, in_this_process):
    monkeypatch.chdir(FIXTURES / project)
    wanted = {entry(finding) for finding in expected(project)}
    found = {entry(finding) for finding in lint()}
    missing = [describe(project, item) for item in sorted(wanted - found, key=order)]
    unexpected = [describe(project, item) for item in sorted(found - wanted, key=order)]
    report = [f"fixtures/{project}: {len(missing)} missing, {len(unexpected)} unexpected"]
    report += ["  missing:", *missing] if missing else []
    report += ["  unexpected:", *unexpected] if unexpected else []
    assert not missing and not unexpected, "\n".join(report)
