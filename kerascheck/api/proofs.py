"""Proofs that a fix needs to be safe; a rule names the properties that its own fix breaks.

Example:
    >>> proofs.SAME_NUMBERS.unless("XLA rounds in another order").obligation.statement
    'the training computes the same numbers, to the last bit'
"""

from __future__ import annotations

from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import (
    ONLY_COMMENTS,
    PLAIN_CALL,
    SAME_MEMORY,
    SAME_NUMBERS,
    SAME_ORDER,
    SAME_OUTPUT,
    Obligation,
    Proof,
)

__all__ = [
    "ONLY_COMMENTS",
    "PLAIN_CALL",
    "SAME_MEMORY",
    "SAME_NUMBERS",
    "SAME_ORDER",
    "SAME_OUTPUT",
    "Obligation",
    "Proof",
    "offer",
]
