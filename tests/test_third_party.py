"""Third-party rules: in an installed package, or in a folder on the command line."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.catalog import registry

CHECKOUT = Path(__file__).parents[1]
RULE = '''
from kerascheck.api import Rule, Severity


class {cls}(Rule):
    """A step shouts.

    ## What it does

    Reports shouting.
    """

    code = "{code}"
    name = "{name}"
    summary = "a step shouts"
    severity = Severity.WARNING
    triggers = ("shout(",)

    def check(self, module):
        for call in module.run.calls:
            if call.attribute == "shout":
                {act}
'''
REPORT = 'yield self.finding(call, "This shouts; whisper.")'
SCRIPT = "import keras\nmodel = keras.Sequential()\nmodel.shout()\n"


def rule_folder(shelf, code="KCX201", name="shouting-step", act=REPORT, family="layers"):
    folder = shelf / family / name.replace("-", "_")
    folder.mkdir(parents=True)
    cls = "".join(map(str.capitalize, name.split("-")))
    (folder / "rule.py").write_text(RULE.format(cls=cls, code=code, name=name, act=act))
    return folder / "rule.py"


def installed(site, package="acme-rules", value="acme_rules.rules"):
    """An installed package with rules; kerascheck must not run its modules."""
    module = site / package.replace("-", "_")
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("raise SystemExit('imported')\n")
    info = site / f"{module.name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kerascheck.rules]\nrules = {value}\n")
    return module / "rules"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    (tmp_path / "project" / "train.py").write_text(SCRIPT)
    registry.invalidate()
    yield tmp_path / "project"
    registry.use_folders(())
    registry.invalidate()


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def codes(*arguments):
    ran = kerascheck("check", "--isolated", "--output-format", "json", *arguments)
    return [finding["code"] for finding in json.loads(ran.out)["findings"]]


def complaint(*arguments):
    ran = kerascheck(*(arguments or ("check", "train.py")))
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    return line


def test_installed_rule_is_listed(site):
    rule_folder(installed(site))
    assert codes("train.py") == ["KCX201"]
    for chosen in ("KCX201", "kcx201", "shouting-step", "KCX", "KCX2", "KC", "ALL"):
        assert "KCX201" in codes("--select", chosen, "train.py"), chosen
        assert codes("--ignore", chosen, "train.py") == [], chosen
    assert codes("--select", "KC2", "train.py") == []
    # The more specific selector wins, as for all rules.
    assert codes("--select", "shouting-step", "--ignore", "KCX2", "train.py") == ["KCX201"]
    assert "no rule matches 'KCX3'" in complaint("check", "--select", "KCX3", "train.py")


@pytest.mark.parametrize(
    "comment", ["# noqa: KCX201", "# noqa: KCX2", "# kerascheck: ignore[shouting-step]", "# kerascheck: ignore[KCX2]"]
)
def test_comment_suppresses_a_third_party_rule(site, project, comment):
    rule_folder(installed(site))
    (project / "train.py").write_text(SCRIPT.replace("shout()", f"shout()  {comment}"))
    assert codes("--select", "ALL", "train.py") == []
    (project / "train.py").write_text(SCRIPT.replace("shout()", f"summary()  {comment}"))
    assert codes("--select", "ALL", "train.py") == ["KC900"]


def test_code_of_a_missing_rule_is_allowed_in_a_comment(project):
    (project / "train.py").write_text("import keras\nkeras.Sequential()  # noqa: KCX201\n")
    assert codes("--select", "ALL", "train.py") == []


def test_page_names_the_package(site):
    rule_folder(installed(site))
    assert (
        "Usual severity: warning, on by default. It comes from the package acme-rules."
        in kerascheck("rule", "KCX201").out
    )
    assert "KCX201  shouting-step " in kerascheck("rule").out
    assert "It comes from" not in kerascheck("rule", "KC101").out


def test_explain_silence_covers_third_party_rules(site, project):
    rule_folder(installed(site), act='yield self.silence(call, "it is loud here anyway")')
    said = kerascheck("check", "train.py", "--explain-silence", "3").out
    assert "KCX201 shouting-step looked at `model.shout()`: it is loud here anyway." in " ".join(said.split())


def test_flake8_reports_third_party_findings(site, project):
    rule_folder(installed(site))
    ran = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select", "KC", "train.py"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": f"{CHECKOUT}{os.pathsep}{site}"},
    )  # fmt: skip
    assert ran.stdout == "train.py:3:7: KCX201 This shouts; whisper.\n", ran


def test_rules_option_loads_a_folder(tmp_path):
    rule_folder(tmp_path / "mine")
    assert codes("train.py") == []
    assert codes("--rules", tmp_path / "mine", "train.py") == ["KCX201"]
    rule_folder(tmp_path / "others", code="KCY101", name="shouting-loop")
    both = ("--rules", tmp_path / "mine", "--rules", tmp_path / "others")
    assert codes(*both, "train.py") == ["KCX201", "KCY101"]
    assert "It comes from the folder" in kerascheck("rule", "KCY101", *both).out
    # The option applies to one run only.
    assert codes("train.py") == []


def test_package_may_be_installed_and_named_by_rules_option(site):
    rules = installed(site)
    rule_folder(rules)
    assert codes("--rules", rules, "train.py") == ["KCX201"]


@pytest.mark.parametrize("platform", [sys.platform, "elsewhere"])
def test_workers_run_third_party_rules(tmp_path, project, platform):
    """Workers are forked if the platform supports it, otherwise spawned."""
    rule_folder(tmp_path / "mine")
    for number in range(22):
        (project / f"m{number}.py").write_text(SCRIPT)
    script = tmp_path / "run_it.py"
    code = f"""
        import sys
        if __name__ == "__main__":
            sys.platform = {platform!r}
            from kerascheck.lint import pipeline, triage
            triage._SPREAD_FROM, pipeline._LIGHT_BYTES = 2, 0
            from kerascheck.cli.main import main
            main(["check", "--isolated", "--output-format", "concise", "--rules", {str(tmp_path / "mine")!r}, "."])
    """
    script.write_text(textwrap.dedent(code))
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}
    )  # fmt: skip
    assert ran.stdout.count("KCX201") == 23, ran


# --- sources that must not add rules -------------------------------------------------------------------


@pytest.mark.parametrize("key", ["rules", "rule-folders", "plugins"])
def test_configuration_cannot_load_rules(tmp_path, project, key):
    rule_folder(tmp_path / "mine", act="open('executed', 'w')")
    (project / "pyproject.toml").write_text(f'[tool.kerascheck]\n{key} = ["{tmp_path / "mine"}"]\n')
    assert f"'{key}'" in complaint()
    assert not (project / "executed").exists()


def test_flake8_configuration_cannot_load_rules(tmp_path, project):
    rule_folder(tmp_path / "mine", act="open('executed', 'w')")
    for key in ("rules", "kerascheck-rules", "kerascheck_rules"):
        (project / ".flake8").write_text(f"[flake8]\nselect = KC\n{key} = {tmp_path / 'mine'}\n")
        ran = subprocess.run(
            [sys.executable, "-m", "flake8", "train.py"],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )  # fmt: skip
        assert "KCX201" not in ran.stdout and not (project / "executed").exists()


def test_linted_code_is_not_an_installed_package(project):
    """``python -m`` puts the current folder first on the import path."""
    rule_folder(installed(project), act="open('executed', 'w')")
    ran = subprocess.run(
        [sys.executable, "-m", "kerascheck", "check", "train.py"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert ran.returncode == 0, ran
    assert not (project / "executed").exists()


# --- invalid rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("KC405", "the code KC405 is one of kerascheck's own; write KC, a letter and three digits, such as KCX101"),
        ("KC899", "the code KC899 is one of kerascheck's own"),
        ("ACME101", "the code ACME101 is none that others may use"),
        ("KCXY101", "the code KCXY101 is none that others may use"),
    ],
)
def test_third_party_code_needs_a_letter(site, code, problem):
    rule_folder(installed(site), code=code)
    assert "error: rules of the package acme-rules: " in complaint()
    assert problem in complaint()
    assert problem in complaint("rule")


def test_duplicate_code_or_name_is_an_error(site):
    rule_folder(installed(site))
    rule_folder(installed(site, "more-rules", "more_rules.rules"), name="shouting-loop")
    assert "rules of the package more-rules: " in complaint()
    assert "have the same code, KCX201" in complaint()


def test_built_in_name_is_rejected(site):
    rule_folder(installed(site), name="serial-map")
    assert "rules of the package acme-rules: " in complaint() and "have the same name, serial-map" in complaint()


@pytest.mark.parametrize("value", ["acme_rules.elsewhere", "nowhere.at.all", "json", "acme_rules:rules"])
def test_entry_point_without_a_folder_is_an_error(site, value):
    rule_folder(installed(site, value=value))
    problem = f"the package acme-rules says that its rules are in '{value}' (entry point kerascheck.rules)"
    assert problem in complaint() or "there are none; each is a folder FAMILY/NAME" in complaint()


def test_folder_without_rules_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    ran = complaint("check", "--rules", tmp_path / "empty", "train.py")
    assert "there are none; each is a folder FAMILY/NAME with a rule.py" in ran
    assert f"--rules {tmp_path / 'gone'}: there is no such folder" in complaint("rule", "--rules", tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def (", "invalid syntax"),
        ("x = 1", "must define exactly one rule, not 0"),
        (
            RULE.replace('"a step shouts"', "1 + x").format(cls="A", code="KCX201", name="a", act=REPORT),
            "'summary' must be written as a literal",
        ),
        ("\0", "null bytes"),
    ],
)
def test_file_without_a_rule_is_an_error(tmp_path, text, problem):
    path = rule_folder(tmp_path / "mine")
    path.write_text(text)
    error = complaint("check", "--rules", tmp_path / "mine", "train.py")
    assert f"rules of the folder {tmp_path / 'mine'}: " in error
    assert problem in error and str(path) in error


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        ("raise ZeroDivisionError('in vain')", "ZeroDivisionError: in vain (rule.py:22)"),
        ("yield 1", "AttributeError"),
        ("yield self.finding(None, 'x')", "AttributeError"),
    ],
)
def test_failing_rule_is_one_line_per_file(site, project, act, problem):
    rule_folder(installed(site), act=act)
    for name in ("a.py", "b.py"):
        (project / name).write_text(SCRIPT + "for row in rows:\n    model.predict(row[None])\n")
    ran = kerascheck("check", "--isolated", "--output-format", "concise", "-q", "a.py", "b.py")
    assert ran.code == 2
    failed = [line for line in ran.out.splitlines() if "KC998" in line]
    assert [line.split(":")[0] for line in failed] == ["a.py", "b.py"]
    for line in failed:
        assert "rule KCX201 (shouting-step) failed: " in line and problem in line
        assert line.endswith("this is a fault of the package acme-rules: please report it with this line and the file")
    assert ran.out.count("KC405") == 2


def test_unloadable_rule_is_one_line_per_file(site):
    path = rule_folder(installed(site))
    path.write_text("import nowhere_at_all\n" + path.read_text())
    ran = kerascheck("check", "--isolated", "--output-format", "concise", "-q", "train.py")
    assert ran.code == 2
    assert "rule KCX201 (shouting-step) failed: ModuleNotFoundError: No module named 'nowhere_at_all'" in ran.out


def test_failing_comments_rule_is_one_line(site, project):
    path = rule_folder(installed(site))
    path.write_text(
        path.read_text()
        .replace("Rule", "CommentsRule")
        .replace("module.run.calls", "[1 / 0]")
        .replace("shout(", "noqa")
    )
    (project / "train.py").write_text("import keras\nkeras.Sequential()  # noqa: KC405\n")
    ran = kerascheck("check", "--isolated", "--output-format", "concise", "-q", "train.py")
    assert ran.code == 2
    assert "train.py:1:1: error: KC998 rule KCX201 (shouting-step) failed: ZeroDivisionError" in ran.out
    assert "KC900" in ran.out


# --- new rules -----------------------------------------------------------------------------------------


def test_new_third_party_rule_gets_a_third_party_code(tmp_path):
    mine = tmp_path / "mine"
    ran = kerascheck("new-rule", "layers/shouting-step", "--rules", mine)
    assert (ran.code, len(ran.out.splitlines())) == (0, 3)
    slow = mine / "layers" / "shouting_step" / "slow.py"
    assert ran.out.endswith(f"Try it: kerascheck check --rules {mine} --select KCX201 {slow}\n")
    assert codes("--rules", mine, "--select", "KCX201", slow) == ["KCX201"]
    for place, code in (("layers/shouting-loop", "KCX202"), ("galaxies/far", "KCX101"), ("training/loud", "KCX401")):
        assert code in kerascheck("new-rule", place, "--rules", mine).out
    assert "there is a rule 'shouting-step' already" in complaint("new-rule", "layers/shouting-step", "--rules", mine)
    assert "KCX201" in kerascheck("new-rule", "layers/quiet-step", "--rules", tmp_path / "others").out


def test_new_rule_does_not_write_into_an_installed_kerascheck(monkeypatch):
    monkeypatch.setattr(registry, "rules_folder", lambda: CHECKOUT / "kerascheck" / "rules")
    assert "name a folder of your own rules by --rules DIR" in complaint("new-rule", "layers/print-in-step")
