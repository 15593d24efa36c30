"""Every rule against the files of its folder: rules/<family>/<slug>/{rule,slow,fast,quiet}.py.

A rule about requirements has subfolders with these names instead, whose files have the names of their kind.

The scripts contain marks on the lines of the findings (tests/marks.py). A slow.py that must fail begins with
``# raises: ValueError``.
"""

import ast
import functools
import json
import math
import re
import shutil
from importlib.util import find_spec

import pytest
from command import kerascheck
from forked import Running
from marks import differences, expectations, severity_of, unmarked
from parsers import unknown_field_in_call

from kerascheck.catalog.measured import read_table
from kerascheck.catalog.registry import rule_specs
from kerascheck.catalog.rule import CommentsRule, RequirementsRule, Rule
from kerascheck.finding import Severity
from kerascheck.report import no_fix
from kerascheck.report.rule_page import sections

RAISES = re.compile(r"\A# raises: (\w+)\n")
pytestmark = pytest.mark.usefixtures("in_this_process")
HEADINGS = [
    "What it does",
    "Why it costs",
    "What the runtime does by itself",
    "Use instead",
    "Fix safety",
    "References",
]
SPECS = rule_specs()

SCRIPTS = [spec for spec in SPECS if spec.kind is Rule]

every_rule = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
every_script = pytest.mark.parametrize("spec", SCRIPTS, ids=lambda spec: spec.name)


def examples(spec, name):
    """Files "slow", "fast" or "quiet" of a rule, in the same order for slow and fast."""
    if spec.kind is not RequirementsRule:
        return [spec.folder / f"{name}.py"] if name != "quiet" else sorted(spec.folder.glob("quiet*.py"))
    return sorted(path for path in (spec.folder / name).rglob("*") if path.is_file())


