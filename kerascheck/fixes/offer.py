"""Construction of fixes from edits and proofs, which decide whether a fix is safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kerascheck.finding import Applicability, Fix, Unproven
from kerascheck.fixes.proofs import Proof
from kerascheck.syntax.edits import CannotEdit, Edits
from kerascheck.syntax.tree import SyntaxProblem


def offer(message: str, build: Callable[[], Edits], proofs: Sequence[Proof]) -> Fix | None:
    """Return the fix with the edits of ``build``: safe if every obligation is proven, otherwise unsafe.

    Args:
        message: the effect of the fix, in the imperative.
        build: returns the edits, or raises :class:`CannotEdit` if the form of the code allows none.
        proofs: at least one; a fix without obligations has no reason to be safe.

    Returns:
        None if ``build`` raises CannotEdit, needs a statement that libcst cannot parse, or returns no edits.
    """
    if not proofs:
        raise ValueError(f"'{message}' names no obligation")
    try:
        edits = tuple(build())
    except (CannotEdit, SyntaxProblem):
        return None
    if not edits:
        return None
    unproven = tuple(Unproven(each.obligation.name, each.objection) for each in proofs if each.objection is not None)
    applicability = Applicability.UNSAFE if unproven else Applicability.SAFE
    obligations = tuple(dict.fromkeys(each.obligation.name for each in proofs))
    return Fix(applicability, message, edits, obligations=obligations, unproven=unproven)
