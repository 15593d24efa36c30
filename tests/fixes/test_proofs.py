"""Properties of the proofs of all fixes that kerascheck offers in the examples and cases of the rules."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from programs import ATTACK, lint, programs_of_rules

from kerascheck.catalog.registry import rule_specs
from kerascheck.finding import Applicability
from kerascheck.fixes import proofs

LONGEST_REASON = 110
"""Maximum characters of a reason in a report."""
RULES = {spec.code: spec for spec in rule_specs()}
NEVER_UNPROVEN = {
    "runtime-does-it": "it is one of two proofs; where it fails, the report names the other, unchanged-sources",
    "only-comments": "the rule changes nothing else",
}
"""Obligations that no program can violate."""
TOO_LONG_YET = {"KC311"}
"""Rules whose reasons are still too long."""


@pytest.fixture(scope="module")
def fixes(tmp_path_factory):
    """(program, finding) for each finding with a fix."""
    programs = programs_of_rules()
    findings, _ = lint(programs, tmp_path_factory.mktemp("programs"))
    return [(program, each) for program, found in zip(programs, findings) for each in found if each.fix]


def _is_safe(finding):
    return finding.fix.applicability is Applicability.SAFE


def _describe(program, finding, what):
    return f"{program.name}, line {finding.location.line}: {finding.code}: {what}"


def _listed(missing):
    return "\n".join(
        f"  {code}: {name or 'an attack'}" for code, names in sorted(missing.items()) for name in sorted(names)
    )


@pytest.mark.slow
def test_there_are_safe_and_unsafe_fixes(fixes):
    safe = [finding for _, finding in fixes if _is_safe(finding)]
    assert len(safe) > 300
    assert len(fixes) - len(safe) > 500


@pytest.mark.slow
def test_safe_fixes_have_proofs_and_unsafe_ones_lack_some(fixes):
    wrong = []
    for program, finding in fixes:
        fix = finding.fix
        if not fix.obligations:
            wrong.append(_describe(program, finding, "it names no obligation"))
        if {each.obligation for each in fix.unproven} - {*fix.obligations}:
            wrong.append(_describe(program, finding, "it lacks a proof that it does not need"))
        if _is_safe(finding) and fix.unproven:
            wrong.append(_describe(program, finding, f"it is safe, although {fix.objections}"))
        # Fixes that are not about speed are applied on request only, however safe.
        if fix.applicability is Applicability.UNSAFE and not fix.unproven:
            wrong.append(_describe(program, finding, "it is unsafe for no reason"))
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.slow
def test_a_reason_is_a_short_clause(fixes):
    wrong = {
        _describe(program, finding, each.reason)
        for program, finding in fixes
        for each in finding.fix.unproven
        if not each.reason.strip()
        or each.reason != each.reason.strip()
        or each.reason.endswith(".")
        or "\n" in each.reason
    }
    assert not wrong, "\n" + "\n".join(sorted(wrong))
    long = {f.code for _, f in fixes for each in f.fix.unproven if len(each.reason) > LONGEST_REASON}
    assert long == TOO_LONG_YET


@pytest.mark.slow
def test_a_rule_names_the_obligations_of_its_fixes(fixes):
    known = proofs.all_obligations().keys()
    stated = {code: set(spec.proves) for code, spec in RULES.items()}
    unknown = {code: names - known for code, names in stated.items() if names - known}
    assert not unknown, "kerascheck/fixes/proofs.py has no such obligations"
    needed = defaultdict(set)
    for _, finding in fixes:
        needed[finding.code].update(finding.fix.obligations)
    missing = {code: names - stated[code] for code, names in needed.items() if names - stated[code]}
    assert not missing, f"`proves` of the rules lacks these:\n{_listed(missing)}"
    needless = {code: names - needed[code] for code, names in stated.items() if names - needed[code]}
    assert not needless, "no fix in the programs of the rules has to prove these"


@pytest.mark.slow
def test_attacked_programs_get_no_safe_fix(fixes):
    wrong = [
        _describe(program, finding, f"'{program.heading}' gets a safe fix")
        for program, finding in fixes
        if program.is_attack and program.rule == finding.code and _is_safe(finding)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.slow
def test_each_proof_of_a_rules_safe_fixes_has_an_attack(fixes):
    safe = {finding.code for _, finding in fixes if _is_safe(finding)}
    needed, unproven = defaultdict(set), defaultdict(set)
    for program, finding in fixes:
        needed[finding.code].update(finding.fix.obligations)
        if program.rule == finding.code:
            unproven[finding.code].update(each.obligation for each in finding.fix.unproven)
    attacked = {program.rule for program in programs_of_rules() if program.is_attack}
    missing = {}
    for code in sorted(safe):
        to_attack = needed[code] - NEVER_UNPROVEN.keys()
        names = to_attack - unproven[code]
        # A rule whose proofs cannot fail has nothing to attack.
        if code not in attacked and to_attack:
            names.add("")
        if names:
            missing[code] = names
    assert not missing, f"'## {ATTACK}...' in cases.md lacks these:\n{_listed(missing)}"


def test_fix_safety_page_lists_every_obligation():
    page = Path(__file__).resolve().parents[2] / "docs" / "fix-safety.md"
    text = page.read_text(encoding="utf-8")
    missing = [name for name in proofs.all_obligations() if f"`{name}`" not in text]
    assert not missing, f"{page.name} does not explain these"