def selected(spec):
    # Unused suppressions are known only if all rules run.
    return "ALL" if spec.kind is CommentsRule else spec.code


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The path of a rule's file in a copy of the rule's folder.

    The copy is a separate project; otherwise every run would search this repository for importers.
    """
    folder = tmp_path_factory.mktemp("rules")

    def copied(spec, path):
        place = folder / spec.name
        if not place.exists():
            shutil.copytree(spec.folder, place, ignore=shutil.ignore_patterns("rule.py", "__pycache__"))
            (place / ".git").mkdir()
        return place / path.relative_to(spec.folder)

    return copied


@pytest.fixture(scope="module")
def own(copied):
    """Findings of a rule in a file of its folder."""
    return functools.cache(lambda spec, path: findings(spec, copied(spec, path)))


def findings(spec, *paths):
    ran = kerascheck("--isolated", "--pedantic", "--select", selected(spec), "--output-format", "json", *paths)
    assert ran.code in (0, 1), ran
    report = json.loads(ran.out)
    return [finding for finding in report["findings"] if finding["code"] == spec.code]


def without_marks(text):
    return RAISES.sub("", unmarked(text))


def describe(problems):
    return "\n".join(f"  line {line}: {what}" for line, what in sorted(problems))


def test_rule_folders_exist():
    assert SPECS


@every_rule
def test_rule_folder_is_complete(spec):
    assert all(path.is_file() for name in ("slow", "fast", "quiet") for path in examples(spec, name))
    assert [path.name.replace("slow", "fast") for path in examples(spec, "slow")] == [
        path.name for path in examples(spec, "fast")
    ]
    assert examples(spec, "slow") and examples(spec, "quiet")


@every_rule
def test_quiet_has_at_least_one_case(spec):
    for path in examples(spec, "quiet"):
        code = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
        assert code, f"{path} has no case"


@every_rule
def test_no_placeholders_are_left(spec):
    left = left_to_fill_in(spec.folder)
    assert not left, "fill this in:\n" + "\n".join(left)


def left_to_fill_in(folder):
    """Placeholders of ``kerascheck new-rule``: file, line and text."""
    return [
        f"  {path.name}:{number}: {line.strip()}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".md")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "FILL IN" in line or "fill_in" in line
    ]


@every_rule
def test_documentation_has_every_section(spec):
    written = sections(spec)
    assert [heading for heading in written if heading in HEADINGS] == HEADINGS
    assert all(written[heading] for heading in HEADINGS)


@every_rule
def test_page_says_why_a_finding_has_no_fix(spec, own):
    missing = [
        f"{path.name}:{each['line']}" for path in examples(spec, "slow") for each in own(spec, path) if not each["fix"]
    ]
    assert not missing or no_fix.reason(spec), f'"Fix safety" does not say why there is no fix, as in {missing}'


@every_rule
def test_rule_that_is_not_about_speed_names_its_subject(spec):
    assert spec.speed is type(spec.rule).speed
    if not spec.speed:
        said = sections(spec)["What it does"] + sections(spec)["Why it costs"]
        assert re.search(
            r"accuracy|correctness|quality|memory|raise|fails|error|learns|number wrong|no time|silences", said
        )
        measured = [row.get("cpu", {}).get("status") for row in read_table() if row["code"] == spec.code]
        assert "confirmed" not in measured


@every_rule
def test_slow_has_exactly_the_marked_findings(spec, own):
    for path in examples(spec, "slow"):
        check_marks(spec, path, own(spec, path))


def check_marks(spec, path, found):
    # Ignore findings of other rules.
    expected = [mark for mark in expectations(path.read_text(encoding="utf-8")) if mark[1] == spec.code]
    assert expected, f"{path.name} marks no finding"
    problems = differences(expected, [(finding["line"], finding["code"], severity_of(finding)) for finding in found])
    assert not problems, "\n" + describe(problems)


@every_rule
def test_info_of_a_warning_rule_gives_a_reason(spec, own):
    if spec.rule.severity is Severity.INFO:
        pytest.skip("its findings are all infos")
    # Rules must pass ``doubt`` instead of an info severity; pedantic findings are exempt.
    calls = [
        node
        for node in ast.walk(ast.parse((spec.folder / "rule.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    for call in calls:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert call.func.attr != "finding" or "INFO" not in given.get("severity", "") or "pedantic" in given, (
            f"line {call.lineno}: give the reason as doubt="
        )
    for path in examples(spec, "slow"):
        for finding in own(spec, path):
            assert finding["severity"] != "info" or finding["because"], f"line {finding['line']}"


SILENT = [
    pytest.param(
        spec,
        script,
        id=f"{spec.name}-{script.name}"
        if spec.kind is not RequirementsRule
        else f"{spec.name}-{script.parent.name}-{script.name}",
    )
    for spec in SPECS
    for script in [*examples(spec, "fast"), *examples(spec, "quiet")]
]


@pytest.mark.parametrize(("spec", "script"), SILENT)
def test_fast_and_quiet_have_no_findings(spec, script, own):
    noisy = [(finding["line"], finding["message"]) for finding in own(spec, script)]
    assert not noisy, "\n" + describe(noisy)


@pytest.mark.parametrize(
    "spec", [spec for spec in SPECS if spec.kind is not RequirementsRule], ids=lambda spec: spec.name
)
def test_both_parsers_give_the_same_findings(spec, own, copied):
    paths = [path for name in ("slow", "fast", "quiet") for path in examples(spec, name)]
    usual = [finding for path in paths for finding in own(spec, path)]
    with unknown_field_in_call():
        found = findings(spec, *(copied(spec, path) for path in paths))
    assert sorted(found, key=_place) == sorted(usual, key=_place)


def _place(finding):
    return finding["path"], finding["line"], finding["column"], finding["message"]


@every_rule
def test_fixing_slow_gives_fast_and_is_idempotent(spec, tmp_path):
    for slow, fast in zip(examples(spec, "slow"), examples(spec, "fast")):
        # A separate folder, since neighbouring files can matter.
        (tmp_path / slow.stem).mkdir()
        check_fix(spec, slow, fast, tmp_path / slow.stem)


def check_fix(spec, slow_path, fast_path, folder):
    slow, fast = (without_marks(path.read_bytes().decode()) for path in (slow_path, fast_path))
    script = folder / slow_path.name
    script.write_bytes(slow.encode())
    by_hand = sum(finding["fix"] is None for finding in findings(spec, script))
    fixed = fix(spec, script)
    if by_hand:
        # fast.py has handwritten changes then, so check only that the rest is unchanged.
        assert re.search(r"\bno (?:automatic )?fix\b", sections(spec)["Fix safety"], re.IGNORECASE), (
            "a rule with findings that it does not fix says in 'Fix safety' that there is no fix, and why"
        )
        assert len(findings(spec, script)) == by_hand
    else:
        assert fixed.splitlines() == fast.splitlines()
        assert fixed == fast
    assert fix(spec, script) == fixed


def fix(spec, script):
    kerascheck("--isolated", "--pedantic", "--select", selected(spec), "--fix", "--unsafe-fixes", script)
    return script.read_bytes().decode()


# --- running them ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow: pip install kerascheck[verify]")
@every_script
def test_slow_and_fast_run_with_equal_losses(spec, tmp_path):
    running = [Running(spec.folder / name, tmp_path) for name in ("slow.py", "fast.py")]
    slow, fast = (script.result() for script in running)
    assert fast.returncode == 0, fast.stderr
    fast_loss = last_loss(fast.stdout)
    raises = RAISES.match((spec.folder / "slow.py").read_text(encoding="utf-8"))
    if raises:
        assert slow.returncode != 0, "slow.py was meant to fail"
        assert raises[1] in slow.stderr, slow.stderr
        return
    assert slow.returncode == 0, slow.stderr
    slow_loss = last_loss(slow.stdout)
    tolerance = spec.rule.loss_tolerance
    if tolerance is not None:
        assert math.isclose(slow_loss, fast_loss, rel_tol=tolerance), (slow_loss, fast_loss)


def last_loss(output):
    lines = output.strip().splitlines()
    match = re.fullmatch(r"loss: (\S+)", lines[-1]) if lines else None
    assert match, f"the last line is not 'loss: <number>':\n{output}"
    loss = float(match[1])
    assert math.isfinite(loss)
    return loss
