"""The formats for CI services, checked with third-party readers."""

import json
import re
from dataclasses import replace

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

from kerascheck.finding import Applicability, Edit, FileError, Finding, Fix, Location, Related, Severity
from kerascheck.report import azure, github, gitlab, grouped, junit, pylint, rdjson, sarif
from kerascheck.report import json as json_report
from kerascheck.report.report import Report, fingerprints
from kerascheck.source import Cell, Source

CODE = "import tensorflow as tf\nds = ds.map(f)\nds = ds.map(g)\n"
SCRIPT = Source("my data/a.py", CODE)
NOTEBOOK = Source("n.ipynb", CODE, cells=(Cell(4, 0, len(CODE)),))
ERROR = FileError("KC999", Location("b.py", None, 3, 1, 3, 1), "100% of it,\nis: not Python")


def finding(source=SCRIPT, text="ds.map(f)", **changes):
    start = source.text.index(text)
    end = start + len(text)
    fix = Fix(Applicability.SAFE, "Add the argument", (Edit(end - 1, end - 1, ", 1"),))
    place = source.locate(start, end)
    related = (Related(Location("c.py", None, 7, 2, 7, 4), "this draws"),)
    return replace(Finding("KC101", "serial-map", Severity.WARNING, place, "Slow.", "It is.", fix, related), **changes)


def report(*findings, errors=(), failing=None):
    sources = {SCRIPT.path: SCRIPT, NOTEBOOK.path: NOTEBOOK}
    return Report(findings, errors, sources, 3, {}, frozenset(findings if failing is None else failing))


def test_sarif_conforms_to_its_schema():
    text = sarif.render(report(finding(), finding(text="ds.map(g)", severity=Severity.INFO), errors=[ERROR]))
    Sarif.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("KC101", "serial-map") and "## What it does" in rule["help"]["markdown"]
    assert [result["level"] for result in run["results"]] == ["warning", "note"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "my%20data/a.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 15}
    (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 14, "endLine": 2, "endColumn": 14},
            "insertedContent": {"text": ", 1"},
        }
    ]
    assert run["results"][0]["relatedLocations"][0]["message"] == {"text": "this draws"}
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["descriptor"] == {"id": "KC999"}


def test_sarif_names_the_cell_and_has_no_fixes_for_a_notebook():
    (run,) = json.loads(sarif.render(report(finding(NOTEBOOK))))["runs"]
    assert run["results"][0]["locations"][0]["logicalLocations"] == [{"name": "cell 5", "kind": "module"}]
    assert "fixes" not in run["results"][0]


def test_absolute_paths_are_file_uris_in_sarif():
    place = Location("/data/a b.py", None, 1, 1, 1, 2)
    (run,) = json.loads(sarif.render(report(finding(location=place, fix=None))))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///data/a%20b.py"}


def test_fingerprints_survive_moved_lines_and_distinguish_equal_findings():
    (first,) = fingerprints([finding()], {SCRIPT.path: SCRIPT}).values()
    moved = SCRIPT.with_text("import os\n\nif os:\n    " + CODE.replace("\n", "\n    "))
    (again,) = fingerprints([finding(moved)], {SCRIPT.path: moved}).values()
    assert first == again
    noted = SCRIPT.with_text(CODE.replace("ds.map(f)", "ds.map( f )  # why"))
    assert set(fingerprints([finding(noted, text="ds.map( f )")], {SCRIPT.path: noted}).values()) == {first}
    both = fingerprints([finding(), finding(text="ds.map(g)")], {SCRIPT.path: SCRIPT})
    assert len(set(both.values())) == 2
    twice = SCRIPT.with_text(CODE.replace("(g)", "(f)"))
    late = twice.text.rindex("ds.map")
    alike = [finding(twice), finding(twice, location=twice.locate(late, late + 9))]
    assert len(set(fingerprints(alike, {SCRIPT.path: twice}).values())) == 2


COMMAND = re.compile(r"^::(\w+) ([^:]*)::(.*)$")
"""A command as https://github.com/actions/runner parses it: one line, with properties without colons."""


def commands(text):
    for line in text.splitlines():
        name, properties, message = COMMAND.match(line).groups()
        yield name, dict(pair.split("=", 1) for pair in properties.split(",")), message


def test_github_report_has_one_command_per_line():
    found = list(commands(github.render(report(finding(), errors=[ERROR]))))
    (error, at, message), (warning, where, text) = found
    assert (error, at["file"], at["line"]) == ("error", "b.py", "3")
    assert message == "b.py:3:1: KC999 100%25 of it,%0Ais: not Python"
    assert (warning, where["title"]) == ("warning", "kerascheck KC101 serial-map")
    assert (where["line"], where["endLine"], where["col"], where["endColumn"]) == ("2", "2", "6", "15")
    assert text == "my data/a.py:2:6: KC101 Slow."


def test_github_report_has_no_lines_for_a_notebook():
    ((_, where, text),) = commands(github.render(report(finding(NOTEBOOK, severity=Severity.INFO))))
    assert "line" not in where and text.startswith("n.ipynb:cell 5:2:6:")


def test_github_report_has_no_columns_for_several_lines():
    ((_, where, _),) = commands(github.render(report(finding(location=Location("a.py", None, 2, 9, 4, 1)))))
    assert where["endLine"] == "4" and "col" not in where


