"""What the command asks of the machine."""

import pytest
from command import kerascheck
from doctor.machines import card, environment, for_cpus, machine

from kerascheck.cli.why import problems
from kerascheck.runtime.verify.messages import TrainingFacts

T4 = card("Tesla T4", (7, 5), 16)


def seen_by(healthy, python):
    """A look at a machine with a T4, whose interpreter is ``python``."""
    return lambda interpreter: machine(T4, python=python if interpreter else None, **healthy)


def test_a_gpu_that_the_cpu_build_cannot_use_is_named_with_what_to_install():
    (told,) = problems(TrainingFacts(), "python3", seen_by({}, for_cpus()))
    assert "T4" in told[0] or "CPU" in told[0]
    assert "pip install" in told[1]


def test_a_gpu_that_is_used_is_no_problem_and_the_interpreter_is_not_asked():
    asked = []

    def look(python):
        asked.append(python)
        return machine(T4, python=None)

    assert problems(TrainingFacts(gpus=("Tesla T4",)), "python3", look) == []
    assert asked == [None]


def test_a_gpu_that_the_script_hides_is_named():
    (told,) = problems(TrainingFacts(), "python3", seen_by({}, environment()))
    assert told[0] == "this machine has Tesla T4, which the script does not use"


def test_no_gpu_is_no_problem():
    assert problems(TrainingFacts(), "python3", lambda python: machine(python=None)) == []


@pytest.mark.parametrize("command", ["why", "verify"])
def test_an_option_of_the_script_is_told_where_it_goes(command):
    ran = kerascheck(command, "train.py", "--zz", "9")
    assert ran.code == 2 and ran.err == (
        f"kerascheck: error: --zz is no option of kerascheck {command}: put the script's own arguments after --, as in "
        f"'kerascheck {command} train.py -- --zz ...'\n"
    )
    assert "(did you mean --python?)" in kerascheck(command, "train.py", "--pyton", "x").err


def test_a_summary_is_text():
    ran = kerascheck("why", "train.py", "--summary", "--output-format", "json")
    assert ran.code == 2 and "--summary is text" in ran.err
