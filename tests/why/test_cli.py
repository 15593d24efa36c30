"""The checks of the machine that ``why`` runs, and its options."""

import pytest
from command import kerascheck
from doctor.machines import card, environment, for_cpus, machine

from kerascheck.cli.why import problems
from kerascheck.runtime.verify.messages import TrainingFacts

T4 = card("Tesla T4", (7, 5), 16)


def seen_by(healthy, python):
    """A snapshot of a machine with a T4, whose interpreter is ``python``."""
    return lambda interpreter: machine(T4, python=python if interpreter else None, **healthy)


def test_a_gpu_beside_a_cpu_build_is_reported_with_the_package_to_install():
    (found,) = problems(TrainingFacts(), "python3", seen_by({}, for_cpus()))
    assert "T4" in found[0] or "CPU" in found[0]
    assert "pip install" in found[1]


def test_a_used_gpu_is_no_problem_and_the_interpreter_is_not_examined():
    asked = []

    def look(python):
        asked.append(python)
        return machine(T4, python=None)

    assert problems(TrainingFacts(gpus=("Tesla T4",)), "python3", look) == []
    assert asked == [None]


def test_a_gpu_hidden_by_the_script_is_reported():
    (found,) = problems(TrainingFacts(), "python3", seen_by({}, environment()))
    assert found[0] == "this machine has Tesla T4, which the script does not use"


def test_no_gpu_is_no_problem():
    assert problems(TrainingFacts(), "python3", lambda python: machine(python=None)) == []


@pytest.mark.parametrize("command", ["why", "verify"])
def test_the_error_for_an_option_of_the_script_says_where_it_goes(command):
    ran = kerascheck(command, "train.py", "--zz", "9")
    assert ran.code == 2 and ran.err == (
        f"kerascheck: error: --zz is no option of kerascheck {command}: put the script's own arguments after --, as in "
        f"'kerascheck {command} train.py -- --zz ...'\n"
    )
    assert "(did you mean --python?)" in kerascheck(command, "train.py", "--pyton", "x").err


def test_a_summary_is_text():
    ran = kerascheck("why", "train.py", "--summary", "--output-format", "json")
    assert ran.code == 2 and "--summary is text" in ran.err
    ran = kerascheck("why", "train.py", "--summary", "--batch-sizes")
    assert ran.code == 2 and "--summary shows no batch sizes" in ran.err
