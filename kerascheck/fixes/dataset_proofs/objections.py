"""Objections to obligations, as clauses for people."""

from __future__ import annotations

from collections.abc import Iterable

Objection = str | None
"""An objection to an obligation, as a clause without a full stop; None if there is none."""


def first_objection(objections: Iterable[Objection]) -> Objection:
    return next((each for each in objections if each is not None), None)
