"""The checks against machines that are documented somewhere."""

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
    told = "\n".join(f"{result.seen}\n{result.todo}" for result in results)
    for words in case.said:
        assert words in told


def test_every_check_has_a_machine_that_it_speaks_about():
    spoken = {
        result.name for case in CASES.values() for result in diagnose(case.snapshot) if result.status is not Status.OK
    }
    assert spoken | _ALWAYS_OK >= {
        check.__name__.replace("_", "-") for check in CHECKS if "script" not in check.__module__
    }


def test_what_is_wrong_says_what_to_do_and_what_is_ok_does_not():
    for case in CASES.values():
        for result in diagnose(case.snapshot):
            assert bool(result.todo) is (result.status is not Status.OK), result


def test_the_most_urgent_comes_first():
    for case in CASES.values():
        order = [list(Status).index(result.status) for result in diagnose(case.snapshot)]
        assert order == sorted(order)


@pytest.mark.parametrize("name", CASES)
def test_a_saved_machine_is_diagnosed_alike(name):
    snapshot = CASES[name].snapshot
    assert diagnose(Snapshot.from_json(snapshot.to_json())) == diagnose(snapshot)


def test_the_documentation_names_every_check():
    page = (Path(__file__).parent.parent.parent / "docs" / "doctor.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.M)
    assert set(re.findall(r"`([a-z0-9-]+)`", " ".join(rows))) == {check.__name__.replace("_", "-") for check in CHECKS}
