"""The checks on documented machines."""

import re
from pathlib import Path

import pytest
from doctor.machines import CASES

from kerascheck.runtime.doctor import Snapshot, Status, diagnose
from kerascheck.runtime.doctor.checks import CHECKS

_ALWAYS_OK = {"half-precision"}


def names(results, status):
    return tuple(result.name for result in results if result.status is status)


@pytest.mark.parametrize("name", CASES)
def test_every_documented_problem_is_named_and_no_other(name):
    case = CASES[name]
    results = diagnose(case.snapshot)
    assert (names(results, Status.PROBLEM), names(results, Status.ADVICE)) == (case.problems, case.advice)
    text = "\n".join(f"{result.seen}\n{result.todo}" for result in results)
    for words in case.said:
        assert words in text


def test_every_check_has_a_machine_with_its_result():
    spoken = {
        result.name for case in CASES.values() for result in diagnose(case.snapshot) if result.status is not Status.OK
    }
    assert spoken | _ALWAYS_OK >= {
        check.__name__.replace("_", "-") for check in CHECKS if "script" not in check.__module__
    }


def test_only_problems_and_advice_say_what_to_do():
    for case in CASES.values():
        for result in diagnose(case.snapshot):
            assert bool(result.todo) is (result.status is not Status.OK), result


def test_the_most_urgent_comes_first():
    for case in CASES.values():
        order = [list(Status).index(result.status) for result in diagnose(case.snapshot)]
        assert order == sorted(order)


@pytest.mark.parametrize("name", CASES)
def test_a_saved_machine_has_the_same_diagnosis(name):
    snapshot = CASES[name].snapshot
    assert diagnose(Snapshot.from_json(snapshot.to_json())) == diagnose(snapshot)


def test_the_documentation_names_every_check():
    page = (Path(__file__).parent.parent.parent / "docs" / "doctor.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.M)
    assert set(re.findall(r"`([a-z0-9-]+)`", " ".join(rows))) == {check.__name__.replace("_", "-") for check in CHECKS}