def test_gitlab_paths_are_relative_to_the_project_root(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    issues = json.loads(gitlab.render(report(finding(), errors=[ERROR])))
    required = {"description", "check_name", "fingerprint", "severity", "location"}
    assert all(required <= set(issue) for issue in issues)
    assert [issue["location"]["path"] for issue in issues] == ["sub/my data/a.py", "sub/b.py"]
    assert [issue["severity"] for issue in issues] == ["major", "blocker"]
    assert len({issue["fingerprint"] for issue in issues}) == 2


def test_junit_failures_are_the_findings_that_fail_the_run(tmp_path):
    hint = finding(text="ds.map(g)", severity=Severity.INFO)
    path = tmp_path / "report.xml"
    path.write_text(junit.render(report(finding(), hint, errors=[ERROR], failing=[finding()])))
    xml = JUnitXml.fromfile(str(path))
    counted = xml.tests, xml.failures, xml.errors, xml.skipped
    assert counted == (3, 1, 1, 1)
    xml.update_statistics()
    assert counted == (xml.tests, xml.failures, xml.errors, xml.skipped)


def test_junit_passes_without_findings(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(junit.render(report()))
    xml = JUnitXml.fromfile(str(path))
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == (1, 0, 0, 0)


def test_json_lines_equal_the_parts_of_the_document():
    given = report(finding(), errors=[ERROR])
    lines = [json.loads(line) for line in json_report.render_lines(given).splitlines()]
    document = json.loads(json_report.render(given))
    assert [line.pop("kind") for line in lines] == ["finding", "error", "summary"]
    assert lines == [*document["findings"], *document["errors"], document["summary"]]


@pytest.mark.parametrize(
    "renderer", [sarif.render, github.render, gitlab.render, junit.render, json_report.render_lines]
)
def test_control_sequences_are_escaped(renderer):
    text = renderer(report(finding(message='a <b> & "c" \x1b[31m ::error::x')))
    assert "\x1b" not in text and (renderer is not github.render or text.count("\n") == 0)


def test_azure_commands_have_escaped_properties():
    lines = azure.render(
        report(finding(), finding(text="ds.map(g)", severity=Severity.INFO), errors=[ERROR])
    ).splitlines()
    assert lines[0] == (
        "##vso[task.logissue type=error;sourcepath=b.py;linenumber=3;columnnumber=1;code=KC999;]"
        "b.py:3:1: KC999 100%AZP25 of it,%0Ais: not Python"
    )
    assert lines[1].startswith(
        "##vso[task.logissue type=warning;sourcepath=my data/a.py;linenumber=2;columnnumber=6;code=KC101;]"
    )
    assert len(lines) == 3 and "type=warning" in lines[2]
    named = finding(location=Location("a;b].py", None, 1, 1, 1, 2))
    assert "sourcepath=a%3Bb%5D.py;" in azure.render(report(named))
    assert "linenumber" not in azure.render(report(finding(NOTEBOOK)))


def test_grouped_lines_stand_below_their_file():
    assert grouped.render(report(finding(), finding(NOTEBOOK), errors=[ERROR])).splitlines() == [
        "b.py:",
        "  3:1 error KC999 100% of it,\\nis: not Python",
        "",
        "my data/a.py:",
        "  2:6 warning KC101 Slow.",
        "",
        "n.ipynb:",
        "  cell 5:2:6 warning KC101 Slow.",
    ]


def test_pylint_lines_have_no_column():
    lines = pylint.render(report(finding(), finding(NOTEBOOK), errors=[ERROR])).splitlines()
    assert lines == [
        "b.py:3: [KC999] 100% of it,\\nis: not Python",
        "my data/a.py:2: [KC101(serial-map)] Slow.",
        "n.ipynb:2: [KC101(serial-map)] cell 5: Slow.",
    ]


def test_reviewdog_gets_ranges_and_safe_fixes():
    unsafe = replace(finding().fix, applicability=Applicability.UNSAFE)
    found = json.loads(
        rdjson.render(report(finding(), finding(text="ds.map(g)", fix=unsafe), finding(NOTEBOOK), errors=[ERROR]))
    )
    assert found["source"] == {"name": "kerascheck"}
    error, first, second, cell = found["diagnostics"]
    assert (error["severity"], error["code"]) == ("ERROR", {"value": "KC999"})
    assert first["location"] == {
        "path": "my data/a.py",
        "range": {"start": {"line": 2, "column": 6}, "end": {"line": 2, "column": 15}},
    }
    at = {"line": 2, "column": 14}
    assert first["suggestions"] == [{"range": {"start": at, "end": at}, "text": ", 1"}]
    assert "suggestions" not in second and "suggestions" not in cell
    assert cell["location"] == {"path": "n.ipynb"}


def test_reviewdog_counts_bytes():
    source = Source("b.py", "größe = ds.map(f)\n")
    text = rdjson.render(Report([finding(source)], [], {source.path: source}, 1))
    (found,) = json.loads(text)["diagnostics"]
    assert found["location"]["range"] == {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 20}}
    assert found["suggestions"][0]["range"]["start"]["column"] == 19
