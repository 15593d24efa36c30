"""A fix is safe only with a proof of every obligation."""

import pytest

from kerascheck.finding import Applicability, Edit, Unproven
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_NUMBERS, SAME_ORDER, all_obligations
from kerascheck.syntax.edits import CannotEdit

EDIT = Edit(0, 0, "x")


def edits():
    return (EDIT,)


def refused():
    raise CannotEdit("no")


def test_a_fix_with_every_proof_is_safe():
    fix = offer("Do", edits, [SAME_NUMBERS.unless(None), SAME_ORDER.unless(None)])
    assert fix.applicability is Applicability.SAFE and fix.edits == (EDIT,)
    assert fix.obligations == ("same-numbers", "same-order") and fix.unproven == () and fix.objections == ""


def test_a_missing_proof_makes_a_fix_unsafe_with_a_reason():
    fix = offer("Do", edits, [SAME_NUMBERS.unless("it rounds"), SAME_ORDER.unless(None)])
    assert fix.applicability is Applicability.UNSAFE
    assert fix.unproven == (Unproven("same-numbers", "it rounds"),) and fix.objections == "it rounds"


def test_no_edits_give_no_fix():
    proven = [SAME_NUMBERS.unless(None)]
    assert offer("Do", refused, proven) is None
    assert offer("Do", tuple, proven) is None


def test_a_fix_requires_obligations():
    with pytest.raises(ValueError, match="names no obligation"):
        offer("Do", edits, [])


def test_the_names_of_obligations_are_their_keys():
    assert all(each.name == name and each.statement[-1] != "." for name, each in all_obligations().items())
    assert len({each.statement for each in all_obligations().values()}) == len(all_obligations())
