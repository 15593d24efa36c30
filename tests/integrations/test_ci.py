"""The GitHub action and the GitLab job: their structure, and their scripts run as the services run them."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kerascheck.integrations import ci

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install kerascheck[test]")

ROOT = Path(__file__).resolve().parents[2]
ACTION_TEXT = (ROOT / "action.yml").read_text(encoding="utf-8")
ACTION = yaml.safe_load(ACTION_TEXT)
GITLAB = yaml.safe_load((ROOT / "docs" / "kerascheck.gitlab-ci.yml").read_text(encoding="utf-8"))["kerascheck"]
DOCUMENT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
OUTPUT, SUMMARY = "output", "summary.md"
STATEFUL = "import keras, tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: tf.random.uniform([]))\n"
STATEFUL += "keras.Sequential().fit(ds)\n"
MAPPED = "import keras, tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: x / 255).batch(3)\n"
MAPPED += "keras.Sequential().fit(ds)\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "a project"
    (folder / "some scripts").mkdir(parents=True)
    (folder / "some scripts" / "train.py").write_text(STATEFUL)
    (folder / "plain.py").write_text("x = 1\n")
    (folder / "venv.py").write_text("raise SystemExit('code of the repository was imported')\n")
    return folder


@pytest.fixture
def installed(tmp_path):
    """A folder that looks like an installation of kerascheck."""
    program = tmp_path / "temp" / "kerascheck" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    program.chmod(0o755)
    return tmp_path / "temp"


def run_step(name, folder, temp, **inputs):
    """Run a step of the action as a runner does, with some inputs and the defaults of the others."""
    values = {key: value.get("default", "") for key, value in ACTION["inputs"].items()}
    values |= {key.replace("_", "-"): value for key, value in inputs.items()}
    assert set(values) == set(ACTION["inputs"])
    environment = {}
    for key, value in STEPS[name].get("env", {}).items():
        asked = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
        environment[key] = values[asked[1]] if asked else sys.executable
    script = folder.parent / "step.sh"
    script.write_text(STEPS[name]["run"])
    for file in (OUTPUT, SUMMARY):
        (folder.parent / file).write_text("")
    runner = {
        "RUNNER_TEMP": str(temp),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(folder.parent / OUTPUT),
        "GITHUB_STEP_SUMMARY": str(folder.parent / SUMMARY),
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
        cwd=folder / values["working-directory"],
        env={**os.environ, **environment, **runner},
        capture_output=True,
        text=True,
    )


def test_action_metadata_is_valid():
    """https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax"""
    assert {"name", "description", "inputs", "runs"} <= set(ACTION) and ACTION["runs"]["using"] == "composite"
    assert all(type(value["default"]) is str and value["description"] for value in ACTION["inputs"].values())
    for step in STEPS.values():
        assert ("run" in step) != ("uses" in step) and ("run" not in step or step["shell"] == "bash")
    asked = set(re.findall(r"inputs\.([\w-]+)", ACTION_TEXT))
    assert asked == set(ACTION["inputs"])


def test_inputs_are_not_interpolated_into_scripts():
    assert not [step["name"] for step in STEPS.values() if "${{" in step.get("run", "")]


@pytest.mark.slow
def test_findings_are_annotations_and_sarif(project, installed):
    lint = {"paths": "some scripts\nplain.py\n", "args": "--select KC101\n--pedantic", "sarif_file": "out.sarif"}
    ran = run_step("kerascheck", project, installed, **lint)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.startswith("::warning title=kerascheck KC101 serial-map,file=some scripts/train.py,line=2,")
    (run,) = json.loads((project / "out.sarif").read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["KC101"]


@pytest.mark.slow
def test_exit_codes_are_those_of_kerascheck(project, installed):
    assert run_step("kerascheck", project, installed, paths="plain.py").returncode == 0
    assert run_step("kerascheck", project, installed, paths="missing.py").returncode == 2
    assert run_step("kerascheck", project, installed, args="--exit-zero", sarif_file="no/such/folder").returncode == 2


@pytest.mark.slow
def test_inputs_are_not_executed(project, installed):
    hostile = "$(touch pwned)`touch pwned`"
    for name, code in {"paths": 2, "args": 2, "output_format": 2, "sarif_file": 1}.items():
        ran = run_step("kerascheck", project, installed, **{name: hostile})
        assert ran.returncode == code, (name, ran.stdout, ran.stderr)
    assert (project / hostile).is_file(), "the SARIF report has the name that was asked for"
    assert not list(project.rglob("pwned"))


@pytest.mark.slow
def test_the_action_installs_and_runs_kerascheck(project, tmp_path):
    installing = run_step("Install kerascheck", project, tmp_path)
    if "No matching distribution" in installing.stderr:
        pytest.skip("pip cannot reach a package registry")
    assert installing.returncode == 0, installing.stderr
    assert run_step("kerascheck", project, tmp_path, args="--select KC101").returncode == 1


def outputs(project):
    """The outputs of the last step."""
    lines = (project.parent / OUTPUT).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.slow
def test_outputs_and_summary_count_the_findings(project, installed):
    (project / "mapped.py").write_text(MAPPED)
    ran = run_step("kerascheck", project, installed, args="--select KC101,KC103")
    assert ran.returncode == 1, ran.stderr
    counts = {"errors": "0", "warnings": "2", "hints": "0", "fixable": "1", "exit-code": "1"}
    assert outputs(project) == counts and set(ACTION["outputs"]) == set(counts)
    summary = (project.parent / SUMMARY).read_text(encoding="utf-8")
    assert summary.startswith("### kerascheck: 0 errors, 2 warnings, 0 hints, 1 fixable with --fix\n")
    assert "| <code>mapped.py&#58;2</code> | KC103 |" in summary
    assert "\n+ds = tf.data.Dataset.range(9).batch(3).map(lambda x: x / 255)\n" in summary and summary.count("~~~") == 2


@pytest.mark.slow
def test_nothing_is_posted_where_nothing_is_found(project, installed):
    ran = run_step("kerascheck", project, installed, paths="plain.py")
    assert ran.returncode == 0 and "::" not in ran.stdout, ran.stdout
    assert outputs(project) == {"errors": "0", "warnings": "0", "hints": "0", "fixable": "0", "exit-code": "0"}
    assert (project.parent / SUMMARY).read_text() == ""
    assert "GITHUB_TOKEN" not in ACTION_TEXT and "github.token" not in ACTION_TEXT


@pytest.mark.slow
def test_counts_are_unknown_where_kerascheck_cannot_run(project, installed):
    ran = run_step("kerascheck", project, installed, args="--no-such-option")
    assert ran.returncode == 2 and "--no-such-option" in ran.stderr
    assert outputs(project) == {"errors": "", "warnings": "", "hints": "", "fixable": "", "exit-code": "2"}
    ran = run_step("kerascheck", project, installed, args="--exclude 'open")
    assert ran.returncode == 2 and "No closing quotation" in ran.stderr


@pytest.mark.slow
def test_arguments_are_quoted_as_in_a_shell(project, installed):
    ran = run_step("kerascheck", project, installed, args="--select KC101 --extend-exclude 'some scripts'")
    assert (ran.returncode, outputs(project)["warnings"]) == (0, "0"), ran.stderr
    ran = run_step("kerascheck", project, installed, args="--select KC101 --extend-exclude 'other scripts'")
    assert (ran.returncode, outputs(project)["warnings"]) == (1, "1"), ran.stderr


def test_summary_shows_ten_findings_and_no_markup_of_the_code():
    hostile = {"path": "a|b.py", "cell_number": None, "line": 1, "code": "KC101", "severity": "warning"}
    hostile |= {"message": "<img src=x> @team `x`", "fix": {"applicability": "unsafe", "withheld": None}}
    findings = [{**hostile, "severity": "info", "code": "KC1"}, *[hostile] * 12]
    counts = {"error": 0, "warning": 12, "info": 1}
    shown = ci.summary({"findings": findings, "errors": [], "summary": counts}, "+~~~\n")
    assert shown.count("| KC101 |") == 10 and "| KC1 |" not in shown and "3 more in the log." in shown
    assert "12 warnings, 1 hint, 0 fixable with --fix" in shown
    assert "<img" not in shown and "@team" not in shown and "a&#124;b.py" in shown
    assert "\n~~~~diff\n+~~~\n~~~~\n" in shown


def test_the_cache_of_pip_has_a_key_for_each_platform_and_project_file(project, tmp_path):
    ran = run_step("Name the cache of pip", project, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(rf"kerascheck-pip-{sys.platform}-\w+-3-\d+-[0-9a-f]{{16}}", outputs(project)["key"])
    folder = STEPS["Restore the cache of pip"]["with"]["path"].replace("${{ runner.temp }}", "$RUNNER_TEMP")
    assert f'--cache-dir "{folder}"' in STEPS["Install kerascheck"]["run"]


def run_job(folder, temp, **variables):
    """Run the script of the GitLab job, in the shell of its image."""
    script = "\n".join(GITLAB["script"]).replace("/tmp/kerascheck", str(temp / "kerascheck"))
    environment = {**os.environ, **GITLAB["variables"], **variables, "CI_PROJECT_DIR": str(folder)}
    return subprocess.run(["sh", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_the_gitlab_job_reports_and_fails(project, installed):
    ran = run_job(project, installed, KERASCHECK_PATHS="some scripts\nplain.py", KERASCHECK_ARGS="--select KC101")
    assert ran.returncode == 1 and "KC101 serial-map" in ran.stdout, ran.stderr
    reports = GITLAB["artifacts"]["reports"]
    (issue,) = json.loads((project / reports["codequality"]).read_text(encoding="utf-8"))
    counts = (project / reports["dotenv"]).read_text(encoding="utf-8").splitlines()
    assert counts == [
        f"KERASCHECK_{each}" for each in ("ERRORS=0", "WARNINGS=1", "HINTS=0", "FIXABLE=0", "EXIT_CODE=1")
    ]
    assert issue["location"]["path"] == "some scripts/train.py"
    assert GITLAB["artifacts"]["when"] == "always"


@pytest.mark.slow
def test_the_gitlab_job_executes_no_variable_and_keeps_the_exit_code(project, installed):
    assert run_job(project, installed, KERASCHECK_PATHS="$(touch pwned)").returncode == 2
    assert run_job(project, installed, KERASCHECK_PATHS="plain.py").returncode == 0
    assert not list(project.rglob("pwned"))


def test_the_gitlab_job_installs_only_explicit_versions(tmp_path):
    ask = subprocess.run(["sh", "-e", "-c", GITLAB["before_script"][0]], env={}, capture_output=True, text=True)
    assert ask.returncode == 2 and "KERASCHECK_PACKAGE" in ask.stderr


def test_documented_recipes_use_existing_names():
    recipes = [
        yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
    ]
    steps = [step for recipe in recipes for job in recipe.get("jobs", {}).values() for step in job["steps"]]
    given = [set(step["with"]) for step in steps if step.get("uses", "").startswith("<owner>")]
    assert given and all(names <= set(ACTION["inputs"]) for names in given)
    assert all(f"| `{name}` |" in DOCUMENT for name in (*ACTION["inputs"], *ACTION["outputs"]))
    ((job, included),) = [
        (recipe["kerascheck"], recipe["include"][0]["file"]) for recipe in recipes if "include" in recipe
    ]
    assert (
        set(job["variables"]) == {"KERASCHECK_PACKAGE", "KERASCHECK_PATHS", "KERASCHECK_ARGS"}
        and (ROOT / included).is_file()
    )
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert hooks >= {hook["id"] for recipe in recipes for repo in recipe.get("repos", ()) for hook in repo["hooks"]}
